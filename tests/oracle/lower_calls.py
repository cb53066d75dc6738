#!/usr/bin/env python3
"""Small programs before and after lowering: `tare run` of each .pt2 and of its .tosa on random inputs.

    tests/oracle/lower_calls.py build/tare TARGET FOLDER [FOLDER ...]

Programs with symbolic extents, or with inputs that are no f16, f32, bool or integers of 8 to 64 bits, are passed over. Prints a line for
each program whose numbers change by more than 1e-4 (f16: 4e-3; one step for integers that stand for quantised values), the ops
that stay outside with how many programs have them, and a sum. Exit code 1 when numbers change. Needs numpy.
"""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

NUMPY = {"f32": np.float32, "f16": np.float16, "u8": np.uint8, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "bool": np.bool_}


def inputs_of(report, rng):
    made = []
    for text in report["inputs"]:
        match = re.fullmatch(r"%\S+: (f32|f16|u8|i8|i16|i32|i64|bool)\[([0-9,]*)\]", text)
        if match is None:
            return None
        dims = [int(d) for d in match[2].split(",") if d]
        kind = match[1]
        values = rng.standard_normal(dims) if kind in ("f32", "f16") else rng.integers(0, 2, dims)
        made.append(np.asarray(values).astype(NUMPY[kind]))
    return made


def run(tare, file, inputs, prefix):
    command = [tare, "run", file, "-o", prefix]
    for i, value in enumerate(inputs):
        np.save(f"{prefix}in_{i}.npy", value)
        command += ["--input", f"{prefix}in_{i}.npy"]
    return subprocess.run(command, capture_output=True, text=True)


def quantise(values, q):
    codes = np.rint(values * np.float32(1 / np.float32(q["scale"]))) + q["zero_point"]
    return np.clip(codes, q["quant_min"], q["quant_max"])


def difference(before, after, q):
    if "scale" in q:
        steps = np.abs(quantise(before, q) - after.astype(np.float64))
        return "" if steps.size == 0 or steps.max() <= 1 else f"{(steps > 1).sum()} codes by up to {steps.max():.0f}"
    if before.shape != after.shape:
        return f"{after.shape} for {before.shape}"
    with np.errstate(all="ignore"):
        a, b = after.astype(np.float64), before.astype(np.float64)
        allowed = 4e-3 if before.dtype == np.float16 else 1e-4
        bad = ~((np.abs(a - b) <= allowed * np.maximum(1, np.abs(b))) | (a == b) | (np.isnan(a) & np.isnan(b)))
    return f"{bad.sum()} of {bad.size} elements" if bad.any() else ""


def check(tare, target, file, scratch, outside):
    report = subprocess.run([tare, "inspect", "--json", file], capture_output=True, text=True)
    if report.returncode != 0:
        return "unread", ""
    inputs = inputs_of(json.loads(report.stdout), np.random.default_rng(1))
    if inputs is None or run(tare, file, inputs, scratch + "/a_").returncode != 0:
        return "not evaluated", ""
    lowered = scratch + "/lowered.tosa"
    made = subprocess.run([tare, "lower", file, "--target", target, "-o", lowered, "--json"], capture_output=True,
                          text=True)
    if made.returncode != 0:
        names = {(o["op"], o["check"]) for o in json.loads(made.stdout)["outside"]} if made.stdout else set()
        outside.update(names)
        return "outside", "" if made.returncode == 4 else made.stderr.strip()
    summary = json.loads(made.stdout)
    given = []
    for value, edge in zip(inputs, summary["inputs"]):
        value = quantise(value, edge) if "scale" in edge else value
        given.append(value.astype(NUMPY[edge["type"].split("[")[0]]))
    result = run(tare, lowered, given, scratch + "/b_")
    if result.returncode != 0:
        return "wrong", result.stderr.strip()
    for k, edge in enumerate(summary["outputs"]):
        paths = f"{scratch}/a_{k}.npy", f"{scratch}/b_{k}.npy"
        if not all(os.path.exists(path) for path in paths):
            continue
        found = difference(np.load(paths[0]), np.load(paths[1]), edge)
        if found:
            return "wrong", f"output {k}: {found}"
    return "equal", ""


def main():
    tare, target = sys.argv[1:3]
    count, outside = collections.Counter(), collections.Counter()
    for folder in sys.argv[3:]:
        for file in sorted(glob.glob(folder + "/**/*.pt2", recursive=True)):
            with tempfile.TemporaryDirectory() as scratch:
                verdict, why = check(tare, target, file, scratch, outside)
            count[verdict] += 1
            if why:
                print(f"{file}: {why}")
    for (op, check_id), n in outside.most_common():
        print(f"{n:5} {op} {check_id}")
    print(dict(count))
    sys.exit(count["wrong"] > 0)


if __name__ == "__main__":
    main()
