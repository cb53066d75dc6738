"""Compares the constraints of targets/ethos_u.toml with what Vela compiles, operator by operator.

    vela_operators.py TARE [ACCELERATOR …]

Makes files of one TOSA operator, compiles each with ethos-u-vela, asks `tare lower --target` the same, and prints
where the answers differ. What Vela does not answer in 25 seconds counts for nothing.
"""

import itertools
import os
import signal
import subprocess
import sys
import tempfile

from ethosu.vela import vela


def text(shape):
    return ",".join(map(str, shape))


def program(inputs, call, result):
    values = ", ".join(f"%{name}: {dtype}" for name, dtype in inputs.items())
    return f"graph main({values}) {{\n  %y = {call} : {result}\n  return %y\n}}\n"


def transposes():
    shapes = [((1, 8, 8, 70000), (0, 3, 1, 2)), ((70000, 8), (1, 0)), ((300, 300, 16), (2, 0, 1)), ((1, 2, 8, 16384), (0, 2, 1, 3)),
              ((1, 2, 8, 16385), (0, 2, 1, 3)), ((2, 8, 20000), (1, 0, 2)), ((2, 8, 3, 20000), (0, 2, 1, 3)), ((2, 8, 3, 5000), (0, 2, 1, 3)),
              ((2, 3, 4, 5, 6, 7), (5, 4, 3, 2, 1, 0)), ((2, 3, 65536), (1, 0, 2)), ((2, 3, 300, 300), (1, 0, 2, 3)), ((2, 4, 300, 300), (0, 2, 3, 1))]
    for dtype, (shape, perms) in itertools.product(("i8", "i16", "i32"), shapes):
        result = [shape[p] for p in perms]
        yield program({"a": f"{dtype}[{text(shape)}]"}, f"tosa.TRANSPOSE.default(%a, perms=[{text(perms)}])", f"{dtype}[{text(result)}]")


def reductions():
    shapes = [((1, 8, 8, 16), 1), ((1, 70000, 1, 4), 1), ((4, 70000), 1), ((70000, 4), 0), ((8, 300, 300), 0), ((300, 300, 4), 0)]
    for (name, dtype), (shape, axis) in itertools.product((("SUM", "i32"), ("MAX", "i8"), ("MAX", "i32"), ("MIN", "i16")), shapes):
        result = [1 if i == axis else d for i, d in enumerate(shape)]
        yield program({"a": f"{dtype}[{text(shape)}]"}, f"tosa.REDUCE_{name}.default(%a, axis={axis})", f"{dtype}[{text(result)}]")
    for dtype, (shape, axis) in itertools.product(("i8", "i16"), (((1, 8, 8, 16), 3), ((1, 8, 8, 16), 1), ((1, 8, 8, 128), 3), ((2, 3, 4, 6), 3), ((2, 3, 6), 2))):
        result = [d for i, d in enumerate(shape) if i != axis]
        yield program({"a": f"{dtype}[{text(shape)}]"}, f"tosa.ARGMAX.default(%a, axis={axis})", f"i32[{text(result)}]")


def movement():
    for dtype, (shape, axis) in itertools.product(("i8", "i32"), (((1, 8, 8, 16), 0), ((1, 8, 8, 16), 2), ((1, 8, 8, 16), 3), ((8,), 0))):
        yield program({"a": f"{dtype}[{text(shape)}]"}, f"tosa.REVERSE.default(%a, axis={axis})", f"{dtype}[{text(shape)}]")
    yield program({"a": "i8[1,8,16]", "b": "i32[1,4]"}, "tosa.GATHER.default(%a, %b)", "i8[1,4,16]")
    for source, target in itertools.permutations(("bool", "i8", "i16", "i32"), 2):
        yield program({"a": f"{source}[1,4,4,8]"}, f"tosa.CAST.default(%a, dtype={target})", f"{target}[1,4,4,8]")


def windows():
    for size, kernel, stride, pad in ((18, 4, 4, 1), (19, 9, 1, 4), (33, 5, 4, 0), (300, 257, 1, 0)):
        side = (size + 2 * pad - kernel) // stride + 1
        yield program({"a": f"i8[1,{size},{size},4]"},
                      f"tosa.MAX_POOL2D.default(%a, kernel=[{kernel},{kernel}], stride=[{stride},{stride}], pad=[{text([pad] * 4)}])",
                      f"i8[1,{side},{side},4]")
    for factor, (d, corners) in itertools.product((2, 3, 4, 8, 16), ((2, False), (1, True))):
        offset, border = (0, 0) if corners else (1 - factor, factor - 1)
        side = (7 * factor * d - offset + border) // d + 1
        for mode, result in (("nearest", "i8"), ("bilinear", "i32")):
            yield program({"a": "i8[1,8,8,4]"},
                          f"tosa.RESIZE.default(%a, scale_factors=[{text([factor * d, d] * 2)}], offset=[{text([offset] * 2)}], "
                          f"border=[{text([border] * 2)}], resize_mode=\"{mode}\")", f"{result}[1,{side},{side},4]")
    for dtype, result, (b, h, k, w) in itertools.product(("i8", "i16"), ("",), ((1, 4, 8, 4), (1, 70000, 8, 4), (1, 4, 70000, 4), (1, 4, 8, 70000))):
        result = "i32" if dtype == "i8" else "i48"
        yield program({"a": f"{dtype}[{b},{h},{k}]", "b": f"{dtype}[{b},{k},{w}]"}, "tosa.MATMUL.default(%a, %b)", f"{result}[{b},{h},{w}]")


def elementwise():
    for name in ("ADD", "MUL", "INTDIV", "BITWISE_AND", "LOGICAL_RIGHT_SHIFT", "ARITHMETIC_RIGHT_SHIFT", "EQUAL", "GREATER"):
        result = "bool" if name in ("EQUAL", "GREATER") else "i32"
        for shape in ((2, 3, 4, 5, 6), (1, 70000)):
            yield program({"a": f"i32[{text(shape)}]", "b": f"i32[{text(shape)}]"}, f"tosa.{name}.default(%a, %b)", f"{result}[{text(shape)}]")


def compiles(path, accelerator, folder):
    """True, False, or None when it takes too long."""
    child = os.fork()
    if child == 0:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        signal.alarm(25)
        try:
            failed = vela.main([path, "--accelerator-config", accelerator, "--output-format", "raw", "--output-dir", folder])
        except BaseException:
            failed = True
        os._exit(1 if failed else 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return None if code == -signal.SIGALRM else code == 0


def main():
    tare, accelerators = sys.argv[1], sys.argv[2:] or ["ethos-u55-128", "ethos-u85-256"]
    programs = [p for group in (transposes, reductions, movement, windows, elementwise) for p in group()]
    with tempfile.TemporaryDirectory() as folder:
        source, tosa = os.path.join(folder, "m.tare"), os.path.join(folder, "m.tosa")
        for accelerator in accelerators:
            equal = asked = 0
            for one in programs:
                with open(source, "w") as file:
                    file.write(one)
                if subprocess.run([tare, "lower", source, "--target", "tosa-1.0+int+int16+int4+cf", "-o", tosa], capture_output=True).returncode:
                    continue
                theirs = compiles(tosa, accelerator, folder)
                if theirs is None:
                    continue
                ours = subprocess.run([tare, "lower", source, "--target", accelerator], capture_output=True, text=True)
                asked += 1
                equal += theirs == (ours.returncode == 0)
                if theirs != (ours.returncode == 0):
                    print(accelerator, "compiles" if theirs else "does not compile", one, ours.stderr.strip())
            print(f"{accelerator}: {equal} of {asked} answers are the same")


if __name__ == "__main__":
    main()
