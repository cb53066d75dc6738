"""Runs the parts of partly lowered programs in torch and in tare, and compares with the whole.

    tosa_parts.py TARE TARGET FILE.pt2 …

For each program: `tare lower --partial`, then every part in order: a .tosa by `tare run`, a .pt2 by
torch.export.load. The outputs must be those of the exported program within 1e-3. Prints a line for each program.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401  the ops quantized_decomposed


def run_tosa(tare, path, values):
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for i, value in enumerate(values):
            files.append(os.path.join(folder, f"in_{i}.npy"))
            np.save(files[-1], value.detach().contiguous().numpy())
        inputs = ["--input", *files] if files else []
        subprocess.run([tare, "run", path, *inputs, "-o", os.path.join(folder, "out_")], check=True, stdout=subprocess.DEVNULL)
        count = len([name for name in os.listdir(folder) if name.startswith("out_")])
        return [torch.from_numpy(np.load(os.path.join(folder, f"out_{i}.npy"))) for i in range(count)]


def made(value):
    shape = [int(d) if isinstance(d, int) else d.node.hint for d in value.shape]
    if value.dtype.is_floating_point or value.dtype.is_complex:
        return torch.randn(shape, dtype=torch.float64 if value.dtype == torch.float64 else torch.float32).to(value.dtype)
    return torch.randint(0, 2, shape).to(value.dtype)


def compare(tare, target, path):
    program = torch.export.load(path)
    names = [spec.arg.name for spec in program.graph_signature.input_specs if spec.kind.name == "USER_INPUT"]
    if any(not torch.is_tensor(node.meta.get("val")) for node in program.graph.nodes if node.name in names):
        return "skipped: inputs that are no tensors"
    if any(spec.kind.name not in ("USER_OUTPUT", "LOSS_OUTPUT") for spec in program.graph_signature.output_specs):
        return "skipped: it changes an input or buffer"
    leaves = [made(node.meta["val"]) for node in program.graph.nodes if node.name in names]
    args, kwargs = torch.utils._pytree.tree_unflatten([leaf.clone() for leaf in leaves], program.call_spec.in_spec)
    want = torch.utils._pytree.tree_leaves(program.module()(*args, **kwargs))
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, "m.tosa")
        answer = subprocess.run([tare, "lower", path, "--target", target, "--partial", "-o", output, "--json"],
                                capture_output=True, text=True)
        if answer.returncode != 0:
            return (answer.stderr.strip().splitlines() or [f"exit {answer.returncode}"])[0]
        report = json.loads(answer.stdout)
        values = dict(zip(names, leaves))
        for value in report["inputs"]:
            if "scale" in value:
                codes = torch.round(values[value["name"]] / value["scale"]) + value["zero_point"]
                dtype = {"i8": torch.int8, "u8": torch.uint8, "i16": torch.int16, "i32": torch.int32}[value["type"].split("[")[0]]
                values[value["name"]] = codes.clamp(value["quant_min"], value["quant_max"]).to(dtype)
        parts = report.get("parts") or [{"file": output, "inputs": [i["name"] for i in report["inputs"]],
                                         "outputs": [o["name"] for o in report["outputs"]]}]
        for part in parts:
            given = [values[name] for name in part["inputs"]]
            if part["file"].endswith(".tosa"):
                results = run_tosa(tare, part["file"], given)
            else:
                results = torch.utils._pytree.tree_leaves(torch.export.load(part["file"]).module()(*given))
            values.update(zip(part["outputs"], results))
        got = [(values[o["name"]].double() - o["zero_point"]) * o["scale"] if "scale" in o else values[o["name"]]
               for o in report["outputs"]]
    worst = 0.0
    for a, b in zip(got, want):
        if torch.is_tensor(b) and b.numel():
            worst = max(worst, (a.double() - b.double()).abs().max().item() / max(1.0, b.double().abs().max().item()))
    return f"{len(parts)} parts, worst difference {worst:.2g}{'' if worst <= 1e-3 else '  DIFFERS'}"


def main():
    tare, target, files = sys.argv[1], sys.argv[2], sys.argv[3:]
    for path in files:
        try:
            print(path, compare(tare, target, path), sep=": ", flush=True)
        except Exception as error:  # one program must not end the sweep
            print(path, f"FAILS {type(error).__name__} {str(error).splitlines()[:1]}", sep=": ", flush=True)


if __name__ == "__main__":
    main()
