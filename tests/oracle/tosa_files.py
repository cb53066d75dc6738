"""Reads the .tosa files of a corpus with tare, writes them again, and lets others judge what was written.

usage: python tosa_files.py TARE NETS_DIR [--vela ACCELERATOR,...] [--only SUBSTRING]
       python tosa_files.py TARE tests/data/tosa/operators.txt   programs of one operator each: the reference model runs them

Each file: `tare check` must find no difference; reading what was written must give the same text; the TOSA
reference model must return what it returned for the original file (recorded beside it as .out_k.npy) bit for
bit, NaN equal to NaN; Vela must compile integer files for each accelerator. Needs numpy, tosa-tools and
ethos-u-vela; nothing of tare's build or tests needs this script.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import tosa_reference_model


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def graph_text(tare, path):
    code, text = run(tare, "inspect", "--graph", path)
    return text.split("\n", 1)[1] if code == 0 else f"inspect failed: {text}"


def arrays(prefix, kind):
    found = []
    while os.path.exists(f"{prefix}.{kind}_{len(found)}.npy"):
        found.append(np.load(f"{prefix}.{kind}_{len(found)}.npy"))
    return found


def recorded(path):
    """Inputs and outputs of this file. A file of several has those of any delegate that takes such inputs."""
    base = path.removesuffix(".tosa")
    if arrays(base, "out"):
        return [(arrays(base, "in"), arrays(base, "out"))]
    stem = base.rpartition(".")[0]
    return [(arrays(f"{stem}.d{k}", "in"), arrays(f"{stem}.d{k}", "out")) for k in range(8)
            if arrays(f"{stem}.d{k}", "out")]


def reference(path, inputs):
    with open(path, "rb") as file:
        outputs, status = tosa_reference_model.run(
            file.read(), inputs, verbosity="NONE", initialize_variable_tensor_from_numpy=True)
    return outputs, str(status)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def compiles(path, accelerator, folder):
    code, text = run(os.path.join(os.path.dirname(sys.executable), "vela"), path,
                     "--accelerator-config", accelerator, "--output-dir", folder)
    return None if code == 0 else text.strip()[-300:]


def judge(tare, path, accelerators, folder):
    written = os.path.join(folder, "written.tosa")
    code, text = run(tare, "check", path)
    if code != 0:
        return f"check: {text}"
    code, text = run(tare, "opt", path, "--passes", "dead-code", "-o", written)
    if code != 0:
        return f"write: {text}"
    if graph_text(tare, path) != graph_text(tare, written):
        return "the written file reads differently"
    notes = []
    for inputs, outputs in recorded(path):
        try:
            theirs, _ = reference(path, inputs)
        except ValueError:
            continue  # another delegate's
        ours, status = reference(written, inputs)
        if len(ours) != len(theirs) or not all(same(a, b) for a, b in zip(ours, theirs)):
            return f"the reference model returns something else ({status})"
        recorded_too = len(ours) == len(outputs) and all(same(a, b) for a, b in zip(ours, outputs))
        notes.append("outputs equal" if recorded_too else "outputs as of the original, not as recorded")
    if "_fp" not in os.path.basename(path):
        for accelerator in accelerators:
            failure = compiles(written, accelerator, folder)
            theirs = compiles(path, accelerator, folder) if failure else None
            if failure and not theirs:
                return f"vela {accelerator}: {failure}"
            notes.append(f"{accelerator} {'refuses both' if failure else 'compiles'}")
    notes.append(f"{os.path.getsize(written)} bytes, was {os.path.getsize(path)}")
    return ", ".join(["ok"] + notes)


TYPES = {"i8": np.int8, "u8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32, "f16": np.float16, "bool": np.bool_}


def input_of(dtype, extents, seed):
    shape = [int(e) for e in extents.split(",") if e]
    random = np.random.default_rng(seed)
    if dtype == "i48":
        return None  # numpy has no such inputs
    if shape == [1]:
        return np.zeros(shape, TYPES[dtype])  # a zero point
    if dtype in ("f32", "f16"):
        return (random.random(shape) + 0.5).astype(TYPES[dtype])
    return (np.arange(np.prod(shape, dtype=int)) % 3 + 1).reshape(shape).astype(TYPES[dtype])


def run_operators(tare, path, only):
    """Each titled block that takes no constants is written and run on small numbers."""
    failures = 0
    with open(path) as file:
        blocks = re.findall(r"^# (.*)\n((?:(?!# ).*\n?)*)", file.read(), re.M)
    with tempfile.TemporaryDirectory() as folder:
        source, written = os.path.join(folder, "one.tare"), os.path.join(folder, "one.tosa")
        for title, text in blocks:
            if title == "expect" or only not in title or " = constant" in text or " = parameter" in text:
                continue
            with open(source, "w") as file:
                file.write(text)
            code, output = run(tare, "opt", source, "--passes", "dead-code", "-o", written)
            if code != 0:
                failures += 1
                print(f"{title}: {output}")
                continue
            head = re.search(r"graph main\((.*?)\) \{", text).group(1)
            inputs = [input_of(d, e, k) for k, (d, e) in enumerate(re.findall(r": (\w+)\[([\d,]*)\]", head))]
            if any(i is None for i in inputs):
                print(f"{title}: skipped, an input of 48 bits")
                continue
            # Another process: the model ends its own where it is not content.
            np.savez(os.path.join(folder, "in.npz"), *inputs)
            _, output = run(sys.executable, __file__, "--run", written, os.path.join(folder, "in.npz"))
            answer = next((line for line in output.splitlines() if line.startswith("status ")), output[-300:])
            good = "TOSA_VALID" in answer and "dtype" in answer
            failures += not good
            print(f"{title}: {answer}", flush=True)
    print(f"failed: {failures}")
    return failures != 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("nets")
    parser.add_argument("--vela", default="")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    accelerators = [a for a in options.vela.split(",") if a]
    if options.run:
        with np.load(options.nets) as inputs:
            outputs, status = reference(options.tare, [inputs[f"arr_{i}"] for i in range(len(inputs.files))])
        print(f"status {status}", [(o.dtype, o.shape) for o in outputs])
        return 0
    if os.path.isfile(options.nets):
        return run_operators(options.tare, options.nets, options.only)
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in sorted(glob.glob(os.path.join(options.nets, "*", "*.tosa"))):
            if options.only not in path:
                continue
            answer = judge(options.tare, path, accelerators, folder)
            failures += not answer.startswith("ok")
            print(f"{os.path.relpath(path, options.nets)}: {answer}", flush=True)
    print(f"failed: {failures}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
