"""Random calls of single TOSA operators: `tare run` against the TOSA reference model.

Needs numpy and tosa-tools. Usage: tosa_ops.py TARE [COUNT] [SEED]; prints a line a difference and a sum, exit 1 when there are any.
Integers must be equal; floats within 1e-5 of max(1, |expected|).
"""
import os
import random
import subprocess
import sys
import tempfile

import numpy as np
import tosa_reference_model as model

TARE = sys.argv[1]
COUNT = int(sys.argv[2]) if len(sys.argv) > 2 else 300
rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
SPEC = "TOSA-1.0+INT+FP+int16+int4+fft"
NUMPY = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "f32": np.float32, "bool": np.bool_}


def shape(rank=None, most=5):
    return [rng.randint(1, most) for _ in range(rank or rng.randint(1, 4))]


def values(dtype, dims, low=None, high=None):
    r = np.random.default_rng(rng.randrange(1 << 30))
    if dtype == "f32":
        return r.uniform(-4 if low is None else low, 4 if high is None else high, dims).astype(np.float32)
    if dtype == "bool":
        return r.integers(0, 2, dims).astype(np.bool_)
    info = np.iinfo(NUMPY[dtype])
    low = info.min if low is None else low
    high = info.max if high is None else high
    a = r.integers(low, high, dims, endpoint=True, dtype=np.int64)
    if rng.random() < 0.3:  # more of the ends
        ends = r.integers(0, 3, dims)
        a = np.where(ends == 0, low, np.where(ends == 1, high, a))
    return a.astype(NUMPY[dtype])


def quant(*zero_points):
    """A column with these zero points; the last one is the result's."""
    items = [f"i8(scale=[1.0], zero=[{z}], min=-128, max=127)" if z is not None else "none" for z in zero_points]
    return " quant(" + ", ".join(items[:-1]) + (f" -> {items[-1]}" if zero_points[-1] is not None else "") + ")"


def broadcastable():
    a = shape()
    b = [1 if rng.random() < 0.3 else d for d in a]
    return (a, b) if rng.random() < 0.5 else (b, a)


def ints(v):
    return "[" + ",".join(str(int(x)) for x in v) + "]"


def binary(op, dtypes, low=None, high=None, extra=""):
    t = rng.choice(dtypes)
    a, b = broadcastable()
    bound = (low, high) if t != "f32" else (None, None)
    return f"tosa.{op}.default(%a, %b{extra})", [(t, values(t, a, *bound)), (t, values(t, b, *bound))], ""


def unary(op, dtypes, low=None, high=None, name="input1"):
    t = rng.choice(dtypes)
    return f"tosa.{op}.default(%a)", [(t, values(t, shape(), low, high))], ""


def shift(op):
    t = rng.choice(["i8", "i16", "i32"])
    a, b = broadcastable()
    extra = rng.choice(["", ", round=true"]) if op == "ARITHMETIC_RIGHT_SHIFT" else ""
    most = {"i8": 7, "i16": 15, "i32": 31}[t]
    return f"tosa.{op}.default(%a, %b{extra})", [(t, values(t, a)), (t, values(t, b, 0, most))], ""


def mul():
    t = rng.choice(["i8", "i16", "i32", "f32"])
    a, b = broadcastable()
    s = rng.choice([0, 1, 7, 30, 31]) if t == "i32" else 0
    return f"tosa.MUL.default(%a, %b, shift={s})", [(t, values(t, a, *((-2**20, 2**20) if 0 < s < 30 else (None, None)) if t == "i32" and s < 30 else (None, None))), (t, values(t, b, -1000, 1000) if t == "i32" and s < 30 else values(t, b))], ""


def rescale():
    source = rng.choice(["i8", "i16", "i32"])
    to = rng.choice(["i8", "i16", "i32"])
    dims = shape()
    channels = rng.random() < 0.4
    n = dims[-1] if channels else 1
    span = {"i8": 2**8, "i16": 2**16, "i32": 2**30}[source]
    scales = [rng.uniform(0.0001, 2**29 / span) if span < 2**30 else rng.choice([rng.uniform(1e-6, 0.4), 2.0**-rng.randint(2, 12)]) for _ in range(n)]
    in_zp = rng.randint(-128, 127) if source == "i8" else 0
    out_zp = rng.randint(-128, 127) if to == "i8" else 0
    a = values(source, dims, *((-2**28, 2**28) if source == "i32" else (None, None)))
    return f"tosa.RESCALE.default(%a, dtype={to}, scale=[{','.join(repr(s) for s in scales)}], in_zp={in_zp}, out_zp={out_zp})", [(source, a)], ""


def conv(kind):
    t = rng.choice(["i8", "f32"])  # the model's interface takes no int48 bias: whole networks test those
    w = "f32" if t == "f32" else "i8"
    acc = {"i8": "i32", "f32": "f32"}[t]
    n, ic, oc = rng.randint(1, 2), rng.randint(1, 5), rng.randint(1, 5)
    spatial = 3 if kind == "CONV3D" else 2
    size, kernel, stride, dilation, pad = [], [], [], [], []
    for _ in range(spatial):
        k, s, d = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 2)
        if kind == "TRANSPOSE_CONV2D":
            d = 1
            i = rng.randint(1, 5)
            pad += [rng.randint(1 - k, 2), rng.randint(1 - k, 2)]
        else:
            before, after, out = rng.randint(0, 2), rng.randint(0, 2), rng.randint(1, 4)
            i = (out - 1) * s + (k - 1) * d + 1 - before - after
            if i < 1:
                before, after, i = 0, 0, (out - 1) * s + (k - 1) * d + 1
            pad += [before, after]
        size.append(i), kernel.append(k), stride.append(s), dilation.append(d)
    if kind == "DEPTHWISE_CONV2D":
        m = rng.randint(1, 3)
        weight, oc = kernel + [ic, m], ic * m
    else:
        weight = [oc] + kernel + [ic]
    bias = values(acc, [oc], *((-1000, 1000) if acc != "f32" else (None, None)))
    x, wv = values(t, [n] + size + [ic]), values(w, weight)
    args = f"out_pad={ints(pad)}, stride={ints(stride)}" if kind == "TRANSPOSE_CONV2D" else f"stride={ints(stride)}, pad={ints(pad)}, {'dialation' if kind == 'DEPTHWISE_CONV2D' else 'dilation'}={ints(dilation)}"
    column = quant(rng.randint(-128, 127), rng.choice([0, rng.randint(-128, 127)]), None) if t == "i8" else ""
    return f"tosa.{kind}.default(%a, %b, %c, {args})", [(t, x), (w, wv), (acc, bias)], column


def matmul():
    t = rng.choice(["i8", "i16", "f32"])
    n, h, c, w = shape(4)
    extra = ", out_dtype=i48" if t == "i16" else ""
    column = quant(rng.randint(-128, 127), rng.randint(-128, 127), None) if t == "i8" else ""
    return f"tosa.MATMUL.default(%a, %b{extra})", [(t, values(t, [n, h, c])), (t, values(t, [n, c, w]))], column


def max_pool():
    t = rng.choice(["i8", "i16", "f32"])
    kernel, stride, pad, size = [], [], [], []
    for _ in range(2):
        k, s, out = rng.randint(1, 3), rng.randint(1, 3), rng.randint(1, 4)
        before, after = rng.randint(0, k - 1), rng.randint(0, k - 1)
        i = (out - 1) * s + k - before - after
        if i < 1:
            before, after, i = 0, 0, (out - 1) * s + k
        kernel.append(k), stride.append(s), size.append(i)
        pad += [before, after]
    return f"tosa.MAX_POOL2D.default(%a, kernel={ints(kernel)}, stride={ints(stride)}, pad={ints(pad)})", [(t, values(t, [rng.randint(1, 2)] + size + [rng.randint(1, 4)]))], ""


def reduce(op, dtypes, low=None, high=None):
    t = rng.choice(dtypes)
    dims = shape()
    return f"tosa.{op}.default(%a, axis={rng.randrange(len(dims))})", [(t, values(t, dims, *((low, high) if t != "f32" else (None, None))))], ""


def resize():
    t = rng.choice(["i8", "i16", "f32"])
    mode = rng.choice(["nearest", "bilinear"])
    scale, offset, border, size = [], [], [], []
    while len(size) < 2:
        i, n, d = rng.randint(1, 6), rng.randint(1, 8), rng.randint(1, 8)
        o, b = rng.randint(-n, 3 * n), rng.randint(-2 * n, n - 1)
        span = (i - 1) * n - o + b
        if span >= 0 and span % d == 0 and d < 16 * n:
            size.append(i), offset.append(o), border.append(b)
            scale += [n, d]
    extra = ", out_dtype=i48" if t == "i16" and mode == "bilinear" else ""
    return f'tosa.RESIZE.default(%a, scale_factors={ints(scale)}, offset={ints(offset)}, border={ints(border)}, resize_mode="{mode}"{extra})', [(t, values(t, [rng.randint(1, 2)] + size + [rng.randint(1, 3)]))], ""


def layout(op):
    t = rng.choice(["i8", "i16", "i32", "f32", "bool"])
    dims = shape()
    a = values(t, dims)
    if op == "TRANSPOSE":
        p = list(range(len(dims)))
        rng.shuffle(p)
        return f"tosa.TRANSPOSE.default(%a, perms={ints(p)})", [(t, a)], ""
    if op == "REVERSE":
        return f"tosa.REVERSE.default(%a, axis={rng.randrange(len(dims))})", [(t, a)], ""
    if op == "TILE":
        return f"tosa.TILE.default(%a, multiples={ints([rng.randint(1, 3) for _ in dims])})", [(t, a)], ""
    if op == "PAD":
        v = {"f32": "1.5", "bool": "true"}.get(t, str(rng.randint(-100, 100)))
        return f"tosa.PAD.default(%a, padding={ints([rng.randint(0, 2) for _ in range(2 * len(dims))])}, value={v})", [(t, a)], ""
    if op == "SLICE":
        start = [rng.randrange(d) for d in dims]
        return f"tosa.SLICE.default(%a, start={ints(start)}, size={ints([rng.randint(1, d - s) for d, s in zip(dims, start)])})", [(t, a)], ""
    axis = rng.randrange(len(dims))
    other = list(dims)
    other[axis] = rng.randint(1, 4)
    return f"tosa.CONCAT.default([%a, %b], axis={axis})", [(t, a), (t, values(t, other))], ""


def gather():
    t = rng.choice(["i8", "i16", "i32", "f32"])
    n, k, w, c = shape(4)
    return "tosa.GATHER.default(%a, %b)", [(t, values(t, [n, k, c])), ("i32", values("i32", [n, w], 0, k - 1))], ""


def scatter():
    t = rng.choice(["i8", "i16", "i32", "f32"])
    n, k, w, c = shape(4)
    w = min(w, k)
    index = np.stack([np.random.default_rng(rng.randrange(1 << 30)).permutation(k)[:w] for _ in range(n)]).astype(np.int32)
    return "tosa.SCATTER.default(%a, %b, %c)", [(t, values(t, [n, k, c])), ("i32", index), (t, values(t, [n, w, c]))], ""


def cast():
    pairs = [("bool", "i8"), ("bool", "i32"), ("i8", "bool"), ("i8", "i16"), ("i8", "i32"), ("i16", "i8"), ("i16", "i32"), ("i32", "i8"), ("i32", "i16"), ("i32", "bool"),
             ("i8", "f32"), ("i16", "f32"), ("i32", "f32"), ("f32", "i8"), ("f32", "i16"), ("f32", "i32")]
    a, b = rng.choice(pairs)
    return f"tosa.CAST.default(%a, dtype={b})", [(a, values(a, shape(), *((-200, 200) if a == "f32" else (None, None))))], ""


def clamp():
    t = rng.choice(["i8", "i16", "f32"])
    low, high = sorted(rng.sample(range(-100, 100), 2))
    f = (lambda v: f"{v / 30.0!r}") if t == "f32" else str
    return f"tosa.CLAMP.default(%a, min_val={f(low)}, max_val={f(high)})", [(t, values(t, shape()))], ""


def select():
    t = rng.choice(["i8", "i16", "i32", "f32", "bool"])
    a, b = broadcastable()
    return "tosa.SELECT.default(%a, %b, %c)", [("bool", values("bool", a)), (t, values(t, b)), (t, values(t, a))], ""


def negate():
    t = rng.choice(["i8", "i16", "i32", "f32"])
    column = quant(rng.randint(-128, 127), rng.randint(-128, 127)) if t == "i8" else ""
    return "tosa.NEGATE.default(%a)", [(t, values(t, shape(), *((-2**31 + 1, None) if t == "i32" else (None, None))))], column


def fft(op):
    n, h, w = rng.randint(1, 2), 2 ** rng.randint(0, 3), 2 ** rng.randint(0, 3)
    a = [("f32", values("f32", [n, h, w]))]
    if op == "RFFT2D":
        return "tosa.RFFT2D.default(%a)", a, ""
    return f"tosa.FFT2D.default(%a, %b, inverse={rng.choice(['true', 'false'])})", a + [("f32", values("f32", [n, h, w]))], ""


MAKERS = (
    [lambda o=o: binary(o, ["i32", "f32"], -2**30, 2**30) for o in ("ADD", "SUB", "MAXIMUM", "MINIMUM", "EQUAL", "GREATER", "GREATER_EQUAL")]
    + [lambda o=o: binary(o, ["i8", "i16", "i32"]) for o in ("BITWISE_AND", "BITWISE_OR", "BITWISE_XOR")]
    + [lambda o=o: binary(o, ["bool"]) for o in ("LOGICAL_AND", "LOGICAL_OR", "LOGICAL_XOR")]
    + [lambda: binary("INTDIV", ["i32"], 1, 2**31 - 1)]
    + [lambda o=o: shift(o) for o in ("ARITHMETIC_RIGHT_SHIFT", "LOGICAL_LEFT_SHIFT", "LOGICAL_RIGHT_SHIFT")]
    + [lambda o=o: unary(o, ["f32"]) for o in ("CEIL", "FLOOR", "EXP", "SIN", "COS", "ERF", "SIGMOID", "TANH", "RECIPROCAL")]
    + [lambda o=o: unary(o, ["f32"], 0.01, 8) for o in ("LOG", "RSQRT")]
    + [lambda: unary("ABS", ["i32", "f32"], -1000, 1000), lambda: unary("BITWISE_NOT", ["i8", "i16", "i32"]), lambda: unary("CLZ", ["i32"]), lambda: unary("LOGICAL_NOT", ["bool"])]
    + [lambda o=o: reduce(o, ["bool"]) for o in ("REDUCE_ALL", "REDUCE_ANY")]
    + [lambda o=o: reduce(o, ["i8", "i16", "i32", "f32"]) for o in ("REDUCE_MAX", "REDUCE_MIN")]
    + [lambda: reduce("REDUCE_SUM", ["i32", "f32"], -2**27, 2**27), lambda: reduce("REDUCE_PRODUCT", ["f32"]), lambda: reduce("ARGMAX", ["i8", "i16", "f32"])]
    + [lambda o=o: layout(o) for o in ("TRANSPOSE", "REVERSE", "TILE", "PAD", "SLICE", "CONCAT")]
    + [lambda o=o: conv(o) for o in ("CONV2D", "CONV3D", "DEPTHWISE_CONV2D", "TRANSPOSE_CONV2D") * 2]
    + [lambda o=o: fft(o) for o in ("FFT2D", "RFFT2D")]
    + [mul, rescale, rescale, rescale, matmul, max_pool, resize, resize, gather, scatter, cast, clamp, select, negate]
)


def tare(*args):
    return subprocess.run([TARE, *args], capture_output=True, text=True)


def one(folder, call, inputs, column):
    names = "abc"
    metas = [f"{t}[{','.join(str(d) for d in v.shape)}]" for t, v in inputs]
    asked = call
    for name, meta in zip(names, metas):
        asked = asked.replace(f"%{name}", meta)
    got = tare("infer", f"{asked} | spec={SPEC}")
    if got.returncode != 0:
        return f"infer: {(got.stdout + got.stderr).strip()[:200]}"
    result = got.stdout.strip().split(" -> ")[-1].split(" | ")[0]
    text = "graph main(" + ", ".join(f"%{n}: {m}" for n, m in zip(names, metas)) + ") {\n  %y = " + call + " : " + result + column + "\n"
    if result.startswith("("):
        parts = result[1:-1].split("], ")
        parts = [p if p.endswith("]") else p + "]" for p in parts]
        text += "".join(f"  %y{i} = getitem(%y, index={i}) : {p}\n" for i, p in enumerate(parts)) + "  return " + ", ".join(f"%y{i}" for i in range(len(parts))) + "\n}\n"
    elif result.startswith("i48"):  # no numpy type: looked at through a 16-bit scale
        text += f"  %z = tosa.RESCALE.default(%y, dtype=i32, scale=[0.0001], in_zp=0, out_zp=0) : i32{result[3:]}\n  return %z\n}}\n"
    else:
        text += "  return %y\n}\n"
    program, file = os.path.join(folder, "p.tare"), os.path.join(folder, "p.tosa")
    open(program, "w").write(text)
    args = []
    for i, (_, v) in enumerate(inputs):
        np.save(os.path.join(folder, f"in_{i}.npy"), v)
        args += ["--input", os.path.join(folder, f"in_{i}.npy")]
    made = tare("opt", program, "--passes", "dead-code", "-o", file)
    if made.returncode != 0:
        return f"write: {made.stderr.strip()[:300]}"
    try:
        want, status = model.run(open(file, "rb").read(), [v for _, v in inputs], verbosity="NONE")
    except ValueError as error:
        return f"reference model: {error}"
    for path in (program, file):
        ran = tare("run", path, *args, "--output", os.path.join(folder, "out_"))
        if ran.returncode != 0:
            return f"run: {ran.stderr.strip()[:300]} (reference model: {status})"
        for i, w in enumerate(want):
            g = np.load(os.path.join(folder, f"out_{i}.npy"))
            if g.shape != np.asarray(w).shape:
                return f"shape {g.shape}, reference model {np.asarray(w).shape}"
            if g.dtype.kind == "f":
                if not np.allclose(g, w, rtol=1e-5, atol=1e-5, equal_nan=True):
                    return f"differs by {np.abs(g - w).max()}"
            elif not np.array_equal(g.astype(np.int64), np.asarray(w).astype(np.int64)):
                return f"differs: {g.ravel()[:6]} and {np.asarray(w).ravel()[:6]}"
    return ""


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        for i in range(COUNT):
            call, inputs, column = MAKERS[i % len(MAKERS)]()
            fault = one(folder, call, inputs, column)
            if fault:
                wrong += 1
                print(f"{call}{column} on {[(t, v.shape) for t, v in inputs]}: {fault}", flush=True)
    print(f"calls {COUNT}, different {wrong}")
    sys.exit(1 if wrong else 0)


main()
