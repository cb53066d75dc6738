"""Asks torch whether the programs that tare writes run as the ones it read.

    python tests/oracle/round_trip.py TARE NETS_DIR [--only NET,...]

For every NETS_DIR/<net>/<variant>.pt2: `tare opt` without passes and with every pass, torch.export.load of both, a run on the recorded
inputs `in_k.npy`, and the outputs against the recorded `<variant>.out_k.npy`. Without passes they must be equal to what the
original program gives here; with all passes within 1e-4 of the largest value (fuse-batch-norm folds weights).
Needs torch (2.13) and numpy; the product, its build and its tests do not.
"""
import argparse, glob, os, subprocess, sys, tempfile

import numpy as np
import torch
import torch.utils._pytree as pytree

PASSES = "remove-noops,compose-permutes,compose-views,decompose-linear,fuse-batch-norm,cancel-qdq,view-to-view-copy,dead-code"


def arrays(pattern):
    files = sorted(glob.glob(pattern), key=lambda name: int(name.rsplit("_", 1)[1][:-4]))
    return [torch.from_numpy(np.load(name)) for name in files]


def run(program, inputs):
    with torch.no_grad():
        return [value for value in pytree.tree_leaves(program.module(check_guards=False)(*inputs)) if isinstance(value, torch.Tensor)]


def difference(got, want):
    """Largest difference relative to the largest value; inf when the outputs do not pair up."""
    if len(got) != len(want) or any(a.shape != b.shape or a.dtype != b.dtype for a, b in zip(got, want)):
        return float("inf")
    worst = 0.0
    for a, b in zip(got, want):
        if a.numel() and not torch.equal(a, b):
            a, b = a.double(), b.double()
            worst = max(worst, ((a - b).abs().max() / b.abs().max().clamp_min(1e-30)).item())
    return worst


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tare")
    parser.add_argument("nets")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    torch.set_num_threads(1)
    import executorch.exir.dialects.edge._ops  # noqa: F401  registers quantized_decomposed and dim_order ops
    only = set(filter(None, options.only.split(",")))
    failed = count = 0
    for path in sorted(glob.glob(os.path.join(options.nets, "*", "*.pt2"))):
        folder, variant = os.path.dirname(path), os.path.basename(path)[:-4]
        net = os.path.basename(folder)
        if only and net not in only:
            continue
        inputs, recorded = arrays(f"{folder}/in_*.npy"), arrays(f"{folder}/{variant}.out_*.npy")
        if not inputs or not recorded:
            print(f"{net}/{variant}: nothing recorded")
            continue
        original = run(torch.export.load(path), inputs)
        with tempfile.TemporaryDirectory() as scratch:
            for label, flags, limit in (("plain", [], 0.0), ("all", ["--passes", PASSES], 1e-4)):
                written = f"{scratch}/{label}.pt2"
                subprocess.run([options.tare, "opt", path, *flags, "-o", written], check=True, stdout=subprocess.DEVNULL)
                got = run(torch.export.load(written), inputs)
                here, record = difference(got, original), difference(got, recorded)
                good = here <= limit
                failed += not good
                count += 1
                print(f"{net}/{variant} {label}: {here:.2g} from the original, {record:.2g} from the record{'' if good else '  FAILED'}", flush=True)
    print(f"programs written and run {count}, failed {failed}")
    return failed != 0


sys.exit(main())
