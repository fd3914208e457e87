"""The table of operations: the printer's text of every op parses to the same op."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.ir import walk
from tir_mlir.dialect.ops import ScalarFunction
from tir_mlir.script import IRModule, parse
from tir_mlir.script.language import words

PROGRAM = """
@T.prim_func
def main({params}, Y: T.Buffer((8,), "{result}")):
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = {value}
"""


def _program(row: ScalarFunction, dtype: str, value: str) -> IRModule:
    letters = "ABC"[: len(row.params)]
    types = ["bool" if row.name == "Select" and n == "A" else dtype for n in letters]
    params = ", ".join(f'{n}: T.Buffer((8,), "{t}")' for n, t in zip(letters, types, strict=True))
    result = "bool" if row in words.FLOAT_PREDICATES else dtype
    return parse(PROGRAM.format(params=params, result=result, value=value))


def _ops(mod: IRModule) -> list[str]:
    return [op.name for op in walk.ops(mod.mlir.operation)]


CASES = [(row, dtype) for row in words.OPERATIONS for dtype in ("float32", "int32")
         if (row.float_op if dtype == "float32" else row.int_op)]  # fmt: skip


@pytest.mark.parametrize(("row", "dtype"), CASES, ids=lambda v: getattr(v, "name", v))
def test_round_trip(row: ScalarFunction, dtype: str) -> None:
    op = row.float_op if dtype == "float32" else row.int_op
    operands = [f"{name}[vi]" for name in "ABC"[: len(row.params)]]
    mod = _program(row, dtype, f"T.{row.name}({', '.join(operands)})")
    assert op in _ops(mod)
    if row.symbol:
        infix = _program(row, dtype, f"{operands[0]} {row.symbol} {operands[1]}")
        assert infix.equal(mod)
    text = mod.script()
    spelling = f"A[vi] {row.symbol} B[vi]" if row.infix else f"T.{row.name}("
    assert spelling in text
    assert parse(text).equal(mod)


@pytest.mark.parametrize(("name", "symbol"), words.COMPARISONS.items())
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_comparisons(name: str, symbol: str, dtype: str) -> None:
    program = PROGRAM.replace("{params}", f'A: T.Buffer((8,), "{dtype}"), B: T.Buffer((8,), "{dtype}")')
    values = (f"T.{name}(A[vi], B[vi])", f"A[vi] {symbol} B[vi]")
    call, infix = (parse(program.format(result="bool", value=value)) for value in values)
    assert call.equal(infix)
    assert f"A[vi] {symbol} B[vi]" in call.script()
    assert parse(call.script()).equal(call)


def test_an_op_has_one_spelling() -> None:
    found = [op for row in words.OPERATIONS for op in row.ops]
    assert len(found) == len(set(found))
