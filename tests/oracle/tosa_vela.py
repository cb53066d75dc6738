#!/usr/bin/env python3
"""Compiles our lowering of every quantised network of a corpus with Vela, cycles and SRAM beside those of ExecuTorch's file.

    tosa_vela.py TARE NETS [--targets T,…] [--only PART,…]     NETS: folder with NET/VARIANT.pt2

Vela runs with its default configuration, as it did for NETS/EXECUTORCH.tsv. ExecuTorch's figures are those recorded
there; for a target that has none, its file for Ethos-U55 (or plain TOSA) is compiled here, and where ExecuTorch leaves
ops to the CPU but we do not, its file of the whole network for plain TOSA, if Vela takes it. Files in parts count the sum
of their cycles and the largest SRAM. Exit 1 when Vela refuses a file or needs more cycles or SRAM for ours. MACs are
Vela's and, in brackets, those that `tare lower` counts.
"""
import argparse
import csv
import glob
import os
import subprocess
import sys
import tempfile

from lowered import lowered, wanted

VELA = os.path.join(os.path.dirname(sys.executable), "vela")


def compiled(path, accelerator):
    """(cycles, SRAM in KiB, MACs) or the end of what Vela said."""
    with tempfile.TemporaryDirectory() as folder:
        command = [VELA, path, "--accelerator-config", accelerator, "--output-dir", folder]
        run = subprocess.run(command, capture_output=True, text=True)
        for name in glob.glob(folder + "/*summary*.csv"):
            with open(name) as file:
                row = next(csv.DictReader(file))
            return [float(row["cycles_total"]), float(row["sram_memory_used"]), int(float(row["nn_macs"]))]
        return (run.stdout + run.stderr).strip()[-300:]


def sums(answers):
    bad = [a for a in answers if isinstance(a, str)]
    if bad or not answers:
        return bad[0] if bad else "no file"
    return [sum(a[0] for a in answers), max(a[1] for a in answers), sum(a[2] for a in answers)]


def recorded(nets):
    rows = {}
    with open(os.path.join(nets, "EXECUTORCH.tsv")) as file:
        for row in csv.DictReader((line for line in file if not line.startswith("#")), delimiter="\t"):
            if row["vela_cycles"]:
                parts = zip(*(row[k].split() for k in ("vela_cycles", "vela_sram_kib", "vela_macs")))
                figures = sums([[float(c), float(s), int(m)] for c, s, m in parts])
                rows[row["net"], row["variant"], row["target"]] = figures, "aten." in row["outside"]
    return rows


def theirs(known, folder, variant, target, whole):
    """Figures for ExecuTorch's files, and whether they hold the whole network."""
    figures, partial = known.get((os.path.basename(folder), variant, target), (None, True))
    if figures and not (whole and partial):
        return figures, not partial
    kinds = ["tosa-1.0_int", "tosa-1.0_int_int16"]
    if "u85" not in target and not figures:
        kinds = ["ethos-u55-128"] + kinds
    for kind in kinds:
        files = glob.glob(f"{folder}/{variant}.{kind}.tosa") or glob.glob(f"{folder}/{variant}.{kind}.[0-9].tosa")
        found = sums([compiled(f, target) for f in sorted(files)]) if files else None
        if isinstance(found, list) or (found and not figures):
            return found, kind != "ethos-u55-128" or len(files) == 1
    return figures, not partial


def ours(tare, program, target, folder):
    report, files, complaint = lowered(tare, program, target, folder)
    if report is None:
        return complaint, 0, 0
    return sums([compiled(f, target) for f in files]), report["macs"], len(report["outside"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tare")
    parser.add_argument("nets")
    parser.add_argument("--targets", default="ethos-u55-128,ethos-u65-256,ethos-u85-256")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    known = recorded(options.nets)
    worse = 0
    for program in sorted(glob.glob(options.nets + "/*/int8.pt2") + glob.glob(options.nets + "/*/a16w8.pt2")):
        if not wanted(program, options.only):
            continue
        folder, name = os.path.split(program)
        variant = name.removesuffix(".pt2")
        for target in options.targets.split(","):
            with tempfile.TemporaryDirectory() as scratch:
                mine, macs, outside = ours(options.tare, program, target, scratch)
            other, other_whole = theirs(known, folder, variant, target, outside == 0)
            text = f"{os.path.basename(folder):20} {variant:6} {target:14} outside {outside} "
            if isinstance(mine, str):
                bad = not isinstance(other, str) and other is not None
                print(f"{text} {'REFUSED' if bad else 'refused as theirs is'}: {mine}  theirs {other}", flush=True)
                worse += bad
                continue
            if isinstance(other, list):
                bad = mine[0] > other[0] or mine[1] > max(other[1], 1) + 0.5  # theirs is recorded in whole KiB
                text += f"cycles {mine[0]:.0f}/{other[0]:.0f} ({mine[0] / other[0]:.3f})  SRAM {mine[1]:.1f}/{other[1]:.1f}  "
                text += f"MACs {mine[2]}/{other[2]}{'' if other_whole else ', theirs in parts'}"
            else:
                bad = False
                text += f"cycles {mine[0]:.0f}  SRAM {mine[1]:.1f}  MACs {mine[2]}  theirs: {other or 'none'}"
            worse += bad
            print(f"{text} [{macs}]{'  worse' if bad else ''}", flush=True)
    print(f"worse: {worse}")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
