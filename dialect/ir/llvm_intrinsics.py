"""Calls of LLVM's intrinsics, and what the known ones compute: the same in arith, math and vector ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeVar

from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.ir import vectors
from tir_mlir.dialect.ir.op_views import ConstantOp, isa
from tir_mlir.dialect.ops import MLIR_OPS, SCALAR_FUNCTIONS

CALL = "llvm.call_intrinsic"
Row = TypeVar("Row")


@dataclass(frozen=True)
class _DotIntrinsic:
    """Sums of `group` products of `bits`-bit integers, added to int32 sums if there are such; `signs`: of a and b."""

    bits: int
    group: int
    signs: str
    adds: bool = True
    result: int = 32  # its bits; a narrower result is saturated


_VPDPBUSD, _VPDPWSSD = _DotIntrinsic(8, 4, "us"), _DotIntrinsic(16, 2, "ss")
_MADDUBS, _MADDWD = _DotIntrinsic(8, 2, "us", adds=False, result=16), _DotIntrinsic(16, 2, "ss", adds=False)
_DOTS = {
    **{f"llvm.x86.avx512.vpdpbusd.{n}": _VPDPBUSD for n in (128, 256, 512)},
    **{f"llvm.x86.avx512.vpdpwssd.{n}": _VPDPWSSD for n in (128, 256, 512)},
    "llvm.x86.ssse3.pmadd.ub.sw.128": _MADDUBS, "llvm.x86.avx2.pmadd.ub.sw": _MADDUBS,
    "llvm.x86.avx512.pmaddubs.w.512": _MADDUBS,
    "llvm.x86.sse2.pmadd.wd": _MADDWD, "llvm.x86.avx2.pmadd.wd": _MADDWD, "llvm.x86.avx512.pmaddw.d.512": _MADDWD,
    **{f"llvm.{arch}.neon.{s}dot": _DotIntrinsic(8, 4, s + s) for arch in ("aarch64", "arm") for s in "su"},
    **{f"llvm.{arch}.neon.usdot": _DotIntrinsic(8, 4, "us") for arch in ("aarch64", "arm")},
}  # fmt: skip
_SCALAR_DOTS = {
    f"llvm.nvvm.idp{n}a.{a}.{b}": (n, a + b) for n in (2, 4) for a in "su" for b in "su"
}  # fmt: skip
"""Of NVIDIA's GPUs: c plus the products of four bytes of a and b, or of two halves of a and two bytes of b."""
_ELEMENTWISE = {f"llvm.{intrinsic}": name for name, row in MLIR_OPS.items() for intrinsic in row.llvm.split()}
_OPERANDS = {name: len(one.params) for one in SCALAR_FUNCTIONS.values() for name in one.ops}
_REDUCTIONS = {
    **{f"llvm.vector.reduce.{n}": n for n in ("add", "mul", "and", "or", "xor")},
    "llvm.vector.reduce.smax": "maxsi", "llvm.vector.reduce.smin": "minsi", "llvm.vector.reduce.umax": "maxui",
    "llvm.vector.reduce.umin": "minui", "llvm.vector.reduce.fmaximum": "maximumf",
    "llvm.vector.reduce.fminimum": "minimumf", "llvm.vector.reduce.fadd": "add", "llvm.vector.reduce.fmul": "mul",
}  # fmt: skip
"""Of the lanes of a vector, in order; those of floats that round start at another operand."""


def call(name: str, type_: ir.Type, operands: Sequence[ir.Value]) -> ir.Value:
    """A call of an intrinsic by its name. Operands of a known dot product become vectors of the elements multiplied,
    as LLVM declares it: older versions declared words of 32 bits."""
    dot = _lookup_row(_DOTS, name)
    if dot is not None:
        first = 1 if dot.adds else 0
        operands = [*operands[:first], *(_as_elements(v, dot.bits) for v in operands[first:])]
    return ir.Operation.create(
        CALL,
        [type_],
        list(operands),
        {
            "intrin": ir.StringAttr.get(name),
            "op_bundle_sizes": ir.DenseI32ArrayAttr.get([]),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(operands), 0]),
        },
    ).results[0]


def name_of(op: ir.Operation) -> str:
    """The intrinsic that an op calls."""
    return ir.StringAttr(op.attributes["intrin"]).value


def expand(op: ir.Operation) -> bool:
    """Replace a call by ops of arith, math and vector that compute the same; False if the intrinsic is not known, or
    the types are not its own."""
    if not len(op.results):
        return False
    name, operands, type_ = name_of(op), list(op.operands), op.results[0].type
    with ir.InsertionPoint(op), op.location:
        if (dot := _lookup_row(_DOTS, name)) is not None and _fits(dot, operands, type_):
            value = _dot(dot, operands, ir.VectorType(type_))
        elif name in _SCALAR_DOTS and (sum_ := _scalar_dot(*_SCALAR_DOTS[name], operands, type_)) is not None:
            value = sum_
        elif (elementwise := _lookup_row(_ELEMENTWISE, name)) is not None and _suits(elementwise, operands, type_):
            value = ir.Operation.create(elementwise, [type_], operands).results[0]
        elif (kind := _lookup_row(_REDUCTIONS, name)) is not None and _reduces(name, operands, type_):
            attributes = {"kind": ir.Attribute.parse(f"#vector.kind<{kind}>")}
            value = ir.Operation.create("vector.reduction", [type_], operands[::-1], attributes).results[0]
        else:
            return False
    op.results[0].replace_all_uses_with(value)
    op.erase()
    return True


def _suits(op: str, operands: Sequence[ir.Value], type_: ir.Type) -> bool:
    """Whether an elementwise op takes these operands."""
    element = type_.element_type if isinstance(type_, ir.VectorType) else type_
    integers = op[-2:] in ("si", "ui") or op == "math.ctpop"
    same = len(operands) == _OPERANDS.get(op, 2) and all(v.type == type_ for v in operands)
    return same and isinstance(element, ir.IntegerType) == integers


def _reduces(name: str, operands: Sequence[ir.Value], type_: ir.Type) -> bool:
    """Whether a reduction takes these operands: a vector, and a start where the order of floats matters."""
    ordered = name.startswith(("llvm.vector.reduce.fadd", "llvm.vector.reduce.fmul"))
    floats = name.startswith("llvm.vector.reduce.f")
    if len(operands) != 1 + ordered or not vectors.shape_of(operands[-1]) or operands[0].type not in (
        type_, operands[-1].type,
    ):  # fmt: skip
        return False
    return vectors.element_of(operands[-1]) == type_ and isinstance(type_, ir.IntegerType) != floats


def _lookup_row(table: Mapping[str, Row], name: str) -> Row | None:
    """The row of an intrinsic, whose name may end in its types: `llvm.fma.v4f32`."""
    while name and name not in table:
        name = name.rpartition(".")[0]
    return table.get(name)


def _shape(type_: ir.Type) -> tuple[int, int]:
    """The lanes of a vector of integers, and their bits; zeros for any other type."""
    if not isinstance(type_, ir.VectorType) or not isinstance(type_.element_type, ir.IntegerType):
        return 0, 0
    return prod(type_.shape), ir.IntegerType(type_.element_type).width


def _as_elements(value: ir.Value, bits: int) -> ir.Value:
    """A vector of integers as one of integers of a width, if it is not one already."""
    lanes, width = _shape(value.type)
    if width in (0, bits):
        return value
    return vectors.bitcast(value, ir.VectorType.get([lanes * width // bits], ir.IntegerType.get_signless(bits)))


def _fits(dot: _DotIntrinsic, operands: Sequence[ir.Value], type_: ir.Type) -> bool:
    """Whether types are those of a dot product."""
    lanes, width = _shape(type_)
    if len(operands) != 2 + dot.adds or width != dot.result:
        return False
    fit = all(_shape(v.type) == (lanes * dot.group, dot.bits) for v in operands[dot.adds :])
    return fit and (not dot.adds or operands[0].type == type_)


def _scalar_dot(count: int, signs: str, operands: Sequence[ir.Value], type_: ir.Type) -> ir.Value | None:
    """`idp4a(a, b, c)`, `idp2a(a, b, upper, c)`; None for operands of other types."""
    word = ir.IntegerType.get_signless(32)
    if len(operands) != (3 if count == 4 else 4) or type_ != word:
        return None
    a, b, *upper, total = operands
    if any(v.type != word for v in (a, b, total)):
        return None
    first = 0
    if upper:
        constant = upper[0].owner
        if isinstance(constant, ir.Block) or not isa(constant, ConstantOp):
            return None
        first = 2 * bool(ir.IntegerAttr(constant.attributes["value"]).value)
    for n in range(count):
        x = _part(a, n, 32 // count, signs[0])
        total = arith.addi(total, arith.muli(x, _part(b, first + n, 8, signs[1])))
    return total


def _part(value: ir.Value, number: int, bits: int, sign: str) -> ir.Value:
    """A part of a word, from the lowest on, as a word."""
    left, right = (arith.constant(value.type, n) for n in (32 - bits * (number + 1), 32 - bits))
    return (arith.shrsi if sign == "s" else arith.shrui)(arith.shli(value, left), right)


def _dot(dot: _DotIntrinsic, operands: Sequence[ir.Value], type_: ir.VectorType) -> ir.Value:
    word = ir.IntegerType.get_signless(32)
    count = prod(type_.shape)
    wide = ir.VectorType.get([count * dot.group], word)
    a, b = (
        (arith.extui if sign == "u" else arith.extsi)(wide, v)
        for sign, v in zip(dot.signs, operands[dot.adds :], strict=True)
    )
    terms = vector.shape_cast(ir.VectorType.get([count, dot.group], word), arith.muli(a, b))
    start = operands[0] if dot.adds else vectors.broadcast(arith.constant(word, 0), count)
    sums = ir.Operation.create(
        "vector.multi_reduction",
        [start.type],
        [terms, start],
        {"kind": ir.Attribute.parse("#vector.kind<add>"), "reduction_dims": ir.DenseI64ArrayAttr.get([1])},
    ).results[0]
    if dot.result == 32:
        return sums
    low, high = (vectors.broadcast(arith.constant(word, n), count) for n in (-(1 << 15), (1 << 15) - 1))
    return arith.trunci(type_, arith.minsi(arith.maxsi(sums, low), high))
