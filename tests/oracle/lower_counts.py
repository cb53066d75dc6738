#!/usr/bin/env python3
"""Operators of our lowering beside those of ExecuTorch, over the networks of a corpus.

    lower_counts.py TARE NETS [PART…]     NETS: folder with NET/VARIANT.TARGET.facts.json; PART: of these paths

Exit 1 when some network needs more operators, transpositions or rescales than ExecuTorch, or leaves more nodes outside.
ExecuTorch's nodes outside include the quantize and dequantize at the edge of an integer program, ours do not.
"""
import glob
import json
import os
import subprocess
import sys

KEPT = ("CONST", "CONST_SHAPE")  # how constants are written says nothing


def reference(facts):
    counts = {}
    for delegate in facts.get("delegates", []):
        for region in delegate.get("regions", []):
            for kind, count in region["ops"].items():
                counts[kind] = counts.get(kind, 0) + count
    return counts


def main():
    tare, nets, parts = sys.argv[1], sys.argv[2], sys.argv[3:]
    worse = 0
    for path in sorted(glob.glob(os.path.join(nets, "*", "*.facts.json"))):
        if parts and not any(part in path for part in parts):
            continue
        net = os.path.basename(os.path.dirname(path))
        variant, target = os.path.basename(path)[: -len(".facts.json")].split(".", 1)
        program = os.path.join(nets, net, variant + ".pt2")
        if not os.path.exists(program):
            continue
        with open(path) as file:
            facts = json.load(file)
        theirs = reference(facts)
        run = subprocess.run(
            [tare, "lower", program, "--target", target.replace("_", "+"), "--json"], capture_output=True, text=True
        )
        try:
            ours = json.loads(run.stdout)
        except ValueError:
            print(f"{net:20} {variant:6} {target:18} {run.stderr.strip()}")
            worse += 1
            continue
        total = sum(count for kind, count in theirs.items() if kind not in KEPT)
        pairs = [
            (ours["nodes"], total),
            (ours["transposes"], theirs.get("TRANSPOSE", 0)),
            (ours["rescales"], theirs.get("RESCALE", 0)),
        ]
        outside = len(ours["outside"]), len(facts.get("outside", []))
        bad = outside[0] > outside[1] or ("error" not in facts and any(a > b for a, b in pairs))
        worse += bad
        text = "  ".join(f"{name} {a}/{b}" for name, (a, b) in zip(("ops", "TRANSPOSE", "RESCALE"), pairs))
        note = "  worse" if bad else "  theirs raises" if "error" in facts else ""
        print(f"{net:20} {variant:6} {target:18} {text}  outside {outside[0]}/{outside[1]}{note}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
