"""One plain ExportPass replay beside tare's replays, on the same files, in one run.

    python replay.py --tare ../../build/tare FILE.pt2 ...

Needs torch and executorch; tare needs neither. ExportPass is what ExecuTorch's passes derive from: a plain one
changes nothing and re-derives all metadata. It is run on the graph as it is in the file, and tare on the same
graph, by turns. Times are CPU seconds; of several runs the best, for both (a busy machine only makes them slower).
"""
import argparse
import json
import logging
import subprocess
import time
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
import torch
from executorch.exir.pass_base import ExportPass

AIM_UNCHANGED, AIM_CHANGED = 100_000, 10_000


def export_pass_ns(path, runs):
    """Nodes of the main graph, and nanoseconds per node of the best warm replay."""
    graph_module = torch.export.load(path).graph_module
    ExportPass()(graph_module)  # fills the fake-tensor cache
    best = float("inf")
    for _ in range(runs):
        start = time.process_time()
        ExportPass()(graph_module)
        best = min(best, time.process_time() - start)
    nodes = len(graph_module.graph.nodes)
    return nodes, 1e9 * best / nodes


def tare_replay(tare, path):
    answer = subprocess.run([tare, "bench", path, "--json"], check=True, capture_output=True, text=True).stdout
    return json.loads(answer)["replay"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tare", default="build/tare")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    print(f"aims per node and pass: unchanged >= {AIM_UNCHANGED:,}x, 1 % changed >= {AIM_CHANGED:,}x")
    print("| program | nodes | ExportPass, us/node | unchanged, ns/node | ratio | 1 % changed, ns/node | ratio "
          "| every node looked at | ratio | session of its own | ratio |")
    print("|---|" + "---:|" * 10)
    missed = 0
    for path in arguments.files:
        name = "/".join(path.removesuffix(".pt2").split("/")[-2:])
        try:
            nodes, peer = export_pass_ns(path, arguments.runs)
        except Exception as error:  # what ExportPass cannot replay is no comparison
            print(f"| {name} | ExportPass: {type(error).__name__}: {str(error).splitlines()[0][:80]} |", flush=True)
            continue
        replay = tare_replay(arguments.tare, path)
        row = [name, nodes, f"{peer / 1e3:.0f}"]
        for kind in ("unchanged", "changed", "every_node", "alone"):
            ours = replay[f"{kind}_ns_per_node"]
            row += [f"{ours:.2f}", f"{peer / ours:,.0f}" if ours else "-"]
        unchanged, changed = replay["unchanged_ns_per_node"], replay["changed_ns_per_node"]
        missed += peer < AIM_UNCHANGED * unchanged or peer < AIM_CHANGED * changed
        print("| " + " | ".join(map(str, row)) + " |", flush=True)
    print(f"aims missed by {missed} of {len(arguments.files)} programs")


if __name__ == "__main__":
    main()
