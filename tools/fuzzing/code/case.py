"""One program: a loop with an `if`, conversions and selections, in vectors whose last one may have one lane."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any

from fuzzing.kinds import Fault, Record
from tir_mlir import Schedule, build
from tir_mlir.errors import BuildError, TirError
from tir_mlir.script.parser import parse

INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
LANES = (2, 4, 8, 16, 32)
WRONG = ("machine code and interpreter differ", "machine code writes outside")


@dataclass(frozen=True)
class Code:
    """A program and how it is scheduled."""

    text: str
    lanes: int
    unrolled: bool
    rows: bool

    def scheduled(self) -> Schedule:
        sch = Schedule(parse(self.text))
        outer, inner = sch.split(sch.get_loops("B")[-1], [None, self.lanes])
        sch.vectorize(inner)
        if self.unrolled:
            sch.unroll(outer)
        if self.rows:
            sch.parallel(sch.get_loops("B")[0])
        return sch

    def __str__(self) -> str:
        words = [f"{self.lanes} lanes", *["unrolled"] * self.unrolled, *["rows in parallel"] * self.rows]
        return f"{', '.join(words)}\n{self.text}"


def draw(random: Random) -> Code:
    """Draw a program."""
    types = random.choice((INTEGERS, FLOATS, (*INTEGERS, *FLOATS)))
    source, dtype = random.choice(types), random.choice(types)
    lanes, vectors = random.choice(LANES), random.randrange(1, 6)
    limit = lanes * vectors + random.choice((0, 1, 1, 1, lanes - 1, random.randrange(lanes)))
    count = limit + random.choice((0, 1, 2, lanes, random.randrange(40)))
    rows = random.random() < 0.3
    at = "vr, vi" if rows else "vi"
    value = f"A[{at}]"
    guard = _guard(random, limit, count, value, source)
    lines = [f"B[{at}] = {_expression(random, value, source, dtype)}"]
    if guard:
        lines = [f"if {guard}:", *(f"    {line}" for line in lines)]
        if random.random() < 0.3:
            lines += ["else:", f"    B[{at}] = {_expression(random, value, source, dtype)}"]
    body = "\n".join(f"            {line}" for line in lines)
    shape, loops = (
        (f"3, {count}", f"for r, i in T.grid(3, {count}):") if rows else (f"{count},", f"for i in range({count}):")
    )
    iters = 'vr, vi = T.axis.remap("SS", [r, i])' if rows else f"vi = T.axis.spatial({count}, i)"
    text = f"""@T.prim_func
def main(A: T.Buffer(({shape}), "{source}"), B: T.Buffer(({shape}), "{dtype}")):
    {loops}
        with T.block("B"):
            {iters}
{body}
"""
    return Code(text, lanes, random.random() < 0.4, rows and random.random() < 0.5)


def _guard(random: Random, limit: int, count: int, value: str, source: str) -> str:
    forms = (
        f"vi < {limit}",
        f"vi < {limit}",
        f"vi >= {random.randrange(max(count, 1))}",
        f"vi >= {random.randrange(limit)} and vi < {limit}",
        f"vi % {random.randrange(2, 5)} == 0",
        f"{value} > T.{source}(0)",
        "",
    )
    return random.choice(forms)


def _expression(random: Random, value: str, source: str, dtype: str) -> str:
    """A value of type `dtype` of one of type `source`."""
    zero = random.choice(("0", "-0.0", "0.0")) if source in FLOATS else "0"
    bound = random.choice((zero, zero, "1", "100"))
    op = random.choice(("<", "<=", ">", ">="))
    cast = f'T.Cast("{dtype}", {value})'
    chosen = f"T.{source}({bound})", f"T.{dtype}({'0' if dtype in INTEGERS else bound})"
    arms = [chosen[1], cast] if random.random() < 0.5 else [cast, chosen[1]]
    forms = (
        cast,
        f"T.if_then_else({value} {op} {chosen[0]}, {arms[0]}, {arms[1]})",
        f'T.Cast("{dtype}", T.if_then_else({value} {op} {chosen[0]}, {chosen[0]}, {value}))',
        f'T.Cast("{dtype}", T.max(T.min({value}, T.{source}(100)), T.{source}(0)))',
        f'T.Cast("{dtype}", {value} + T.{source}(1))',
        f'T.Cast("{dtype}", T.Cast("{random.choice(FLOATS)}", {value}))',
    )
    return random.choice(forms)


def case(random: Random) -> Record:
    """Build a program and compare its machine code with the interpreter. Raises Fault."""
    code = draw(random)
    counts: Counter[tuple[str, str]] = Counter()
    try:
        built(code.scheduled())
    except BuildError as error:
        if any(words in str(error) for words in WRONG):
            raise Fault(f"{error}\n{code}") from error
        counts["code refused", _reason(error)] += 1
        return Record("refused", counts, partial(str, code))
    except TirError as error:
        counts["code refused", _reason(error)] += 1
        return Record("refused", counts, partial(str, code))
    return Record("compared", counts, partial(str, code))


def built(sch: Any) -> None:
    build(sch, verify=True, cache=False)


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()[:6])
