"""Conversion of call arguments to interpreter memory, and of results back to arrays."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.interpreter.floats import ROUND
from tir_mlir.interpreter.kinds import array_of, is_float, numbers
from tir_mlir.interpreter.memory import Memory, View, row_major, shown
from tir_mlir.interpreter.poison import POISON, is_poison
from tir_mlir.runtime.call.arrays import Packed, Packer
from tir_mlir.runtime.call.keywords import in_order
from tir_mlir.runtime.call.signature import BufferParam, CallSignature

OPTIONS = ("name", "exact", "strict", "unset", "breakpoints", "kernels")
"""The options of `interpret`."""
WIDE = {"float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1"}


def memory_kind(dtype: str) -> str:
    """`"float32"` -> `"f32"`, `"int8"` -> `"i8"`, `"uint8"` -> `"u8"`."""
    return WIDE.get(dtype) or dtype[0] + dtype.lstrip("uint")


def kind_of(dtype: str) -> str:
    """`"float32"` -> `"f32"`; `"uint8"` and `"int8"` -> `"i8"`."""
    return WIDE.get(dtype) or "i" + dtype.removeprefix("u").removeprefix("int")


def by_position(signature: CallSignature, arrays: Sequence[Any], named: Mapping[str, Any]) -> Sequence[Any]:
    """The arrays of `interpret(program, *arrays, **named)` in the order of the parameters.

    Raises ArgumentError, for a misspelled option as well.
    """
    names = {p.name for p in signature.params}
    for name in named:
        if name not in names and (near := difflib.get_close_matches(name, OPTIONS, 1)):
            raise ArgumentError(f"interpret has no option {name!r} (did you mean {near[0]!r}?)")
    return in_order(signature, arrays, named) if named else arrays


class Arguments:
    """The arguments of a call: checked as by `lib(...)`, then converted to views and numbers in `values`."""

    def __init__(self, signature: CallSignature, args: Sequence[Any], exact: bool, unset: Sequence[str]):
        self.signature = signature
        self.exact = exact
        self.packed: Packed = Packer(signature).pack(args)
        self.values: list[Any] = list(self.packed.values)
        self.aliased = False
        self._memories: dict[Any, Memory] = {}
        for slot, array in zip(self.packed.plan, self.packed.arrays, strict=True):
            param = signature.params[slot.index]
            assert isinstance(param, BufferParam)
            self.values[slot.index] = self._view(param, array, slot.tail, param.name in unset)
        for number, param in enumerate(signature.params):
            if not isinstance(param, BufferParam):
                kind = kind_of(param.dtype)
                self.values[number] = ROUND[kind](args[number]) if is_float(kind) and not exact else self.values[number]

    def _view(self, param: BufferParam, array: np.ndarray, tail: Sequence[int], unset: bool) -> View:
        offset, rank = tail[0], array.ndim
        shape, strides = tail[1 : 1 + rank], tail[1 + rank :]
        start = array.__array_interface__["data"][0]
        key = (start, array.shape, array.strides)
        memory = self._memories.get(key) if array.size else None
        if memory is None:
            self._apart(param, array)
            memory = Memory(
                param.name, memory_kind(param.dtype), self._data(param, array, offset, shape, strides, unset)
            )
            self._memories[key] = memory
        else:
            self.aliased = True
        return View(param.name, memory, offset, shape, strides)

    def _apart(self, param: BufferParam, array: np.ndarray) -> None:
        for (start, shape, strides), earlier in self._memories.items():
            base = array.__array_interface__["data"][0]
            if array.size and start < base + _span(array.shape, array.strides, array.itemsize) and base < start + _span(
                shape, strides, array.itemsize
            ):  # fmt: skip
                raise ArgumentError(
                    f"{self.signature.name}: {param.name!r} and {earlier.name!r} overlap partially in memory; the "
                    "interpreter supports identical or disjoint arrays only; pass a copy of one"
                )

    def _data(
        self,
        param: BufferParam,
        array: np.ndarray,
        offset: int,
        shape: Sequence[int],
        strides: Sequence[int],
        unset: bool,
    ) -> list[Any]:
        kind = kind_of(param.dtype)
        flat = numbers(np.ascontiguousarray(array).reshape(-1), kind)
        if self.exact:
            flat = [v.item() if isinstance(v, np.generic) else v for v in flat]
        if unset:
            flat = [POISON] * len(flat)
        if tuple(strides) == row_major(shape) or not array.size:
            return [POISON] * offset + flat
        if min(strides) < 0:
            raise ArgumentError(
                f"{self.signature.name}: {param.name!r} has negative strides, {tuple(strides)}; pass a copy"
            )
        data = [POISON] * (offset + 1 + sum((n - 1) * s for n, s in zip(shape, strides, strict=True)))
        for position, value in zip(self._places(shape, strides, offset), flat, strict=True):
            data[position] = value
        return data

    def _places(self, shape: Sequence[int], strides: Sequence[int], offset: int) -> list[int]:
        places = np.full(tuple(shape), offset, np.int64)
        for d, step in enumerate(strides):
            places += (np.arange(shape[d]) * step).reshape([-1 if n == d else 1 for n in range(len(shape))])
        return places.reshape(-1).tolist()

    def left(self) -> dict[str, np.ndarray]:
        """The contents of each buffer parameter, as object arrays."""
        contents = {}
        for param, view in zip(self.signature.params, self.values, strict=True):
            if isinstance(param, BufferParam):
                flat = np.empty(int(np.prod(view.shape)), object)
                places = self._places(view.shape, view.strides, view.offset)
                flat[:] = [shown(view.memory.dtype, view.data[p]) for p in places]
                contents[param.name] = flat.reshape(view.shape)
        return contents

    def unwritten(self) -> tuple[View, tuple[int, ...], Any] | None:
        """The first uninitialized element of an output parameter, or None."""
        for param, view in zip(self.signature.params, self.values, strict=True):
            if isinstance(param, BufferParam) and param.written and any(is_poison(v) for v in view.data):
                for index in np.ndindex(view.shape):
                    if is_poison(value := view.data[view.at(index)]):
                        return view, tuple(index), value
        return None

    def write_back(self) -> None:
        """Copy the results back to the arrays."""
        for slot, array in zip(self.packed.plan, self.packed.arrays, strict=True):
            param = self.signature.params[slot.index]
            if slot.written and array.size:
                view = self.values[slot.index]
                values = [view.data[p] for p in self._places(view.shape, view.strides, view.offset)]
                array[...] = array_of(values, array.dtype, kind_of(param.dtype)).reshape(array.shape)


def _span(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> int:
    return sum((n - 1) * s for n, s in zip(shape, strides, strict=True) if n) + itemsize
