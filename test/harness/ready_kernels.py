"""Programs scheduled by `schedules.auto` for a GPU, run on the PTX machine, and compared with the program itself."""

import re
import warnings

import numpy as np

from tir_mlir import Schedule, interpret, schedules


def arrays(program, rng):
    """Arguments of a program: small numbers, of which sums are exact; indices below the first size of all."""
    text = program.script()
    head = text[text.index("def main(") : text.index("):\n", text.index("def main("))]
    buffers = re.findall(r'T\.Buffer\(\(([^)]*)\), "(\w+)"\)', head + ")")
    shapes = [(tuple(int(n) for n in shape.split(",") if n.strip()), dtype) for shape, dtype in buffers]
    rows = min(shape[0] for shape, _ in shapes)
    result = []
    for shape, dtype in shapes:
        integers = rng.integers(0, rows, shape) if dtype == "int32" else rng.integers(-4, 5, shape)
        result.append((integers / 4 if dtype.startswith("float") else integers).astype(dtype))
    return result


def run(program, target="sm_80", tolerance=1e-5):
    """Schedule and run; a warning is an error. Returns what rule each block got, and the report of the machine."""
    sch = Schedule(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rules = schedules.auto(sch, target=target)
        args = arrays(program, np.random.default_rng(1))
        wanted = [a.copy() for a in args]
        interpret(program, *wanted)
        report = interpret(sch, *args, target=target)
    for got, want in zip(args, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    return rules, report
