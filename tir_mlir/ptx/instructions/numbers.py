"""Instructions of integer and floating-point types alike (`add`, `min`, `fma`), and the functions of `f32`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx import floats
from tir_mlir.ptx.instructions import integers
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.types import is_float

if TYPE_CHECKING:
    from tir_mlir.ptx.instructions.rows import Compiler
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run

Function = Callable[..., np.ndarray]
FLOATS = frozenset("f16 bf16 f16x2 bf16x2 f32 f64 f32x2".split())
NUMBERS = integers.INTEGERS | FLOATS
ROUNDING = words("rn rz rm rp ftz sat relu NaN")


def _mode(ins: PtxInstruction) -> str:
    """The rounding mode; to nearest unless it is named."""
    return next((m for m in ("rz", "rm", "rp") if m in ins.parts), "rn")


def _float_codec(type_: str) -> tuple[str, Function, Function]:
    """A float type -> its element type, bits -> values to compute with, values -> bits."""
    if type_ in ("f16x2", "bf16x2"):
        element, into, back = _float_codec(type_[:-2])
        return (
            element,
            lambda a: into(np.ascontiguousarray(a).view(np.float16 if element == "f16" else np.uint16).reshape(-1, 2)),
            lambda v: np.ascontiguousarray(back(v)).view(np.uint32).reshape(-1),
        )
    if type_ == "f32x2":
        return (
            "f32",
            lambda a: np.ascontiguousarray(a).view(np.float32).reshape(-1, 2),
            lambda v: np.ascontiguousarray(v, np.float32).view(np.uint64).reshape(-1),
        )
    if type_ == "bf16":
        return "bf16", floats.from_bf16, floats.to_bf16
    return type_, lambda a: a, lambda v: v


def float_operation(exact: Function, direct: Function | None = None) -> integers.FunctionOf:
    """A compiler of a float instruction. `exact` computes in f64 (rounded to odd where that matters), `direct` in
    the type itself, to nearest."""

    def function(ins: PtxInstruction, type_: str) -> Function:
        element, into, back = _float_codec(type_)
        mode, flush = _mode(ins), "ftz" in ins.parts and element == "f32"
        dtype = np.dtype({"f16": np.float16, "bf16": np.float32, "f32": np.float32, "f64": np.float64}[element])
        if element == "f64" and mode != "rn":
            refuse(ins, f"the rounding .{mode}")

        def operation(*bits: np.ndarray) -> np.ndarray:
            values = [into(b) for b in bits]
            if flush:
                values = [floats.flush_subnormals(v) for v in values]
            if mode == "rn" and direct is not None and element in ("f32", "f64"):
                result = direct(*values)
            elif element == "bf16":
                result = floats.round_to_type(exact(*[v.astype(np.float64) for v in values]), dtype, "odd")
            else:
                result = floats.round_to_type(exact(*[v.astype(np.float64) for v in values]), dtype, mode)
            if flush:
                result = floats.flush_subnormals(result)
            if "sat" in ins.parts:
                result = floats.saturate(result)
            if "relu" in ins.parts:
                result = np.where(np.isnan(result) | (result > 0), result, dtype.type(0))
            return back(floats.canonical(result))

        return operation

    return function


def dispatch_by_type(integer: integers.FunctionOf, real: integers.FunctionOf) -> Compiler:
    """A compiler of an instruction of both kinds of types."""
    return integers.elementwise(lambda ins, type_: real(ins, type_) if is_float(type_) else integer(ins, type_))


def _sum(sign: int) -> Compiler:
    """`add`, `sub`, with carries if `.cc`."""
    plain = np.add if sign > 0 else np.subtract
    compile_ = dispatch_by_type(
        lambda ins, t: integers._saturating(plain, ins),
        float_operation(lambda a, b: floats.odd_sum(a, sign * b), plain),
    )
    carry = integers._carry(sign > 0, False)
    return lambda machine, ins: (carry if "cc" in ins.parts else compile_)(machine, ins)


def _product(machine: Machine, ins: PtxInstruction) -> Run:
    if is_float(types_of(ins)[-1]):
        return integers.elementwise(float_operation(np.multiply, np.multiply))(machine, ins)
    return integers._wide(lambda p: p)(machine, ins)


def _fma(ins: PtxInstruction, type_: str) -> Function:
    if type_ == "f32" and not {"rz", "rm", "rp", "ftz", "sat"} & set(ins.parts):
        return floats.fma_f32
    if type_ == "f64":
        return floats.fma_f64
    return float_operation(lambda a, b, c: floats.odd_sum(a * b, c))(ins, type_)


def _mad(machine: Machine, ins: PtxInstruction) -> Run:
    if is_float(types_of(ins)[-1]):
        return integers.elementwise(_fma)(machine, ins)
    return integers.INTEGER_ROWS["mad"].compile(machine, ins)


def _extreme(integer: Function, real: Function) -> Compiler:
    """`min`, `max`: of floats the operand that is not NaN, unless `.NaN`; -0 is below +0."""

    def function(ins: PtxInstruction, type_: str) -> Function:
        def choose(*values: np.ndarray) -> np.ndarray:
            result = values[0]
            for v in values[1:]:
                picked = real(np.where(np.isnan(result), v, result), np.where(np.isnan(v), result, v))
                equal = result == v
                negative = np.signbit(result) | np.signbit(v) if real is np.fmin else np.signbit(result) & np.signbit(v)
                zero = equal & (v == 0)
                picked = np.where(zero, np.where(negative, -np.abs(v), np.abs(v)), picked)
                if "NaN" in ins.parts:
                    picked = np.where(np.isnan(result) | np.isnan(v), np.nan, picked)
                result = picked
            return result

        return float_operation(choose)(ins, type_)

    return dispatch_by_type(lambda ins, t: integer, function)


def _bits(real: Function, integer: Function) -> Compiler:
    """`abs`, `neg`: of floats by the sign bit."""

    def function(ins: PtxInstruction, type_: str) -> Function:
        element, into, back = _float_codec(type_)

        def operation(a: np.ndarray) -> np.ndarray:
            values = into(a)
            values = floats.flush_subnormals(values) if "ftz" in ins.parts and element == "f32" else values
            return back(real(values))

        return operation

    return dispatch_by_type(lambda ins, t: integer, function)


def _quotient(machine: Machine, ins: PtxInstruction) -> Run:
    if is_float(types_of(ins)[-1]):
        return integers.elementwise(float_operation(floats.odd_quotient, np.divide))(machine, ins)
    return integers.elementwise(lambda i, t: integers.divide)(machine, ins)


def _special(function: Function) -> Compiler:
    """A function of f32 computed in f64: within the error that the manual allows for `.approx`."""
    return integers.elementwise(float_operation(function, None))


def _copy_sign(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The magnitude of b with the sign of a."""
    return np.copysign(b, a)


ACCURACY = {
    "ex2": "2 ulp (2^-22.5 relative)", "lg2": "2^-22 absolute in (0.5, 2), else 2 ulp",
    "sin": "2^-20.5 absolute in -pi .. pi",
    "cos": "2^-20.5 absolute in -pi .. pi", "tanh": "2^-11 relative", "rcp": "1 ulp", "rsqrt": "2^-22.9 relative",
    "sqrt": "1 ulp (2^-23 relative)", "div": "2 ulp",
}  # fmt: skip
"""The largest error of the `.approx` functions by the PTX manual; the machine rounds the true value once."""

APPROX = words("approx full rn rz rm rp ftz sat")

NUMBER_ROWS = {
    "add": InstructionRow(_sum(1), ROUNDING | words("cc"), NUMBERS),
    "sub": InstructionRow(_sum(-1), ROUNDING | words("cc"), NUMBERS),
    "mul": InstructionRow(_product, ROUNDING | words("lo hi wide"), NUMBERS),
    "mad": InstructionRow(_mad, ROUNDING | words("lo hi wide"), NUMBERS),
    "fma": InstructionRow(integers.elementwise(_fma), ROUNDING, FLOATS),
    "div": InstructionRow(_quotient, APPROX, NUMBERS),
    "min": InstructionRow(_extreme(np.minimum, np.fmin), ROUNDING, NUMBERS),
    "max": InstructionRow(_extreme(np.maximum, np.fmax), ROUNDING, NUMBERS),
    "abs": InstructionRow(_bits(np.abs, np.abs), words("ftz"), NUMBERS),
    "neg": InstructionRow(_bits(np.negative, np.negative), words("ftz"), NUMBERS),
    "copysign": InstructionRow(integers.fixed_operation(_copy_sign), frozenset(), words("f32 f64")),
    "sqrt": InstructionRow(integers.elementwise(float_operation(floats.odd_root, np.sqrt)), APPROX, words("f32 f64")),
    "rcp": InstructionRow(integers.elementwise(float_operation(lambda a: floats.odd_quotient(np.ones_like(a), a))),
                          APPROX, words("f32 f64")),
    "rsqrt": InstructionRow(_special(lambda a: 1.0 / np.sqrt(a)), APPROX, words("f32 f64")),
    "sin": InstructionRow(_special(np.sin), APPROX, words("f32")),
    "cos": InstructionRow(_special(np.cos), APPROX, words("f32")),
    "lg2": InstructionRow(_special(np.log2), APPROX, words("f32")),
    "ex2": InstructionRow(_special(np.exp2), APPROX, words("f32 f16 f16x2 bf16 bf16x2")),
    "tanh": InstructionRow(_special(np.tanh), APPROX, words("f32 f16 f16x2 bf16 bf16x2")),
}  # fmt: skip
