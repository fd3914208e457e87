"""Argument checks, and packing of arrays into memref descriptors.

Checks of shapes, strides and dtypes run once per combination of them (a plan); each call then checks alignment,
writability and overlap only. Each call builds its own descriptors, so calls are thread-safe.
"""

from __future__ import annotations

import ctypes
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn, TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.dialect.ir import dtypes
from tir_mlir.runtime.call.signature import BufferDim, BufferParam, CallSignature, ScalarParam

_SCALARS: dict[str, type] = {
    "int64": ctypes.c_int64, "int32": ctypes.c_int32, "int16": ctypes.c_int16, "int8": ctypes.c_int8,
    "uint64": ctypes.c_uint64, "uint32": ctypes.c_uint32, "uint16": ctypes.c_uint16, "uint8": ctypes.c_uint8,
    "bool": ctypes.c_bool, "float32": ctypes.c_float, "float64": ctypes.c_double,
}  # fmt: skip


ArgumentValue: TypeAlias = Any
"""What ctypes passes to compiled code: a number, or the descriptor of a buffer."""


@dataclass(frozen=True)
class _DescriptorSlot:
    """How one buffer argument is packed: a descriptor is {pointer, pointer, offset, sizes, strides}, all 64 bits."""

    index: int
    struct: type[ctypes.Array[ctypes.c_int64]]
    tail: tuple[int, ...]
    back: int
    itemsize: int
    low: int
    high: int
    written: bool


class PackedArguments(NamedTuple):
    """Checked arguments: the values to call with, the arrays to keep alive during the call, and the key and plan of
    their combination of shapes."""

    values: list[ArgumentValue]
    arrays: list[np.ndarray]
    key: Hashable
    plan: list[_DescriptorSlot]


class Packer:
    """Checks and packs the arguments of one function."""

    def __init__(self, signature: CallSignature):
        self.signature = signature
        self._buffers = [(i, p) for i, p in enumerate(signature.params) if isinstance(p, BufferParam)]
        self._scalars = [(i, p) for i, p in enumerate(signature.params) if isinstance(p, ScalarParam)]
        self._sized = any(p.is_index for _, p in self._scalars)
        self._plans: dict[Hashable, list[_DescriptorSlot]] = {}

    @property
    def argtypes(self) -> list[type]:
        """The ctypes of the C-interface function."""
        return [ctypes.c_void_p if isinstance(p, BufferParam) else _SCALARS[p.dtype] for p in self.signature.params]

    def pack(self, args: Sequence[object]) -> PackedArguments:
        """Check and pack the arguments of a call. Raises ArgumentError."""
        if len(args) != len(self.signature.params):
            needed = len(self.signature.params)
            raise ArgumentError(
                f"{self.signature.name} takes {needed} argument{'s' * (needed != 1)}, {len(args)} given; "
                f"it is {self.signature}"
            )
        values: list[ArgumentValue] = [0] * len(args)
        for i, param in self._scalars:
            values[i] = self._scalar(param, args[i])
        arrays = [a if type(a := args[i]) is np.ndarray else self._array(p, a) for i, p in self._buffers]
        key: Hashable = tuple([(a.shape, a.strides, a.dtype) for a in arrays])
        if self._sized:
            key = (key, *(values[i] for i, p in self._scalars if p.is_index))
        plan = self._plans.get(key)
        if plan is None:
            plan = self._plan(arrays, values)
            if len(self._plans) > 256:  # bound the memory used for plans
                self._plans.clear()
            self._plans[key] = plan
        starts = []
        for slot, array in zip(plan, arrays, strict=True):
            start = array.__array_interface__["data"][0]
            starts.append(start)
            if start % slot.itemsize:
                self._fail_alignment(slot, start)
            if slot.written and not array.flags.writeable:
                self._fail_writable(slot)
            values[slot.index] = slot.struct(start - slot.back, start - slot.back, *slot.tail)
        if self.signature.noalias:
            self._check_overlap(plan, starts, arrays)
        return PackedArguments(values, arrays, key, plan)

    # -- once per combination of shapes -----------------------------------------------------------------------------

    def _plan(self, arrays: Sequence[np.ndarray], values: Sequence[ArgumentValue]) -> list[_DescriptorSlot]:
        for (_, param), array in zip(self._buffers, arrays, strict=True):
            self._check_type(param, array)
        self._check_shapes(arrays, values)
        return [self._slot(i, p, a) for (i, p), a in zip(self._buffers, arrays, strict=True)]

    def _check_type(self, param: BufferParam, array: np.ndarray) -> None:
        if array.ndim != len(param.dims):
            self._fail(param, f"has {array.ndim} dimensions, shape {array.shape}", f"{len(param.dims)} are needed")
        names = ("bfloat16", "uint16") if param.dtype == "bfloat16" else (param.dtype,)
        if array.dtype.name not in names:
            fix = (
                "view a bfloat16 array as uint16"
                if param.dtype == "bfloat16"
                else f'convert with .astype("{param.dtype}")'
            )
            self._fail(param, f"is of type {array.dtype.name}", f"{param.dtype} is needed; {fix}")
        if not array.dtype.isnative:
            self._fail(
                param, f"has foreign byte order ({array.dtype.str})", 'swap with .astype(a.dtype.newbyteorder("="))'
            )

    def sizes(self, args: Sequence[object]) -> dict[str, int]:
        """The values of the shape variables in a call. Raises ArgumentError, as `pack`."""
        packed = self.pack(args)
        return self._check_shapes(packed.arrays, packed.values)

    def _check_shapes(self, arrays: Sequence[np.ndarray], values: Sequence[ArgumentValue]) -> dict[str, int]:
        """The values of the shape variables, from scalar arguments and arrays, with which every extent is compared."""
        bindings = {p.name: (values[i], f"argument {p.name!r}") for i, p in self._scalars if p.is_index}
        extents = [
            (param, axis, dim, array.shape[axis])
            for (_, param), array in zip(self._buffers, arrays, strict=True)
            for axis, dim in enumerate(param.dims)
        ]
        for param, axis, dim, size in sorted(
            extents, key=lambda e: e[2].text not in e[2].symbols
        ):  # bare symbols first
            free = [s for s in dim.symbols if s not in bindings]
            if len(free) == 1:
                value = _solve(dim, free[0], {s: v for s, (v, _) in bindings.items()}, size)
                if value is not None:
                    bindings[free[0]] = (value, f"dimension {axis} of {param.name!r}")
        for param, axis, dim, size in extents:
            if dim.text == "?":
                continue  # unconstrained
            if unknown := [s for s in dim.symbols if s not in bindings]:
                needed = f"{dim.text} is needed, for some {unknown[0]} >= 0"
                self._fail(param, f"has extent {size} in dimension {axis}", needed)
            extent = dim.value({s: v for s, (v, _) in bindings.items()})
            if size != extent:
                source = "".join(f"; {s} = {bindings[s][0]} comes from {bindings[s][1]}" for s in dim.symbols)
                name = f"{dim.text} = {extent}" if dim.symbols else str(extent)
                self._fail(param, f"has extent {size} in dimension {axis}", f"{name} is needed{source}")
        self._check_promises(bindings)
        return {s: v for s, (v, _) in bindings.items()}

    def _check_promises(self, bindings: dict[str, tuple[int, str]]) -> None:
        """Check the function's `T.assume` conditions on the shape variables."""
        values = {s: v for s, (v, _) in bindings.items()}
        for promise in self.signature.promises:
            if not promise.holds(values):
                source = " and ".join(f"{s} = {values[s]} from {bindings[s][1]}" for s in promise.value.symbols)
                name = self.signature.name
                raise ArgumentError(f"{name}: it assumes {promise.text}; this call has {source}")

    def _slot(self, index: int, param: BufferParam, array: np.ndarray) -> _DescriptorSlot:
        itemsize = array.itemsize
        row_major = _row_major(array.shape)
        if any(s % itemsize for s in array.strides):
            self._fail(
                param, f"has strides {array.strides} in bytes", f"multiples of {itemsize} are needed; copy the array"
            )
        actual = [s // itemsize for s in array.strides]
        # the stride of a dimension of extent 0 or 1 is never used
        loose = [size <= 1 or array.size == 0 for size in array.shape]
        expected = row_major if param.strides is None else param.strides
        strides = []
        for axis, (have, need) in enumerate(zip(actual, expected, strict=True)):
            if need is None:
                strides.append(row_major[axis] if loose[axis] else have)
            elif loose[axis] or have == need:
                strides.append(need)
            elif param.strides is None:
                self._fail(
                    param,
                    f"is not C-contiguous: strides {tuple(actual)} in elements",
                    f"{tuple(row_major)} are needed; pass np.ascontiguousarray(...)"
                    + (" and copy the result back" if param.written else ""),
                )
            else:
                self._fail(
                    param, f"has stride {have} in dimension {axis}", f"{need} is needed; copy the array to that layout"
                )
        spans = [(size - 1) * stride * itemsize for size, stride in zip(array.shape, actual, strict=True)]
        low = sum(s for s in spans if s < 0)
        high = sum(s for s in spans if s > 0) + itemsize if array.size else low
        struct = ctypes.c_int64 * (3 + 2 * array.ndim)
        tail = (param.offset, *array.shape, *strides)
        return _DescriptorSlot(index, struct, tail, param.offset * itemsize, itemsize, low, high, param.written)

    # -- each call -------------------------------------------------------------------------------------------------

    def _scalar(self, param: ScalarParam, value: object) -> float:
        is_float = param.dtype.startswith("float")
        kinds = (int, float, np.integer, np.floating) if is_float else (int, np.integer)
        if param.dtype == "bool":
            kinds = (bool, np.bool_)
        if not isinstance(value, kinds) or (isinstance(value, bool) and param.dtype != "bool"):
            self._fail(param, f"is {value!r} ({type(value).__name__})", f"a number of type {param.dtype} is needed")
        if is_float or param.dtype == "bool":
            return float(value) if is_float else bool(value)
        value = int(value)
        if not dtypes.fits(value, param.dtype):
            self._fail(param, f"is {value}", f"a number that fits {param.dtype} is needed")
        if param.is_index and value < 0:
            self._fail(param, f"is {value}", "a size is never negative")
        return value

    def _array(self, param: BufferParam, value: Any) -> np.ndarray:
        """A NumPy view of an argument, without a copy."""
        try:
            if isinstance(value, np.ndarray):
                return value.view(np.ndarray)
            if hasattr(value, "__dlpack__"):
                return np.from_dlpack(value)
            if hasattr(value, "numpy"):
                array = value.numpy()
                if isinstance(array, np.ndarray):
                    return array
                raise TypeError(f"its numpy() gives a {type(array).__name__}")
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            self._fail(
                param,
                f"is a {type(value).__name__} that gives no array in main memory ({error})",
                "pass a NumPy array or a CPU tensor; bfloat16 tensors as uint16 views",
            )
        self._fail(param, f"is a {type(value).__name__}", "a NumPy array or an object with __dlpack__ is needed")

    def _check_overlap(
        self, plan: Sequence[_DescriptorSlot], starts: Sequence[int], arrays: Sequence[np.ndarray]
    ) -> None:
        for j, second in enumerate(plan):
            for i in range(j):
                first = plan[i]
                if not (first.written or second.written):
                    continue
                apart = (starts[i] + first.high <= starts[j] + second.low) or (
                    starts[j] + second.high <= starts[i] + first.low
                )
                if not apart and _shares(arrays[i], arrays[j]):
                    self._fail_overlap(first, second, starts[i], starts[j])

    # -- messages --------------------------------------------------------------------------------------------------

    def _fail(self, param: BufferParam | ScalarParam, have: str, need: str) -> NoReturn:
        position = self.signature.params.index(param)
        raise ArgumentError(f"{self.signature.name}: argument {position}, {param}: {have}; {need}")

    def _fail_alignment(self, slot: _DescriptorSlot, start: int) -> NoReturn:
        self._fail(
            self.signature.params[slot.index],
            f"lies at address {start:#x}, which is not a multiple of {slot.itemsize}",
            "element-aligned memory is needed; pass a copy",
        )

    def _fail_writable(self, slot: _DescriptorSlot) -> NoReturn:
        self._fail(
            self.signature.params[slot.index], "is read-only", "the function writes to it; pass a writable array"
        )

    def _fail_overlap(
        self, first: _DescriptorSlot, second: _DescriptorSlot, first_address: int, second_address: int
    ) -> NoReturn:
        a, b = (self.signature.params[s.index] for s in (first, second))
        written = a if first.written else b
        low, high = (
            max(first_address + first.low, second_address + second.low),
            min(first_address + first.high, second_address + second.high),
        )
        spans = [
            f"{_bytes(low, high, start + s.low)} of {p.name!r}"
            for p, s, start in ((a, first, first_address), (b, second, second_address))
        ]
        raise ArgumentError(
            f"{self.signature.name}: arguments {first.index}, {a}, and {second.index}, {b}, overlap in memory: "
            f"{spans[0]} are {spans[1]}, and {written.name!r} is written; pass a copy of one, or declare that they may "
            'overlap: T.func_attr({"tir.noalias": False})'
        )


def _bytes(low: int, high: int, start: int) -> str:
    return f"bytes {low - start} to {high - start - 1}"


def _row_major(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def _shares(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays with overlapping address ranges share memory; undecided counts as yes."""
    try:
        return np.shares_memory(a, b, max_work=10_000)  # pyright: ignore[reportArgumentType]
    except np.exceptions.TooHardError:
        return True


def _solve(dim: BufferDim, symbol: str, bindings: dict[str, int], size: int) -> int | None:
    """The value of the one unknown symbol for which the extent is `size`, if the extent is linear in it."""
    samples = [dim.value({**bindings, symbol: x}) for x in (0, 1, 1000)]
    slope = samples[1] - samples[0]
    if slope == 0 or samples[2] - samples[0] != 1000 * slope:
        return None
    value, remainder = divmod(size - samples[0], slope)
    return value if remainder == 0 and value >= 0 else None
