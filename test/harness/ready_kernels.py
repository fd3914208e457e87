"""Programs scheduled by `schedules.auto` for a GPU, run on the PTX machine, and compared with the program itself."""

import re
import warnings

import numpy as np

from tir_mlir import Schedule, interpret, schedules


def shapes_of(program, size):
    """The shape and type of each parameter, with this value of all sizes that a call decides."""
    text = program.script()
    head = text[text.index("def main(") : text.index("):\n", text.index("def main("))]
    matched = dict(re.findall(r"(\w+) = T\.match_buffer\(\w+, \(([^)]*)\)", text))
    given = dict(re.findall(r"(\w+): T\.Buffer\(\(([^)]*)\)", head + ")"))
    types = dict(re.findall(r'(\w+)(?:: T\.Buffer| = T\.match_buffer)\((?:\w+, )?\([^)]*\), "(\w+)"', text))
    for name in re.findall(r"(\w+): T\.(?:handle|Buffer)", head):
        name = name.removeprefix("var_")
        numbers = [n.strip() for n in (given | matched)[name].split(",") if n.strip()]
        yield tuple(int(n) if n.isdigit() else size for n in numbers), types.get(name, "float32")


def arrays(program, rng, size=1):
    """Arguments of a program: small numbers, of which sums are exact; indices below the first size of all."""
    shapes = list(shapes_of(program, size))
    rows = min(shape[0] for shape, _ in shapes)
    result = []
    for shape, dtype in shapes:
        integers = rng.integers(0, rows, shape) if dtype == "int32" else rng.integers(-4, 5, shape)
        result.append((integers / 4 if dtype.startswith("float") else integers).astype(dtype))
    return result


def run(program, target="sm_80", tolerance=1e-5, size=1):
    """Schedule and run; a warning is an error. size: of each axis of which a call decides the size. Returns what rule
    each block got, and the report of the machine."""
    sch = Schedule(program)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rules = schedules.auto(sch, target=target)
        args = arrays(program, np.random.default_rng(1), size)
        wanted = [a.copy() for a in args]
        interpret(program, *wanted)
        report = interpret(sch, *args, target=target)
    for got, want in zip(args, wanted, strict=True):
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)
    return rules, report
