"""Lower a graph to one function on memory: calls of TensorIR functions on views of an arena."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import arith, func, memref

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType, encoding
from tir_mlir.dialect.ir import attrs, create, direct_ops, dtypes
from tir_mlir.passes.graph import size_code
from tir_mlir.passes.graph.arena import LINE
from tir_mlir.passes.graph.places import ARENA, INPUT, OUTPUT, WEIGHT, Place, Plan
from tir_mlir.passes.graph.size_code import Size

WEIGHTS_NAME, ARENA_NAME = "weights", "arena"


def lower_main(module: ir.Module, plans: Mapping[str, Plan]) -> ir.Module:
    """The module of the TensorIR functions that planned graphs call, and a function for each graph, by name.

        func.func @main(%x: tensor<1x784xf32>, %w: tensor<..> {graph.weight = "w"}) -> tensor<1x10xf32> {
          %0 = call @dense.call(%x, %w)
          return %0
        }
    ->  func.func private @dense(%X: memref<..>, %W: memref<..>, %Y: memref<..>) { ... }
        func.func @main(%x: memref<1x784xf32>, %out0: memref<1x10xf32>, %weights: memref<Nxi8>, %arena: memref<Mxi8>) {
          %w = memref.view %weights[%c0][] : memref<Nxi8> to memref<..>
          call @dense(%x, %w, %out0)
        }

    Inputs, outputs, then all weights in one buffer, then the arena. A symbolic size is read from the shape of an input;
    the offsets in the arena are then computed at the start. Errors: GraphError for a size that no input has.
    """
    made = ir.Module.create()
    called = {call.callee for plan in plans.values() for call in plan.calls if not call.packed}
    if "tir.next" in module.operation.attributes:
        made.operation.attributes["tir.next"] = module.operation.attributes["tir.next"]
    with ir.InsertionPoint(made.body):
        for op in direct_ops(module.operation):
            if attrs.get(op, "sym_name") in called or _is_kernel(op):
                _strip(op.clone())
        packed: dict[str, list[ir.Type]] = {}
        for name, plan in plans.items():
            (writer := _Writer(plan, name)).run()
            packed |= writer.packed
        for name, types in packed.items():  # of C: a pointer to a descriptor for each tensor
            create.declare(name, types).attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    return made


def _is_kernel(op: ir.Operation) -> bool:
    """Whether an op is a function that TensorIR functions call: no graph and no program."""
    return op.name == "func.func" and encoding.KIND not in op.attributes and attrs.ID not in op.attributes


def _strip(copy: ir.Operation) -> None:
    """Make a function private, without what is told of it."""
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for name in [n for n in copy.attributes if n.startswith("graph.")]:
        del copy.attributes[name]


class _Writer:
    """Writes the function of a plan at the end of a module."""

    def __init__(self, plan: Plan, name: str):
        self.plan, self.name = plan, name
        self.known: dict[str, ir.Value] = {}
        self.offsets: list[ir.Value] = []
        self.views: dict[Place, ir.Value] = {}
        self.arguments: dict[tuple[str, int], ir.Value] = {}
        self.packed: dict[str, list[ir.Type]] = {}

    def run(self) -> None:
        made = create.func(self.name, *self._signature(), attributes={"global_symbol": self.name, "tir.noalias": True})
        args = list(made.body.arguments)
        spaces = [(INPUT, i) for i in range(len(self.plan.inputs))]
        spaces += [(OUTPUT, i) for i in range(len(self.plan.outputs))]
        self.arguments = dict(zip([*spaces, (WEIGHT, 0), (ARENA, 0)], args, strict=True))
        with create.at_end(made.body):
            self._sizes()
            self._slots()
            for call in self.plan.calls:
                operands = [self._view(p) for p in (*call.inputs, *call.outputs)]
                func.CallOp([], ir.FlatSymbolRefAttr.get(call.callee), operands)
                if call.packed:
                    self.packed.setdefault(call.callee, [v.type for v in operands])
            for source, target in self.plan.copies:
                memref.copy(self._view(source), self._view(target))

    def _signature(self) -> tuple[list[ir.Type], list[dict[str, Any]]]:
        inputs: list[tuple[str, TensorType]] = list(self.plan.inputs)
        outputs = [(output_name(i, self.plan), type_) for i, type_ in enumerate(self.plan.outputs)]
        total = None if self.plan.arena.offsets is None else self.plan.arena.total
        bytes_ = ((WEIGHTS_NAME, self.plan.weight_bytes), (ARENA_NAME, total))
        types: list[ir.Type] = [memref_type(t) for _, t in (*inputs, *outputs)]
        types += [_bytes_type(n) for _, n in bytes_]
        facts = [self._facts(name, t) for name, t in (*inputs, *outputs)] + [{attrs.NAME: name} for name, _ in bytes_]
        return types, facts

    def _facts(self, name: str, type_: TensorType) -> dict[str, Any]:
        facts: dict[str, Any] = {attrs.NAME: name}
        if type_.is_unsigned:
            facts[attrs.DTYPE] = type_.dtype
        if type_.is_symbolic:
            names = sorted({s for size in type_.shape for s in size_code.symbols(size)})
            exprs = [size_code.affine(size, names) for size in type_.shape]
            if all(e is not None for e in exprs):
                facts[attrs.SHAPE] = ir.AffineMapAttr.get(ir.AffineMap.get(0, len(names), exprs))
                facts[attrs.SYMS] = names
        return facts

    def _sizes(self) -> None:
        """Read the value of each named size from the shape of an input."""
        for number, (_, type_) in enumerate(self.plan.inputs):
            for axis, size in enumerate(type_.shape):
                if isinstance(size, str) and size.isidentifier() and size not in self.known:
                    axis_value = arith.constant(ir.IndexType.get(), axis)
                    found = memref.DimOp(self.arguments[INPUT, number], axis_value)
                    found.operation.attributes[attrs.NAME] = ir.StringAttr.get(size)
                    self.known[size] = found.result
        unknown = [s for s in self.plan.symbols if s not in self.known]
        if unknown:
            raise GraphError(
                f"the size {unknown[0]} is in expressions only; fix: an input with a dimension that is {unknown[0]}"
            )

    def _slots(self) -> None:
        arena = self.plan.arena
        if arena.offsets is not None:
            self.offsets = [self._number(offset) for offset in arena.offsets]
            return
        end = self._number(0)
        for sizes in arena.members:
            self.offsets.append(end)
            widths = [self._aligned(size) for size in sizes]
            width = widths[0]
            for other in widths[1:]:
                width = arith.maxsi(width, other)
            end = arith.addi(end, width)

    def _aligned(self, size: Size) -> ir.Value:
        """A size rounded up to cache lines."""
        if isinstance(size, int):
            return self._number(-(-size // LINE) * LINE)
        lines = arith.ceildivsi(size_code.emitted(size, self.known), self._number(LINE))
        return arith.muli(lines, self._number(LINE))

    def _number(self, value: int) -> ir.Value:
        return arith.constant(ir.IndexType.get(), value)

    def _view(self, place: Place) -> ir.Value:
        if place not in self.views:
            self.views[place] = self._made_view(place)
        return self.views[place]

    def _made_view(self, place: Place) -> ir.Value:
        wanted = memref_type(place.type)
        sizes = [size_code.emitted(s, self.known) for s in place.type.shape if isinstance(s, str)]
        if place.space == WEIGHT:
            return memref.view(wanted, self.arguments[WEIGHT, 0], self._number(place.index), sizes)
        if place.space == ARENA:
            return memref.view(wanted, self.arguments[ARENA, 0], self.offsets[place.index], sizes)
        known = self.arguments[place.space, place.index]
        return known if known.type == wanted else reshaped(known, place.type, sizes)


def reshaped(value: ir.Value, type_: TensorType, sizes: list[ir.Value]) -> ir.Value:
    """A row-major buffer with another shape of as many elements: collapsed to one axis, then expanded."""
    rank, wanted = ir.MemRefType(value.type).rank, memref_type(type_)
    element = wanted.element_type
    unknown = ir.ShapedType.get_dynamic_size()
    if rank != 1:
        shape = ir.MemRefType(value.type).shape
        length = unknown if unknown in shape else int(np.prod(shape))
        flat = ir.MemRefType.get([length], element)
        value = (
            memref.collapse_shape(flat, value, [list(range(rank))])
            if rank
            else memref.expand_shape(flat, value, [], [], [1])
        )
    if wanted.rank == 1:
        return value if value.type == wanted else memref.cast(wanted, value)
    if wanted.rank == 0:
        return memref.collapse_shape(wanted, value, [])
    static = [s if isinstance(s, int) else unknown for s in type_.shape]
    return memref.expand_shape(wanted, value, [list(range(wanted.rank))], sizes, static)


def output_name(number: int, plan: Plan) -> str:
    """The name of the parameter of an output."""
    return "out" if len(plan.outputs) == 1 else f"out{number}"


def memref_type(type_: TensorType) -> ir.MemRefType:
    """The row-major buffer of a tensor."""
    unknown = ir.ShapedType.get_dynamic_size()
    sizes = [size if isinstance(size, int) else unknown for size in type_.shape]
    return ir.MemRefType.get(sizes, dtypes.element_type(type_.dtype))


def _bytes_type(length: int | None) -> ir.MemRefType:
    size = ir.ShapedType.get_dynamic_size() if length is None else length
    return ir.MemRefType.get([size], ir.IntegerType.get_signless(8))


def output_shapes(plan: Plan, known: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The shapes of the outputs where the sizes have these values."""
    return [tuple(size_code.value(s, known) for s in type_.shape) for type_ in plan.outputs]
