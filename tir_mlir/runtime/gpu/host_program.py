"""The host function of a device module as a list of launches: read once, evaluated for the sizes of a call.

    func.func @main(%A: memref<?xf32>, %n: index) {
      %grid = affine.apply affine_map<(d0) -> (d0 ceildiv 128)>(%n)
      gpu.launch_func @main_kernels::@main_kernel blocks in (%grid, %1, %1) threads in (%128, %1, %1)
          args(%A : memref<?xf32>, %n : index)                 }   ->   HostProgram([Apply, ..., LaunchOp])

A HostProgram holds no IR. Buffers of the function are memory of the device for the time of a call.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, TypeAlias

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import attrs, dtypes, parent_op, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUFuncOp, LaunchFuncOp
from tir_mlir.dialect.ir.op_traits import WIDENINGS
from tir_mlir.dialect.ir.op_views import (
    AffineMinOp,
    AllocLikeOp,
    ConstantOp,
    DimOp,
    IndexCastOp,
    NeutralOp,
    ReinterpretCastOp,
    SameIndicesOp,
    ViewLikeOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.symbolic import IntExpr, Symbol, evaluate, from_affine
from tir_mlir.runtime.drivers.device_driver import Dim3, Launch, TensorMapLayout
from tir_mlir.runtime.gpu.loaded_code import LoadedCode

TENSOR_ALIGNMENT = 16
"""Bytes: an array that a tensor map describes starts at a multiple (CUDA driver API, cuTensorMapEncodeTiled)."""
GRID_LIMITS = (2**31 - 1, 65535, 65535)
_FORMATS = {"float32": "f", "float64": "d", "float16": "e"}


@dataclass(frozen=True)
class DeviceBuffer:
    """A buffer: that of parameter `number`, or temporary `number` of the call."""

    number: int
    is_temporary: bool
    shape: tuple[int, ...] = ()


@dataclass(frozen=True)
class Scalar:
    """The value of parameter `number`, which a call may change without another shape."""

    number: int
    dtype: str


@dataclass(frozen=True)
class TensorMapOf:
    """The tensor map of a buffer."""

    buffer: DeviceBuffer
    layout: TensorMapLayout


CallValue: TypeAlias = "tuple[int, ...] | float | None"
"""Of a parameter: the shape of a buffer, the value of a size, else None."""


LaunchArgument: TypeAlias = "DeviceBuffer | Scalar | TensorMapOf | int"
"""What a kernel is given: a buffer, a number of the call, the tensor map of a buffer, or the bits of a constant."""


@dataclass(frozen=True)
class PreparedLaunch:
    """A launch for given sizes. code: what has the kernel; None: the code of the function that is called."""

    launch: Launch
    arguments: tuple[LaunchArgument, ...]
    code: LoadedCode | None = None

    @property
    def blocks(self) -> int:
        return prod(self.launch.grid)


@dataclass
class PreparedCall:
    """What a call with given sizes does: the bytes of its temporaries, and its launches in order."""

    temporaries: list[int] = field(default_factory=list)
    launches: list[PreparedLaunch] = field(default_factory=list)

    @property
    def has_tensor_maps(self) -> bool:
        """Whether a kernel gets one: native code passes words only."""
        return any(isinstance(a, TensorMapOf) for launch in self.launches for a in launch.arguments)


@dataclass(frozen=True)
class _Operation:
    """An op without IR: its name, the numbers of its operands and results, and what it needs besides."""

    name: str
    operands: tuple[int, ...]
    results: tuple[int, ...]
    extra: Any = None


_BINARY: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.divsi": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "arith.divui": operator.floordiv,
    "arith.floordivsi": operator.floordiv,
    "arith.ceildivsi": lambda a, b: -(-a // b),
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.remsi": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
    "arith.remui": operator.mod,
    "arith.minsi": min,
    "arith.minui": min,
    "arith.maxsi": max,
    "arith.maxui": max,
}
_SAME = IndexCastOp.names | WIDENINGS | SameIndicesOp.names
_EVALUATED = frozenset({*_BINARY, *_SAME, *ViewLikeOp.names, *NeutralOp.names})


class HostProgram:
    """The host function of a program: `prepare(descriptors)` gives its launches for the sizes of a call."""

    def __init__(self, func: ir.Operation):
        self.name = attrs.get(func, "sym_name")
        self._numbers: dict[ir.Value, int] = {}
        (block,) = list(func.regions[0].blocks)
        self._parameters = [self._number(a) for a in block.arguments]
        self._dtypes = [_scalar_dtype(a.type) for a in block.arguments]
        self._operations = [self._read(op.operation) for op in list(block.operations)[:-1]]
        self.kernels = [o.extra.kernel for o in self._operations if o.name in LaunchFuncOp.names]
        self.alignments = _alignments(func, list(block.arguments))
        self._numbers.clear()

    def prepare(self, values: Sequence[CallValue]) -> PreparedCall:
        """The launches of a call. values: for each parameter the shape of a buffer, the value of a size, else None."""
        call = PreparedCall()
        env: dict[int, Any] = {}
        for n, (number, dtype, value) in enumerate(zip(self._parameters, self._dtypes, values, strict=True)):
            if isinstance(value, tuple):
                env[number] = DeviceBuffer(n, False, value)
            else:
                env[number] = Scalar(n, dtype or "int64") if value is None else value
        for operation in self._operations:
            self._run(operation, env, call)
        return call

    # -- reading -------------------------------------------------------------------------------------------------------

    def _number(self, value: ir.Value) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def _read(self, op: ir.Operation) -> _Operation:
        operands = tuple(self._number(v) for v in op.operands)
        results = tuple(self._number(v) for v in op.results)
        extra: Any = None
        if isa(op, LaunchFuncOp):
            extra = _launch_of(op)
        elif isa(op, ConstantOp):
            extra = attrs.from_attr(op.attributes["value"])
        elif op.name.startswith("affine.") and "map" in op.attributes:
            extra = _map_of(ir.AffineMapAttr(op.attributes["map"]).value)
        elif isa(op, AllocLikeOp):
            extra = _shape_and_bits(ir.MemRefType(op.results[0].type))
        elif isa(op, ReinterpretCastOp):
            extra = _is_whole(op)
        elif attrs.TENSOR_MAP in op.attributes:
            extra = _tensor_layout(op)
        elif op.name not in _EVALUATED:
            raise BuildError(f"{self.name}: {op.name} cannot run between kernels; fix: bind its loop, or do it in one")
        return _Operation(op.name, operands, results, extra)

    # -- evaluation ----------------------------------------------------------------------------------------------------

    def _run(self, operation: _Operation, env: dict[int, Any], call: PreparedCall) -> None:
        name, inputs = operation.name, [env[n] for n in operation.operands]
        if name in LaunchFuncOp.names:
            call.launches.append(self._launch(operation.extra, inputs))
        elif name in AllocLikeOp.names:
            shape, bits = operation.extra
            sizes = iter(inputs)
            shape = tuple(next(sizes) if n is None else n for n in shape)
            env[operation.results[0]] = DeviceBuffer(len(call.temporaries), True, shape)
            call.temporaries.append(-(-prod(shape) * bits // 8))
        elif operation.results:
            env[operation.results[0]] = self._value(operation, inputs)

    def _value(self, operation: _Operation, inputs: list[Any]) -> object:
        name = operation.name
        if isinstance(operation.extra, TensorMapLayout):
            return TensorMapOf(inputs[0], operation.extra)
        if name in ConstantOp.names:
            return operation.extra
        if name in _SAME or (name in ReinterpretCastOp.names and operation.extra):
            return inputs[0]
        if name in ViewLikeOp.names:
            return None  # kernels have their own
        if name in DimOp.names:
            return inputs[0].shape[inputs[1]]
        if any(isinstance(v, Scalar) for v in inputs):
            raise BuildError(
                f"{self.name}: a size of a kernel depends on a number that is not a size; fix: make it the size of a "
                "buffer, or T.int64"
            )
        if name in _BINARY:
            return _BINARY[name](*inputs)
        results, names = operation.extra
        bound = dict(zip(names, inputs, strict=True))
        numbers = [evaluate(expr, bound.__getitem__) for expr in results]
        return min(numbers) if name in AffineMinOp.names else max(numbers)

    def _launch(self, read: _LaunchFacts, inputs: list[Any]) -> PreparedLaunch:
        kernel, types = read.kernel, read.types
        grid, block = (_dim3(inputs[start : start + 3]) for start in (read.grid, read.block))
        for axis, (size, limit) in enumerate(zip(grid, GRID_LIMITS, strict=True)):
            if size > limit:
                raise BuildError(
                    f"{self.name}: kernel {kernel} needs {size:,} blocks along blockIdx.{'xyz'[axis]}, a grid has at "
                    f"most {limit:,}; fix: split the loop and bind the outer part to another axis"
                )
        shared = inputs[read.shared] if read.shared is not None else 0
        values = inputs[read.arguments :][: len(types)]
        arguments = tuple(
            v if isinstance(v, (DeviceBuffer, Scalar, TensorMapOf)) else bits_of(t, v)
            for t, v in zip(types, values, strict=True)
        )
        return PreparedLaunch(Launch(kernel, grid, block, shared, types), arguments)


def _dim3(values: list[int]) -> Dim3:
    x, y, z = (max(0, v) for v in values)
    return x, y, z


def bits_of(dtype: str, value: float | int) -> int:
    """The bits of a number of a type, as an integer that is not negative."""
    if dtype in _FORMATS:
        return int.from_bytes(struct.pack("<" + _FORMATS[dtype], value), "little")
    return int(value) & (2 ** (8 if dtype == "bool" else dtypes.bits(dtype)) - 1)


@dataclass(frozen=True)
class _LaunchFacts:
    """The kernel's name, where the operands of a launch start (`shared`: None without dynamic memory), the types of the
    kernel's arguments."""

    kernel: str
    grid: int
    block: int
    shared: int | None
    arguments: int
    types: tuple[str, ...]


def _launch_of(op: ir.Operation) -> _LaunchFacts:
    counts = list(ir.DenseI32ArrayAttr(op.attributes["operandSegmentSizes"]))
    starts = [sum(counts[:n]) for n in range(len(counts) + 1)]
    # async tokens, grid x y z, block x y z, cluster x y z, dynamic shared memory, arguments, async object
    symbols = [str(part) for part in ir.SymbolRefAttr(op.attributes["kernel"]).value]
    shared = starts[10] if counts[10] else None
    arguments = list(op.operands)[starts[11] : starts[12]]
    types = tuple("tensor_map" if _is_tensor_map(v) else _argument_type(v.type) for v in arguments)
    return _LaunchFacts(symbols[-1], starts[1], starts[4], shared, starts[11], types)


def _argument_type(type_: ir.Type) -> str:
    if isinstance(type_, ir.MemRefType) or str(type_).startswith("!llvm.ptr"):
        return "pointer"
    return "int64" if isinstance(type_, ir.IndexType) else dtypes.to_name(type_)


def _is_tensor_map(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and attrs.TENSOR_MAP in value.owner.operation.attributes


def _tensor_layout(op: ir.Operation) -> TensorMapLayout:
    facts, type_ = attrs.get(op, attrs.TENSOR_MAP), ir.MemRefType(op.operands[0].type)
    dtype = dtypes.to_name(type_.element_type)
    return TensorMapLayout(dtype, tuple(type_.shape), tuple(facts["box"]), facts["swizzle"])


def _is_whole(op: ir.Operation) -> bool:
    """Whether a view starts where its buffer does."""
    return list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"])) == [0]


def _alignments(func: ir.Operation, parameters: Sequence[ir.Value]) -> dict[int, int]:
    """By number of a parameter, what the kernels take its address to be a multiple of, beyond its elements."""
    kernels = {attrs.get(op, "sym_name"): op for op in walk.ops(parent_op(func)) if isa(op, GPUFuncOp)}
    alignments: dict[int, int] = {}
    for op in [op for op in walk.ops(func) if isa(op, LaunchFuncOp)]:
        launch = _launch_of(op)
        facts = attrs.get(kernels[launch.kernel], "arg_attrs", [])
        for value, fact in zip(list(op.operands)[launch.arguments :], facts, strict=False):
            number, alignment = _parameter_of(value, parameters), fact.get("llvm.align", 1)
            if _is_tensor_map(value):
                value, alignment = value.owner.operation.operands[0], TENSOR_ALIGNMENT  # type: ignore[union-attr]
                number = _parameter_of(value, parameters)
            if number is not None and alignment > _element_bytes(value.type):
                alignments[number] = max(alignment, alignments.get(number, 1))
    return alignments


def _parameter_of(value: ir.Value, parameters: Sequence[ir.Value]) -> int | None:
    """The parameter behind a buffer; None for a number, and for memory of the function."""
    while view := defining_op(value, ViewLikeOp):
        value = view.source
    return parameters.index(value) if isinstance(value.type, ir.MemRefType) and value in parameters else None


def _element_bytes(type_: ir.Type) -> int:
    return -(-_shape_and_bits(ir.MemRefType(type_))[1] // 8)


def _scalar_dtype(type_: ir.Type) -> str | None:
    return None if isinstance(type_, ir.MemRefType) else _argument_type(type_)


def _map_of(map_: ir.AffineMap) -> tuple[list[IntExpr], list[str]]:
    """The results of a map, and the names of its operands in them."""
    names = [f"d{n}" for n in range(map_.n_dims)] + [f"s{n}" for n in range(map_.n_symbols)]
    operands = [Symbol(name) for name in names]
    return [from_affine(expr, operands[: map_.n_dims], operands[map_.n_dims :]) for expr in map_.results], names


def _shape_and_bits(type_: ir.MemRefType) -> tuple[tuple[int | None, ...], int]:
    shape = tuple(None if type_.is_dynamic_dim(n) else size for n, size in enumerate(type_.shape))
    dtype = dtypes.to_name(type_.element_type)
    return shape, 8 if dtype == "bool" else dtypes.bits(dtype)
