#!/usr/bin/env python3
"""Lowers every float network of the corpus and prints operators and transpositions beside those of ExecuTorch's file,
and how far the results are from the recorded ones.

    tests/oracle/tosa_float.py build/tare ../shared/corpus/nets [net ...]

Exit code 1 when a network has nodes left outside, more operators than ExecuTorch's, or results beyond 1e-3.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile

NOT_COUNTED = ("CONST", "CONST_SHAPE")


def counted(ops):
    return {kind: n for kind, n in ops.items() if kind not in NOT_COUNTED}


def executorch(folder):
    """Operators of ExecuTorch's files; where they are not kept, of the last graph its passes left."""
    ops = {}
    facts = os.path.join(folder, "train.tosa-1.0_fp.facts.json")
    if os.path.exists(facts):
        with open(facts) as file:
            for delegate in json.load(file).get("delegates", []):
                for region in delegate["regions"]:
                    for kind, n in region["ops"].items():
                        ops[kind] = ops.get(kind, 0) + n
    passes = os.path.join(folder, "train.tosa-1.0_fp.passes.tsv")
    if not ops and os.path.exists(passes):
        with open(passes) as file:
            last = [line.rstrip("\n").split("\t")[-1] for line in file]
        for entry in [line for line in last if line != "="][-1].split():
            if entry.startswith("tosa."):
                name, n = entry.split("=")
                ops[name.split(".")[1]] = int(n)
    return counted(ops)


def run(tare, folder, lowered):
    command = [tare, "run", lowered, "--tolerance", "1e-3"]
    for path in sorted(glob.glob(os.path.join(folder, "in_*.npy"))):
        command += ["--input", path]
    for path in sorted(glob.glob(os.path.join(folder, "train.out_*.npy"))):
        command += ["--compare", path]
    return subprocess.run(command, capture_output=True, text=True)


def main():
    tare, root = sys.argv[1:3]
    nets = sys.argv[3:] or sorted(os.path.basename(os.path.dirname(p)) for p in glob.glob(root + "/*/train.pt2"))
    bad = 0
    for net in nets:
        folder = os.path.join(root, net)
        theirs = executorch(folder)
        with tempfile.TemporaryDirectory() as scratch:
            lowered = os.path.join(scratch, "net.tosa")
            command = [tare, "lower", folder + "/train.pt2", "--target", "tosa-1.0+fp", "-o", lowered, "--json"]
            made = subprocess.run(command, capture_output=True, text=True)
            if not made.stdout:
                print(f"{net:20} {made.stderr.strip()}")
                bad += 1
                continue
            report = json.loads(made.stdout)
            ours = counted(report["ops"])
            fine = made.returncode == 0
            verdict = f"{len(report['outside'])} nodes outside"
            if fine:
                result = run(tare, folder, lowered)
                fine = result.returncode == 0
                verdict = (result.stdout + result.stderr).strip().splitlines()[-1]
            if theirs:
                fine = fine and sum(ours.values()) <= sum(theirs.values())
                fine = fine and ours.get("TRANSPOSE", 0) <= theirs.get("TRANSPOSE", 0)
        bad += not fine
        print(f"{net:20} ops {sum(ours.values()):5} / {sum(theirs.values()) or '-':5}  "
              f"TRANSPOSE {ours.get('TRANSPOSE', 0):3} / {theirs.get('TRANSPOSE', 0) if theirs else '-':3}  {verdict}")
    sys.exit(1 if bad else 0)


main()
