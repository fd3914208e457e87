"""Comparisons and choices: `setp`, `set`, `selp`, `slct`, `testp`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx import floats
from tir_mlir.ptx.instructions.integers import elementwise
from tir_mlir.ptx.instructions.numbers import _float_codec
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.registers import Lanes
from tir_mlir.ptx.types import DTYPES, UNSIGNED, is_float

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run

_EQUAL: dict[str, Callable[..., np.ndarray]] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}
_COMBINE: dict[str, Callable[..., np.ndarray]] = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}
COMPARISONS = frozenset([*_EQUAL, *_UNSIGNED, *_UNORDERED, "num", "nan"])


def comparison(ins: PtxInstruction, type_: str) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """The comparison that an instruction names, of one type. Ordered ones of a NaN are false, unordered ones true."""
    name = next(p for p in ins.parts[1:] if p in COMPARISONS)
    if not is_float(type_):
        if name in _UNSIGNED:
            operation = _EQUAL[_UNSIGNED[name]]
            return lambda a, b: operation(a.view(UNSIGNED[a.itemsize]), b.view(UNSIGNED[b.itemsize]))
        return _EQUAL[name] if name in _EQUAL else refuse(ins, f"the comparison .{name} of .{type_}")
    element, into, _ = _float_codec(type_)

    def compare(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        x, y = into(a), into(b)
        if "ftz" in ins.parts and element == "f32":
            x, y = floats.flush_subnormals(x), floats.flush_subnormals(y)
        nan = np.isnan(x) | np.isnan(y)
        if name in ("num", "nan"):
            return nan if name == "nan" else ~nan
        if name in _UNORDERED:
            return _EQUAL[_UNORDERED[name]](x, y) | nan
        return _EQUAL[name](x, y) & ~nan if name == "ne" else _EQUAL[name](x, y)

    return compare


def _operands(machine: Machine, ins: PtxInstruction, type_: str) -> tuple[Read, Read | None]:
    """The compared values, combined with the predicate of a fourth operand."""
    a, b = (machine.registers.read(o, type_, ins) for o in ins.operands[1:3])
    compare = comparison(ins, type_)
    if len(ins.operands) == 3:
        return (lambda on: compare(a(on), b(on))), None
    combine = _COMBINE[next(p for p in ins.parts if p in _COMBINE)]
    c = machine.registers.read(ins.operands[3], "pred", ins)
    return (lambda on: combine(compare(a(on), b(on)), c(on))), (lambda on: combine(~compare(a(on), b(on)), c(on)))


def _setp(machine: Machine, ins: PtxInstruction) -> Run:
    type_ = types_of(ins)[-1]
    first, _, second = ins.operands[0].partition("|")
    value, opposite = _operands(machine, ins, type_)
    if type_ in ("f16x2", "bf16x2"):
        low, high = (machine.registers.write(n, "pred", ins) for n in (first, second))

        def write_both(on: Lanes) -> None:
            result = value(on)
            low(on, result[:, 0])
            high(on, result[:, 1])

        return write_both
    put = machine.registers.write(first, "pred", ins)
    if not second:
        return lambda on: put(on, value(on))
    put_second = machine.registers.write(second, "pred", ins)

    def run(on: Lanes) -> None:
        result = value(on)
        negated = opposite(on) if opposite else ~result
        put(on, result)
        put_second(on, negated)

    return run


def _set(machine: Machine, ins: PtxInstruction) -> Run:
    to, type_ = types_of(ins)
    put = machine.registers.write(ins.operands[0], to, ins)
    value, _ = _operands(machine, ins, type_)
    dtype = np.dtype(DTYPES[to])
    yes = dtype.type(1) if dtype.kind == "f" else np.array(-1).astype(dtype)
    return lambda on: put(on, np.where(value(on), yes, dtype.type(0)))


def _test(ins: PtxInstruction, type_: str) -> Callable[..., np.ndarray]:
    tiny = np.finfo(DTYPES[type_]).tiny
    tests: dict[str, Callable[..., np.ndarray]] = {
        "finite": np.isfinite, "infinite": np.isinf, "number": lambda a: ~np.isnan(a), "notanumber": np.isnan,
        "normal": lambda a: np.isfinite(a) & (np.abs(a) >= tiny), "subnormal": lambda a: (a != 0) & (np.abs(a) < tiny),
    }  # fmt: skip
    return tests[next(p for p in ins.parts if p in tests)]


PREDICATE_ROWS = {
    "setp": InstructionRow(_setp, COMPARISONS | words("and or xor ftz")),
    "set": InstructionRow(_set, COMPARISONS | words("and or xor ftz")),
    "selp": InstructionRow(elementwise(lambda i, t: lambda a, b, p: np.where(p, a, b), sources=("", "", "pred"))),
    "slct": InstructionRow(elementwise(lambda i, t: lambda a, b, c: np.where(c >= 0, a, b), sources=("", "", "s32")),
                           frozenset()),
    "testp": InstructionRow(elementwise(_test, result="pred"),
                 words("finite infinite number notanumber normal subnormal"), words("f32 f64")),
}  # fmt: skip
