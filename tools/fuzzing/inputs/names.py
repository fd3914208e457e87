"""Names bound again in nests: a program is refused, or computes what Python does, to the sign of zero."""

from __future__ import annotations

from random import Random

import numpy as np

from fuzzing.inputs.judging import Fault, tried
from tir_mlir import build, interpret
from tir_mlir.script import parse

NAMES = ("u", "v", "w")
HEAD = """
@T.prim_func
def f(A: T.Buffer((6,), "float32"), B: T.Buffer((6,), "float32")):
    for i in range(6):
        with T.block("B"):
            vi = T.axis.spatial(6, i)
"""


def case(random: Random) -> str:
    """Compare a random body with Python's run of the same lines. Errors: Fault."""
    lines = body(random)
    a = np.array([random.choice((-0.0, 0.0, 1, -2, 3)) for _ in range(6)], np.float32)
    b = np.array([random.choice((-0.0, 0.0, 1, -1)) for _ in range(6)], np.float32)
    text = HEAD + "".join(f"{' ' * 12}{line}\n" for line in lines)
    outcome, program = tried(text, lambda: parse(text))
    if outcome == "refused":
        return outcome
    want = in_python(lines, a, b, text)
    for run in (lambda *arrays: interpret(program, *arrays), build(program)):
        got = b.copy()
        run(a.copy(), got)
        if not np.array_equal(got.view(np.int32), want.view(np.int32)):
            raise Fault(f"accepted, and not what Python computes: {got}, not {want}\nA = {a}, B = {b}\n{text}")
    return outcome


def in_python(lines: list[str], a: np.ndarray, b: np.ndarray, text: str) -> np.ndarray:
    """What Python computes; the lines are those of a function, so that an unbound name is an error."""
    source = "def run(A, B, vi):\n" + "".join(f"    {line}\n" for line in lines)
    names: dict[str, object] = {}
    exec(source, names)
    result = b.copy()
    for point in range(len(b)):
        try:
            names["run"](a, result, point)  # type: ignore[operator]
        except UnboundLocalError as error:
            raise Fault(f"accepted, though Python raises {error}\n{text}") from error
    return result


def body(random: Random) -> list[str]:
    """Lines that bind all names, bind some of them again in nests, and store a name."""
    lines = [f"{name} = {random.choice(('A[vi]', '0.0', '2.0', 'B[vi]'))}" for name in NAMES]
    for _ in range(random.randint(1, 3)):
        lines += statement(random, 2)
    return [*lines, f"B[vi] = {random.choice(NAMES)}" if random.random() < 0.8 else "B[vi] = B[vi] + 1.0"]


def statement(random: Random, depth: int) -> list[str]:
    """An assignment, a store, or a nest; conditions also read what the block writes."""
    name, other = random.choice(NAMES), random.choice(NAMES)
    plain = [
        f"{name} = {value(random)}",
        f"B[vi] = {value(random)}",
        f"{name}, {other} = {other}, {name}" if name != other else f"{name} = -{name}",
    ]
    if depth == 0 or random.random() < 0.4:
        return [random.choice(plain)]
    inner = [f"    {line}" for _ in range(random.randint(1, 2)) for line in statement(random, depth - 1)]
    match random.randrange(4):
        case 0:
            return [f"for {random.choice('kl')} in range({random.randint(1, 3)}):", *inner]
        case 1:
            rest = [f"    {line}" for line in statement(random, depth - 1)]
            return [f"if {test(random)}:", *inner, "else:", *rest]
        case 2:
            return ["for t in (1.0, 2.0):", *inner]
    return [f"if {test(random)}:", *inner]


def value(random: Random) -> str:
    left = random.choice((*NAMES, "A[vi]", "B[vi]"))
    return random.choice((left, f"{left} + {random.choice(NAMES)}", f"{left} * 2.0", "1.0", f"-{left}"))


def test(random: Random) -> str:
    sides = random.choice((*NAMES, "B[vi]")), random.choice(("A[vi]", "0.0", *NAMES))
    return random.choice(("{} > {}", "{} <= {}", "vi < 3")).format(*sides)
