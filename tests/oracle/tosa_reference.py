#!/usr/bin/env python3
"""Lowers every network of a corpus and runs the file twice: in the TOSA reference model and in `tare run`.

    tosa_reference.py TARE NETS [--only PART,…] [--target T]      NETS: folder with NET/VARIANT.pt2

Integer files must give the same bits in both, float files the same within 1e-4 times the largest value of the output (sums
run in another order). A third figure compares the reference model's answer with what it answered for ExecuTorch's file
(NET/VARIANT.TARGET.out_k.npy), where that is recorded: elements that differ and by how much. Where nodes are left
outside, each region is a file, run on random numbers. Exit 1 on a difference between the two, or a file that the
reference model does not accept. Needs numpy and tosa-tools.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
from lowered import lowered, wanted

TARGETS = {"train": "tosa-1.0+fp", "int8": "tosa-1.0+int", "int8_core": "tosa-1.0+int", "core": "tosa-1.0+fp",
           "a16w8": "tosa-1.0+int+int16"}
TYPES = {"i8": np.int8, "u8": np.uint8, "i16": np.int16, "i32": np.int32, "f32": np.float32, "f16": np.float16,
         "bool": np.bool_}


def reference(path, inputs, folder):
    """The outputs, or what it said: in another process, since the model ends its own where it is not content."""
    np.savez(os.path.join(folder, "in.npz"), *inputs)
    command = [sys.executable, __file__, "--model", path, os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip()[-300:]
    with np.load(os.path.join(folder, "out.npz")) as outputs:
        return [outputs[f"arr_{i}"] for i in range(len(outputs.files))]


def run_model(path, inputs, outputs):
    import tosa_reference_model
    with np.load(inputs) as arrays, open(path, "rb") as file:
        given = [arrays[f"arr_{i}"] for i in range(len(arrays.files))]
        answer, status = tosa_reference_model.run(
            file.read(), given, verbosity="NONE", initialize_variable_tensor_from_numpy=True)
    if "TOSA_VALID" not in str(status):
        print(status)
        return 1
    np.savez(outputs, *answer)
    return 0


def ours(tare, path, inputs, folder):
    command = [tare, "run", path, "-o", os.path.join(folder, "ours_")]
    for i, array in enumerate(inputs):
        np.save(os.path.join(folder, f"given_{i}.npy"), array)
        command += ["--input", os.path.join(folder, f"given_{i}.npy")]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        return (done.stdout + done.stderr).strip()[-300:]
    count = len(glob.glob(os.path.join(folder, "ours_*.npy")))
    return [np.load(os.path.join(folder, f"ours_{i}.npy")) for i in range(count)]


def difference(a, b):
    """'' when they agree, else how they differ."""
    if isinstance(a, str) or isinstance(b, str):
        return f"{a if isinstance(a, str) else b}"
    if len(a) != len(b):
        return f"{len(a)} and {len(b)} outputs"
    for k, (x, y) in enumerate(zip(a, b)):
        if x.dtype != y.dtype or x.shape != y.shape:
            return f"output {k}: {x.dtype}{x.shape} and {y.dtype}{y.shape}"
        if x.dtype.kind == "f":
            scale = max(1.0, float(np.max(np.abs(y), initial=0, where=np.isfinite(y))))
            if not np.allclose(x, y, rtol=0, atol=1e-4 * scale, equal_nan=True):
                return f"output {k}: up to {np.nanmax(np.abs(x - y))} apart"
        elif x.tobytes() != y.tobytes():
            return f"output {k}: {np.count_nonzero(x != y)} of {x.size} elements, up to {np.max(np.abs(x.astype(int) - y))}"
    return ""


def recorded(prefix, kind):
    arrays = []
    while os.path.exists(f"{prefix}.{kind}_{len(arrays)}.npy"):
        arrays.append(np.load(f"{prefix}.{kind}_{len(arrays)}.npy"))
    return arrays


def inputs_for(tare, path, known):
    """The recorded ones if they fit, else random numbers."""
    done = subprocess.run([tare, "inspect", "--graph", path], capture_output=True, text=True)
    head = re.search(r"graph main\((.*)\) \{", done.stdout).group(1)
    wanted = [(t, [int(e) for e in s.split(",") if e]) for t, s, end in
              re.findall(r"%[^:]+: (\w+)\[([\d,]*)\]([^%]*)", head) if " = " not in end]
    if [(TYPES[t], tuple(s)) for t, s in wanted] == [(a.dtype.type, a.shape) for a in known]:
        return known, True
    random = np.random.default_rng(1)
    made = []
    for dtype, shape in wanted:
        if dtype in ("f32", "f16"):
            made.append(random.standard_normal(shape).astype(TYPES[dtype]))
        elif dtype == "bool":
            made.append(random.random(shape) < 0.5)
        else:
            made.append(random.integers(0, 16, shape).astype(TYPES[dtype]))
    return made, False


def judge(tare, program, target, folder):
    report, files, complaint = lowered(tare, program, target, folder)
    if report is None:
        return True, complaint
    outside = len(report["outside"])
    if not files:
        return True, f"{outside} outside; nothing written: {complaint}"
    stem = program.removesuffix(".pt2")
    prefix = f"{stem}.{target.replace('+', '_')}"
    notes, bad = [f"{outside} outside, {len(files)} regions"] if outside else [], False
    known = recorded(prefix, "in")
    if not known and target == "tosa-1.0+fp":
        known = [np.load(p) for p in sorted(glob.glob(os.path.join(os.path.dirname(stem), "in_*.npy")))]
        known = [a.astype(np.int32) if a.dtype == np.int64 else a for a in known]
    for path in files:
        for old in glob.glob(os.path.join(folder, "ours_*.npy")):
            os.remove(old)
        inputs, fits = inputs_for(tare, path, known)
        theirs = reference(path, inputs, folder)
        differs = difference(ours(tare, path, inputs, folder), theirs)
        bad = bad or bool(differs)
        notes.append(f"DIFFERS: {differs}" if differs else "equal")
        expected = recorded(prefix, "out")
        if fits and expected and not isinstance(theirs, str) and len(theirs) == len(expected):
            apart = [(np.count_nonzero(a != b), a.size, float(np.max(np.abs(a.astype(float) - b), initial=0)))
                     for a, b in zip(theirs, expected) if a.shape == b.shape]
            if len(apart) < len(expected):
                notes.append("other shapes than ExecuTorch's")
            elif any(n for n, _, _ in apart):
                notes.append("ExecuTorch's file: " + ", ".join(f"{n} of {size} differ, up to {d:.3g}" for n, size, d in apart))
            else:
                notes.append("as ExecuTorch's file")
        elif not fits:
            notes.append("random inputs")
    return bad, "; ".join(notes)


def main():
    if sys.argv[1:2] == ["--model"]:
        return run_model(*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare")
    parser.add_argument("nets")
    parser.add_argument("--only", default="")
    parser.add_argument("--target", default="")
    options = parser.parse_args()
    failures = 0
    for program in sorted(glob.glob(options.nets + "/*/*.pt2")):
        variant = os.path.basename(program).removesuffix(".pt2")
        target = options.target or TARGETS.get(variant)
        if target is None or not wanted(program, options.only):
            continue
        with tempfile.TemporaryDirectory() as folder:
            bad, text = judge(options.tare, program, target, folder)
        failures += bad
        print(f"{os.path.relpath(program, options.nets):32} {target:18} {text}", flush=True)
    print(f"failed: {failures}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
