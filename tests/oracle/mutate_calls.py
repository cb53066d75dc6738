"""Asks torch about mutated golden calls: other extents, ranks, dtypes, strides, offsets, arguments.

    mutate_calls.py FILE... --out OUT [--seed 1] [--per-op 40] [--ops REGEX] [--symbolic]
    tare infer --file OUT

FILE are golden lines. OUT gets the mutated calls with what fake tensors and the real operations answer, in the same notation;
`tare infer` shows where the rules differ. Needs torch and, in TARE_SHARED/oracle, notation.py and run_aten.py. Calls are asked in
a child process for each op: some kill theirs. Judge a difference before following it: an error may come from values or from a
kernel that is missing.
"""
import argparse, gc, importlib, os, random, re, resource, signal, sys, time

sys.path.insert(0, os.path.join(os.environ.get("TARE_SHARED", "../shared"), "oracle"))
import torch  # noqa: E402
import notation as N, run_aten as R  # noqa: E402

torch.set_num_threads(1)
DT = ["f32","f32","f32","f16","bf16","f64","i8","i16","i32","i64","u8","bool","c64","c128"]

def metas(line):
    out = []
    for k, (n, v) in enumerate(line.args):
        if isinstance(v, N.Meta): out.append(v)
        elif isinstance(v, list): out += [x for x in v if isinstance(x, N.Meta)]
    return out

def contiguous(shape):
    st, n = [], 1
    for s in reversed(shape):
        st.insert(0, n); n *= max(s, 1)
    return st

def relayout(m, rng):
    r = len(m.shape)
    k = rng.random()
    if r >= 2 and k < .4:      # permuted dense
        p = list(range(r)); rng.shuffle(p)
        st = [0]*r; n = 1
        for i in reversed(p):
            st[i] = n; n *= max(m.shape[i], 1)
        m.stride = st
    elif r in (4, 5) and k < .65:
        p = [0] + list(range(2, r)) + [1]
        st = [0]*r; n = 1
        for i in reversed(p):
            st[i] = n; n *= max(m.shape[i], 1)
        m.stride = st
    elif k < .75 and r:    # expanded
        st = contiguous(m.shape); i = rng.randrange(r)
        n = 1
        for j in reversed(range(r)):
            if j == i: st[j] = 0
            else:
                st[j] = n; n *= max(m.shape[j], 1)
        m.stride = st
    elif k < .9 and r:  # a slice with step or part of a larger tensor
        big = [s * rng.choice([1, 1, 2]) + rng.choice([0, 0, 1]) for s in m.shape]
        st = contiguous(big)
        if rng.random() < .5:
            i = rng.randrange(r)
            st = contiguous([s * 2 if j == i else s for j, s in enumerate(m.shape)]); st[i] *= 2
        m.stride = st
    else:
        m.stride = None
    if rng.random() < .25: m.offset = rng.choice([1, 2, 5])
    else: m.offset = 0

def fix(m):
    if any(s == 0 for s in m.shape): m.stride = None; m.offset = 0
    if m.stride is not None and m.stride == contiguous(m.shape): m.stride = None

def clear(m):
    m.stride = None; m.offset = 0

def mutate_tensors(line, rng):
    ms = metas(line)
    if not ms: return False
    k = rng.random()
    if k < .22:       # one extent everywhere
        vals = sorted({d for m in ms for d in m.shape})
        if not vals: return False
        v = rng.choice(vals); w = rng.choice([0, 1, 1, 2, 3, 4, 5, 6, 8, v + 1])
        for m in ms:
            if v in m.shape:
                m.shape = [w if d == v else d for d in m.shape]; clear(m)
        for i, (n, a) in enumerate(line.args):
            if isinstance(a, list) and a and all(type(x) is int for x in a) and rng.random() < .5:
                line.args[i] = (n, [w if d == v else d for d in a])
    elif k < .35:     # one extent of one tensor
        m = rng.choice(ms)
        if not m.shape: return False
        i = rng.randrange(len(m.shape)); m.shape[i] = rng.choice([0, 1, 1, 2, 3, 4, 5, 7]); clear(m)
    elif k < .45:     # rank of one
        m = rng.choice(ms)
        if rng.random() < .5 and m.shape: del m.shape[rng.randrange(len(m.shape))]
        elif len(m.shape) < 6: m.shape.insert(rng.randrange(len(m.shape) + 1), rng.choice([1, 1, 2, 3, 0]))
        clear(m)
    elif k < .52:     # rank of all
        p = rng.choice([1, 2])
        for m in ms:
            if m.shape or rng.random() < .5: m.shape.insert(0, p)
            clear(m)
    elif k < .65:     # dtype of all
        d = rng.choice(DT); o = ms[0].dtype
        for m in ms:
            if m.dtype == o: m.dtype = d
    elif k < .75:
        rng.choice(ms).dtype = rng.choice(DT)
    elif k < .8:
        a = rng.choice(ms); b = rng.choice(ms)
        a.shape = list(b.shape); clear(a)
    else:
        for m in ms:
            if rng.random() < .7: relayout(m, rng)
    for m in ms: fix(m)
    return True

def scalar(rng, v):
    if isinstance(v, bool): return not v
    if isinstance(v, int): return rng.choice([0, 1, -1, 2, -2, 3, 4, 5, -3, v + 1, v - 1, 2**31])
    if isinstance(v, float): return rng.choice([0.0, 1.0, -1.5, 2.5, float("inf"), float("nan"), 1e-5])
    if isinstance(v, N.Name): return N.Name(rng.choice(DT)) if v.name in N.DTYPES else N.Name(rng.choice(list(N.FORMATS)))
    return v

DEFAULTS = {"int": [0, 1, -1, 2, 3], "SymInt": [0, 1, -1, 2, 3], "bool": [True, False], "float": [0.0, 0.5, 1.0, 2.0], "Scalar": [0, 1, 2, 2.5, True, -1],
            "ScalarType": DT, "MemoryFormat": list(N.FORMATS), "number": [0, 1, 2, 2.5, True, -1]}
def of_type(t, rng):
    t = t.replace("Optional[", "").rstrip("]") if t.startswith("Optional[") else t
    if t.startswith("List["):
        e = t[5:-1] if t.endswith("]") else t[5:]
        n = rng.choice([0, 1, 1, 2, 2, 3])
        r = [of_type(e, rng) for _ in range(n)]
        return None if any(x is None for x in r) else r
    if t in ("ScalarType", "MemoryFormat"): return N.Name(rng.choice(DEFAULTS[t]))
    return rng.choice(DEFAULTS[t]) if t in DEFAULTS else None

def mutate_args(line, rng):
    idx = [i for i, (n, v) in enumerate(line.args) if n is not None]
    k = rng.random()
    if k < .35 or not idx:   # an argument that is not written
        try: op = N.resolve(line.op)
        except Exception: return False
        have = {n for n, _ in line.args}
        free = [a for a in op._schema.arguments if not N.is_hidden(a) and not N.is_tensor_arg(a) and a.name not in have]
        if not free: return False
        a = rng.choice(free)
        v = of_type(N.real_type(a), rng)
        if v is None: return False
        order = [x.name for x in op._schema.arguments]
        # place: schema order; positional tensors keep theirs
        tens = [x.name for x in op._schema.arguments if N.is_tensor_arg(x)]
        names, t = [], 0
        for n, _ in line.args:
            if n is None:
                names.append(tens[t] if t < len(tens) else None); t += 1
            else: names.append(n)
        at = len(names)
        for i, n in enumerate(names):
            if n in order and order.index(n) > order.index(a.name): at = i; break
        line.args.insert(at, (a.name, v))
        return True
    i = rng.choice(idx); n, v = line.args[i]
    if k < .45:
        del line.args[i]; return True
    if isinstance(v, list):
        v = list(v)
        c = rng.random()
        if c < .2 and v: del v[rng.randrange(len(v))]
        elif c < .35: v.insert(rng.randrange(len(v) + 1), rng.choice(v) if v else 1)
        elif c < .5: rng.shuffle(v)
        elif v:
            j = rng.randrange(len(v)); v[j] = scalar(rng, v[j])
        line.args[i] = (n, v)
    elif k > .93 and not isinstance(v, bool): line.args[i] = (n, N.NONE)
    else: line.args[i] = (n, scalar(rng, v))
    return True


WARM_UP = ["aten.add.Tensor(f32[2,3], f32[3])", "aten.nonzero.default(f32[3])", "aten.var_mean.correction(f32[2,3])"]


def warm_up():
    """Imports what the first calls import, before there is a time limit."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(R.Timeout()))
    for call in WARM_UP:
        N.run_fake(N.parse_line(call + " -> f32[]"))
    N.run_fake(N.parse_line("aten.add.Tensor(f32[s0], f32[s0]) -> f32[]"), {"s0": 3})


def mutated(lines, rng, count, few):
    """At most `count` distinct calls made of `lines`."""
    calls = {}
    for _ in range(6 * count):
        if len(calls) == count:
            break
        try:
            line = N.parse_line(rng.choice(lines))
            for _ in range(rng.choice([0, 0, 1] if few else [1, 1, 2, 2, 3])):
                (mutate_tensors if rng.random() < .65 else mutate_args)(line, rng)
            calls[line.call()] = True
        except (ValueError, IndexError, TypeError):  # the latter for lines with symbols
            continue
    return list(calls)


def answer_static(call, rng):
    kind, line, _ = R.answer(call)
    return line if kind in ("ok", "err", "eager") else None


def answer_symbolic(call, rng):
    variant = R.symbolic(N.parse_line(call + " -> f32[]"), rng)
    if variant is None:
        return None
    result, _ = R.timed(N.run_fake, N.parse_line(variant[0] + " -> f32[]"), variant[1], seconds=10)
    specialised = result and re.search(r"(^|[|,] )s\d+ == \d+\s*(,|$)", result)
    return f"{variant[0]} -> {result}" if result and not specialised else None


def ask(calls, answer, rng, out):
    """Asks in child processes; a call that ends its own is passed over."""
    at = 0
    while at < len(calls):
        progress = os.open(out + ".at", os.O_RDWR | os.O_CREAT)
        child = os.fork()
        if child == 0:
            resource.setrlimit(resource.RLIMIT_CPU, (120, 120))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(out, "a") as lines:
                for i in range(at, len(calls)):
                    os.pwrite(progress, b"%8d" % i, 0)
                    try:
                        line = answer(calls[i], rng)
                    except Exception:
                        line = None
                    if line:
                        lines.write(line + "\n")
                        lines.flush()
            os._exit(0)
        deadline = time.time() + 240
        while True:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended or time.time() > deadline:
                break
            time.sleep(.01)
        if not ended:
            os.kill(child, signal.SIGKILL)
            _, status = os.waitpid(child, 0)
        at = len(calls) if status == 0 else int(os.pread(progress, 8, 0) or b"%d" % at) + 1
        os.close(progress)
    os.remove(out + ".at")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--per-op", type=int, default=40)
    parser.add_argument("--ops", default="")
    parser.add_argument("--symbolic", action="store_true")
    parser.add_argument("--load", nargs="*", default=[], help="modules that register a dialect's ops")
    args = parser.parse_args()
    for module in args.load:
        importlib.import_module(module)
    by_op = {}
    for name in args.files:
        for line in open(name):
            if "(" in line and not line.startswith("#") and not (args.symbolic and "-> error" in line):
                by_op.setdefault(line.split("(")[0], []).append(line.rstrip("\n"))
    open(args.out, "w").close()
    warm_up()
    gc.freeze()
    for op in sorted(by_op):
        if not re.search(args.ops, op):
            continue
        rng = random.Random(args.seed + op)
        calls = mutated(by_op[op], rng, args.per_op, args.symbolic)
        if calls:
            ask(calls, answer_symbolic if args.symbolic else answer_static, rng, args.out)


if __name__ == "__main__":
    main()
