"""Inputs of the check: sizes for the shape variables, and arrays of random data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import Func, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref, index_operands
from tir_mlir.dialect.ir.op_views import ComputedAccessOp, ElementLoadOp, ScfForOp, isa
from tir_mlir.equivalence.field.field_functions import P
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam

UNIFORM, SMALL = "uniform", "small"
SIZES: tuple[int, ...] = (1, 15, 16, 17, 40)
_MORE: tuple[int, ...] = (2, 3, 4, 8, 12, 24, 32, 48, 64, 96, 128, 192, 256)
_TRIES = 4000
_TRIPS = 64
"""Bounds of loops that are data are below this, so that random ones do not run for long."""


# --- sizes --------------------------------------------------------------------------------------------------------


def symbols(signature: CallSignature) -> list[str]:
    """The shape variables of a function."""
    names: dict[str, None] = {}
    for param in signature.params:
        if isinstance(param, ScalarParam) and param.is_index:
            names[param.name] = None
        elif isinstance(param, BufferParam):
            for dim in param.dims:
                names |= dict.fromkeys(dim.symbols)
    return list(names)


def size_choices(signature: CallSignature) -> list[dict[str, int]]:
    """Values for the shape variables: each pair of variables differs in one choice; `T.assume` holds.

    Raises NotChecked if no values satisfy the assumptions.
    """
    names = symbols(signature)
    if not names:
        return [{}]
    rows = [{n: SIZES[(i + 2 * j) % len(SIZES)] for j, n in enumerate(names)} for i in range(len(SIZES))]
    rows = [_raise_sizes(signature, row) for row in rows]
    choices = [row for row in rows if _holds(signature, row)]
    if len(choices) < 3:
        for number, values in enumerate(product((*SIZES, *_MORE), repeat=len(names))):
            row: dict[str, int] = dict(zip(names, values, strict=True))
            if number > _TRIES or len(choices) >= len(SIZES):
                break
            if row not in choices and _holds(signature, row):
                choices.append(row)
    if not choices:
        raise NotChecked(f"{signature.name}: no sizes satisfy what it assumes of {', '.join(names)}")
    return choices


def _raise_sizes(signature: CallSignature, row: dict[str, int]) -> dict[str, int]:
    """Sizes with those raised that are assumed to be at least what others say: `T.assume(room >= 4 * n)`."""
    for promise in signature.promises:
        short = 0 if promise.is_eq else -promise.value.value(row)
        for name in promise.value.symbols if short > 0 else ():
            if promise.value.value({**row, name: row[name] + 1}) == 1 - short:
                row = {**row, name: row[name] + short}
                break
    return row


def _holds(signature: CallSignature, row: Mapping[str, int]) -> bool:
    shapes = [d.value(row) for p in signature.params if isinstance(p, BufferParam) for d in p.dims if d.text != "?"]
    return all(p.holds(row) for p in signature.promises) and all(n >= 1 for n in shapes)


def shape_of(param: BufferParam, sizes: Mapping[str, int]) -> tuple[int, ...]:
    if any(d.text == "?" for d in param.dims):
        raise NotChecked(f"buffer {param.name} has an extent that is not a shape variable")
    return tuple(d.value(sizes) for d in param.dims)


# --- arrays -------------------------------------------------------------------------------------------------------


Argument: TypeAlias = "np.ndarray | float"
"""Of a program: an array or a number."""


@dataclass(frozen=True)
class ArgumentGenerator:
    """A generator of arguments of a function. `limits[i]`: argument i holds indices into that extent."""

    signature: CallSignature
    known: Mapping[str, int]
    limits: Mapping[int, int]

    def arrays(self, seed: int, kind: str, exact: bool) -> list[Argument]:
        """Arguments, deterministic in the seed."""
        random = np.random.default_rng(seed)
        return [self._argument(n, p, random, kind, exact) for n, p in enumerate(self.signature.params)]

    def _argument(
        self, number: int, param: BufferParam | ScalarParam, random: np.random.Generator, kind: str, exact: bool
    ) -> Argument:
        if isinstance(param, ScalarParam):
            if param.is_index:
                return self.known[param.name]
            value = _values(param.dtype, (1,), random, kind, exact, None)[0]
            return bool(value) if param.dtype == "bool" else value
        shape = shape_of(param, self.known)
        values = _values(param.dtype, shape, random, kind, exact, self.limits.get(number))
        return laid_out(np.asarray(values), param)  # NumPy draws a scalar for a buffer without dimensions


def _values(
    dtype: str, shape: Sequence[int], random: np.random.Generator, kind: str, exact: bool, limit: int | None
) -> np.ndarray:
    if "float" in dtype:
        if not exact:
            return random.uniform(0.5, 1.5, shape)
        if kind == SMALL:
            return random.integers(-2, 3, shape) % P
        return random.integers(0, P, shape)
    if dtype == "bool":
        return random.integers(0, 2, shape, np.int8)
    info = np.iinfo(np.dtype(dtype))
    if limit is not None:
        return random.integers(0, max(1, min(limit, info.max)), shape, np.dtype(dtype))
    low, high = (max(-2, info.min), 2) if kind == SMALL else (info.min, info.max)
    return random.integers(low, high, shape, np.dtype(dtype), endpoint=True)


def laid_out(values: np.ndarray, param: BufferParam) -> np.ndarray:
    """Copy values to memory with the strides of a parameter."""
    if param.strides is None or None in param.strides:
        return values
    steps = [s or 0 for s in param.strides]
    length = 1 + sum((n - 1) * s for n, s in zip(values.shape, steps, strict=True))
    memory = np.zeros(length, values.dtype)
    view = np.lib.stride_tricks.as_strided(memory, values.shape, [s * memory.itemsize for s in steps])
    view[...] = values
    return view


def index_limits(func: Func) -> dict[int, int]:
    """Integer parameters used as indices, and the smallest extent that they index; those that bound a loop count as
    indices of `_TRIPS` elements."""
    limits: dict[int, int] = {}
    for op in walk.ops(func.op):
        if isa(op, ScfForOp):
            for number in {n for bound in list(op.operands)[:2] for n in _source_parameters(bound, func)}:
                limits[number] = min(limits.get(number, _TRIPS), _TRIPS)
        if not isa(op, ComputedAccessOp):
            continue
        memref = accessed_memref(op)
        for value, size in zip(index_operands(op), ir.MemRefType(memref.type).shape, strict=True):
            for number in _source_parameters(value, func):
                least = 1 if size < 0 else size
                limits[number] = min(limits.get(number, least), least)
    return limits


def _source_parameters(value: ir.Value, func: Func) -> set[int]:
    """The parameters from which a value is loaded, through arithmetic."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        loop = owner.owner.operation
        return (
            {n for v in list(loop.operands)[:2] for n in _source_parameters(v, func)} if isa(loop, ScfForOp) else set()
        )
    op = owner.operation
    if isa(op, ElementLoadOp):
        memref = accessed_memref(op)
        return {func.args.index(memref)} if memref in func.args else set()
    if op.name.startswith("arith."):
        return {n for v in op.operands for n in _source_parameters(v, func)}
    return set()


# --- arguments that overlap, for functions that allow it (`tir.noalias = False`) -------------------------------------

SHIFTS = (0, 1, -1)
"""Distances in elements between the starts of one buffer and the next: the same memory, a view shifted either way."""


@dataclass(frozen=True)
class OverlappingArguments(ArgumentGenerator):
    """A generator of arguments whose row-major buffers of one type start `shift` elements apart."""

    shift: int = 0

    def arrays(self, seed: int, kind: str, exact: bool) -> list[Argument]:
        """Arguments, deterministic in the seed; each element has one value in all buffers that hold it."""
        arguments = super().arrays(seed, kind, exact)
        groups: dict[np.dtype, dict[int, np.ndarray]] = {}
        for number, param in enumerate(self.signature.params):
            array = arguments[number]
            if isinstance(param, BufferParam) and param.strides is None and isinstance(array, np.ndarray):
                if param.dtype != "bool":
                    groups.setdefault(array.dtype, {})[number] = array
        for arrays in groups.values():
            for number, view in zip(arrays, self._overlay(list(arrays.values())), strict=True):
                arguments[number] = view
        return arguments

    def _overlay(self, arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
        """Views of one memory that hold arrays; where they overlap, the last one."""
        first = -min(0, self.shift) * (len(arrays) - 1)
        starts = [first + i * self.shift for i in range(len(arrays))]
        ends = [start + a.size for start, a in zip(starts, arrays, strict=True)]
        memory = np.zeros(max(ends), arrays[0].dtype)
        views = [memory[s:e].reshape(a.shape) for s, e, a in zip(starts, ends, arrays, strict=True)]
        for view, array in zip(views, arrays, strict=True):
            view[...] = array
        return views

    def __str__(self) -> str:
        distance = "in the same memory" if not self.shift else f"starting {abs(self.shift)} element apart"
        return f"with arguments that overlap, {distance}"


def may_overlap(signature: CallSignature) -> bool:
    """Whether a function takes overlapping buffers, and has several of one type."""
    kinds = [p.dtype for p in signature.params if isinstance(p, BufferParam) and p.strides is None]
    return not signature.noalias and len(set(kinds)) < len(kinds)
