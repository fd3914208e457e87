"""The table of torch's operators: name -> function of an emitter and the operator's arguments."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from tir_mlir.graph.builder import Value
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.operators import OPERATORS, Operator

Translated: TypeAlias = "Value | Sequence[Value | None] | None"
"""The result of an operator, or its results; None: one that is not used, or of a check."""
Translation: TypeAlias = "Callable[..., Translated]"
TranslationT = TypeVar("TranslationT", bound=Translation)
TABLE: dict[str, Translation] = {}
HALF_TYPES = ("float16", "bfloat16")
_OTHERS = ("transformers.", "tir_mlir.", "quantized_decomposed.")


def aten(*names: str) -> Callable[[TranslationT], TranslationT]:
    """Register a function for `aten.NAME`, of all overloads, or `aten.NAME.OVERLOAD`; those of transformers,
    of conversions (pt2e) and of this package by their whole name.

    Its parameters are the emitter and arguments of torch's schema by name, `self` and `input` as `x`. An argument that
    it does not take is refused unless it has its default.
    """

    def put(function: TranslationT) -> TranslationT:
        for name in names:
            TABLE[name if name.startswith(_OTHERS) else f"aten.{name}"] = function
        return function

    return put


def in_float32(function: Translation) -> Translation:
    """A translation that computes float16 and bfloat16 in float32 and rounds the result once, as torch does in an
    operator of several steps: its squares, say, do not overflow."""

    @functools.wraps(function)
    def translate(e: TorchEmitter, *args: object, **named: object) -> Translated:
        dtype = e.dtype
        if dtype not in HALF_TYPES or e.wide is not None:
            return function(e, *args, **named)
        e.wide = "float32"
        try:
            results = function(e, *(_wide(e, a) for a in args), **{k: _wide(e, v) for k, v in named.items()})
        finally:
            e.wide = None
        if isinstance(results, Value):
            return e.cast(results, dtype)
        return [None if r is None else e.cast(r, dtype) for r in results or ()]

    return translate


def numbers_in_float32(function: Translation) -> Translation:
    """`in_float32`, where an argument is a number that the type of the result does not have, or a factor other than 1:
    torch does not round it."""
    wide = in_float32(function)

    @functools.wraps(function)
    def translate(e: TorchEmitter, *args: object, **named: object) -> Translated:
        given = [*args, *named.values()]
        is_exact = named.get("alpha", 1) == 1 and all(_has(e.dtype, v) for v in given if isinstance(v, (int, float)))
        return (function if is_exact else wide)(e, *args, **named)

    return translate


def _has(dtype: str, number: float) -> bool:
    """Whether a type has a number exactly."""
    if dtype == "float16":
        with np.errstate(over="ignore"):
            return math.isnan(number) or float(np.float16(number)) == number
    if dtype == "bfloat16":
        bits = np.float32(number).view(np.uint32)
        return math.isnan(number) or (float(np.float32(number)) == number and not bits & 0xFFFF)
    return True


def _wide(e: TorchEmitter, value: object) -> object:
    return e.cast(value, "float32") if isinstance(value, Value) and value.dtype in HALF_TYPES else value


def translations() -> dict[str, Translation]:
    """All translations: those of the operators of graphs that are one operator of torch, and the functions here."""
    rows = {f"aten.{name}": _of_row(row) for row in OPERATORS.values() for name in row.torch.split()}
    return {**rows, **TABLE}


def _of_row(row: Operator) -> Translation:
    """An operator on operands of the type of its result; a test, and a comparison, takes them in their own."""
    if len(row.operands) == 1:
        return lambda e, x: e.op(row.name, x if e.dtype == "bool" else e.cast(x, e.dtype))
    return lambda e, x, other: e.binary(row.name, x, other, e.common_dtype() if e.dtype == "bool" else e.dtype)


def identity(e: TorchEmitter, x: Value) -> Value:
    """x itself: what the operator does has no meaning in a graph (copies, memory formats)."""
    return x
