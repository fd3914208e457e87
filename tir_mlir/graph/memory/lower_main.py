"""Lower a graph to one function on memory: calls of TensorIR functions on views of an arena, branches, loops."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from mlir import ir
from mlir.dialects import affine, arith, func, memref, scf

from tir_mlir.dialect.calls import body_symbol
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.ir import Func, Index, attrs, create, direct_ops, dtypes, funcs, walk
from tir_mlir.dialect.ir.op_views import CallOp, FuncOp, isa
from tir_mlir.dialect.symbolic import SizeOrigin, sources
from tir_mlir.graph import size_code
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.buffer_assignment import ARENA, INPUT, OUTPUT, WEIGHT, BufferSlot, ExecutionPlan, PlannedCall
from tir_mlir.graph.memory.calls_in_place import join_parameters
from tir_mlir.graph.memory.control_calls import (
    Control,
    Copy,
    PlannedBranch,
    PlannedLoop,
    RegionSteps,
    SizeCount,
    slots_of,
)
from tir_mlir.graph.memory.data_sizes import is_data_dependent, storage_type
from tir_mlir.graph.size_code import Size

WEIGHTS_NAME, ARENA_NAME, ARENA_BYTES = "weights", "arena", "arena_bytes"


def lower_main(module: ir.Module, plans: Mapping[str, ExecutionPlan], in_arena: bool = True) -> ir.Module:
    """The module of the TensorIR functions that planned graphs call, and a function for each graph, by name.

        func.func @main(%x: tensor<1x784xf32>, %w: tensor<..> {graph.weight = "w"}) -> tensor<1x10xf32> {
          %0 = call @dense.call(%x, %w)
          return %0
        }
    ->  func.func private @tir.dense(%X: memref<..>, %W: memref<..>, %Y: memref<..>) { ... }
        func.func @main(%x: memref<1x784xf32>, %out0: memref<1x10xf32>, %weights: memref<Nxi8>, %arena: memref<Mxi8>) {
          %w = memref.view %weights[%c0][] : memref<Nxi8> to memref<..>
          call @tir.dense(%x, %w, %out0)
        }

    Inputs, outputs, then all weights in one buffer, then the arena. A symbolic size is read from the shape of an input;
    the offsets in the arena are then computed at the start. in_arena: else the functions have neither weights nor an
    arena; they allocate each buffer, for plans without weights that share no memory.
    Errors: GraphError for a size that no input has.
    """
    lowered = ir.Module.create()
    functions = {attrs.get(op, "sym_name"): op for op in direct_ops(module.operation) if isa(op, FuncOp)}
    calls = [call for plan in plans.values() for call in plan.every_call]
    called = _callees(functions, [call.callee for call in calls if not call.packed])
    if "tir.next" in module.operation.attributes:
        lowered.operation.attributes["tir.next"] = module.operation.attributes["tir.next"]
    with ir.InsertionPoint(lowered.body):
        for name in called:
            _add_private(functions[name], functions)
        for callee, pairs in dict.fromkeys((c.callee, c.in_place) for c in calls):
            if pairs:
                joined = _add_private(functions[callee], functions)
                joined.attributes["sym_name"] = ir.StringAttr.get(own_symbol(callee, pairs))
                join_parameters(joined, pairs)
        symbols = {f.name: f for f in funcs(lowered)}
        for symbol, size in _scratch(plans).items():
            add_scratch(symbols[symbol], size)
        parameters = {f.name: [v.type for v in f.args] for f in funcs(lowered)}
        packed: dict[str, list[ir.Type]] = {}
        for name, plan in plans.items():
            (writer := _MainWriter(plan, name, in_arena, parameters)).run()
            packed |= writer.packed
        for name, types in packed.items():  # of C: a pointer to a descriptor for each tensor
            create.declare(name, types).attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    return lowered


def _scratch(plans: Mapping[str, ExecutionPlan]) -> dict[str, int]:
    """The bytes that functions are given for themselves, by symbol."""
    calls = [call for plan in plans.values() for call in plan.every_call if call.scratch is not None]
    return {own_symbol(c.callee, c.in_place): int(c.scratch.type.shape[0]) for c in calls if c.scratch is not None}


def add_scratch(func: Func, size: int) -> None:
    """Append a parameter of bytes, in which lowering places buffers of the function."""
    facts = attrs.argument_attrs(func.op)
    func.body.add_argument(_bytes_type(size), func.op.location)
    types = [v.type for v in func.args]
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    scratch_facts = {attrs.NAME: "scratch", attrs.SCRATCH: True}
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([*map(ir.DictAttr.get, facts), attrs.to_attr(scratch_facts)])


def own_symbol(callee: str, in_place: Sequence[tuple[int, int]] = ()) -> str:
    """The symbol of a TensorIR function next to the graph's, which may have the same name."""
    return ".".join([body_symbol(callee), *(f"{result}_in_{source}" for source, result in in_place)])


def _callees(functions: Mapping[str, ir.Operation], names: Sequence[str]) -> list[str]:
    """The functions of these names, and those that they call, in order."""
    reached: dict[str, None] = {}
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        if name in functions and name not in reached:
            reached[name] = None
            waiting += [_callee(op) for op in walk.ops(functions[name]) if isa(op, CallOp)]
    return list(reached)


def _callee(call: ir.Operation) -> str:
    return ir.FlatSymbolRefAttr(call.attributes["callee"]).value


def _add_private(op: ir.Operation, functions: Mapping[str, ir.Operation]) -> ir.Operation:
    """Copy a function, without what is known of it; programs get symbols of their own, kernels keep theirs."""
    copy = op.clone()
    copy.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for name in [n for n in copy.attributes if n.startswith("graph.")]:
        del copy.attributes[name]
    if attrs.ID in copy.attributes:
        copy.attributes["sym_name"] = ir.StringAttr.get(own_symbol(attrs.get(op, "sym_name")))
    for inner in walk.ops(copy):
        if isa(inner, CallOp) and attrs.ID in functions[_callee(inner)].attributes:
            inner.attributes["callee"] = ir.FlatSymbolRefAttr.get(own_symbol(_callee(inner)))
    return copy


class _MainWriter:
    """Writes the function of a plan at the end of a module."""

    def __init__(self, plan: ExecutionPlan, name: str, in_arena: bool, parameters: Mapping[str, Sequence[ir.Type]]):
        """parameters: the types of those of the programs that are called."""
        self.plan, self.name, self.in_arena, self.parameters = plan, name, in_arena, parameters
        self.allocated: dict[int, tuple[ir.Value, TensorType]] = {}
        self.known: dict[str, ir.Value] = {}
        self.offsets: list[ir.Value] = []
        self.views: dict[BufferSlot, ir.Value] = {}
        self.arguments: dict[tuple[str, int], ir.Value] = {}
        self.packed: dict[str, list[ir.Type]] = {}
        self.least: ir.AffineExpr | None = None
        self.weight_names: dict[int, str] = {}
        for weight, (offset, _) in plan.weights.items():
            self.weight_names.setdefault(offset, weight)

    def run(self) -> None:
        entry = create.func(self.name, *self._signature(), attributes={"global_symbol": self.name, "tir.noalias": True})
        args = list(entry.body.arguments)
        spaces = [(INPUT, i) for i in range(len(self.plan.inputs))]
        spaces += [(OUTPUT, i) for i, _ in self.plan.made_outputs]
        spaces += [(WEIGHT, 0), (ARENA, 0)] if self.in_arena else []
        self.arguments = dict(zip(spaces, args, strict=True))
        with create.at_end(entry.body):
            self._sizes()
            known = list(self.known)
            self._slots()
            self._views()
            self.steps(RegionSteps(tuple(self.plan.calls), tuple(self.plan.copies)))
        names = [*known, *([ARENA_BYTES] if self.least is not None else [])]
        conditions = self._limits(known)
        if self.least is not None:  # of the arena: each view is inside of it
            conditions.append(ir.AffineExpr.get_add(ir.AffineSymbolExpr.get(len(known)), self.least * -1))
        if conditions:
            condition = ir.IntegerSet.get(0, len(names), conditions, [False] * len(conditions))
            entry.op.attributes[attrs.ASSUME] = ir.IntegerSetAttr.get(condition)
            attrs.put(entry.op, attrs.SYMS, names)

    def _views(self) -> None:
        """The views whose sizes are known here."""
        for storage in self._plan_slots():
            if all(name in self.known for size in storage.type.shape for name in size_code.symbols(size)):
                self.view(storage)

    def known_size(self, name: str, number: ir.Value, least: int, bound: ir.Value) -> None:
        """Take an integer, limited to the least and a bound, as the size of a name from here on.

        Comparisons of programs begin at 1, as they do with sizes of inputs: a sum of no terms is none in a loop nest.
        """
        start = self._number(least if self.in_arena else max(1, least))
        index = arith.index_cast(ir.IndexType.get(), number)
        self.known[name] = arith.minsi(arith.maxsi(index, start), bound)
        self._views()

    def _limits(self, names: Sequence[str]) -> list[ir.AffineExpr]:
        """least <= size and size <= greatest (-1: no greatest), of the sizes that have a range."""
        conditions = []
        for text, (least, greatest) in self.plan.ranges.items():
            size = size_code.affine(text, names) if set(size_code.symbols(text)) <= set(names) else None
            if size is None:
                continue
            if least > 0:
                conditions.append(ir.AffineExpr.get_add(size, ir.AffineConstantExpr.get(-least)))
            if greatest >= 0:
                conditions.append(ir.AffineExpr.get_add(size * -1, ir.AffineConstantExpr.get(greatest)))
        return conditions

    def _plan_slots(self) -> list[BufferSlot]:
        """The memory of all values, in order: views come before calls, as the text of a program has them."""
        called = slots_of(self.plan.calls)
        return [*dict.fromkeys((*called, *(p for copy in self.plan.copies for p in copy)))]

    def steps(self, steps: RegionSteps) -> None:
        """Write calls, then copies, at the insertion point."""
        for call in steps.calls:
            if call.control is None:
                self._call(call)
            else:
                _write_control(call.control, self)
        for source, target in steps.copies:
            memref.copy(self.view(source), self.view(target))

    def size(self, size: Size) -> ir.Value:
        """The value of a size."""
        return size_code.emit_size(size, self.known)

    def _call(self, call: PlannedCall) -> None:
        same = {result for _, result in call.in_place}
        operands = [self.view(p) for n, p in enumerate((*call.inputs, *call.outputs)) if n not in same]
        operands += [] if call.scratch is None else [self.view(call.scratch)]
        symbol = call.callee if call.packed else own_symbol(call.callee, call.in_place)
        param_types = self.parameters.get(symbol, [v.type for v in operands])  # of a program for any size
        operands = [
            v if v.type == type_ else memref.cast(type_, v) for v, type_ in zip(operands, param_types, strict=True)
        ]
        func.CallOp([], ir.FlatSymbolRefAttr.get(symbol), operands)
        if call.packed:
            self.packed.setdefault(call.callee, [v.type for v in operands])

    def _signature(self) -> tuple[list[ir.Type], list[dict[str, object]]]:
        inputs: list[tuple[str, TensorType]] = list(self.plan.inputs)
        outputs = [
            (output_name(i, self.plan), storage_type(type_, self.plan.bounds)) for i, type_ in self.plan.made_outputs
        ]
        total = None if self.plan.arena.offsets is None else self.plan.arena.total
        bytes_ = ((WEIGHTS_NAME, self.plan.weight_bytes), (ARENA_NAME, total)) if self.in_arena else ()
        types: list[ir.Type] = [memref_type(t) for _, t in (*inputs, *outputs)]
        types += [_bytes_type(n) for _, n in bytes_]
        facts = [self._facts(name, t) for name, t in (*inputs, *outputs)] + [{attrs.NAME: name} for name, _ in bytes_]
        if self.in_arena and total is None:
            sizes = ir.AffineMap.get(0, 1, [ir.AffineSymbolExpr.get(0)])
            facts[-1] |= {attrs.SHAPE: ir.AffineMapAttr.get(sizes), attrs.SYMS: [ARENA_BYTES]}
        return types, facts

    def _facts(self, name: str, type_: TensorType) -> dict[str, object]:
        facts: dict[str, object] = {attrs.NAME: name}
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
        for size, source in sources([type_.shape for _, type_ in self.plan.inputs]).items():
            self.known[size] = self._solve_size(self.arguments[INPUT, source.tensor], source, size)
        unknown = [s for s in self.plan.symbols if s not in self.known]
        if unknown:
            raise GraphError(
                f"the size {unknown[0]} is in expressions only; fix: an input with a dimension that is {unknown[0]}"
            )

    def _solve_size(self, buffer: ir.Value, source: SizeOrigin, name: str) -> ir.Value:
        """The size of which an extent is a multiple, plus a number."""
        if (source.factor, source.rest) == (1, 0):
            return self._extent(buffer, source.axis, name)
        extent = memref.DimOp(buffer, self._number(source.axis)).result
        top = create.apply(Index.from_value(extent) - source.rest)
        quotient = arith.floordivsi(top, self._number(source.factor))
        quotient.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
        return quotient

    def _extent(self, buffer: ir.Value, axis: int, name: str) -> ir.Value:
        dim = memref.DimOp(buffer, self._number(axis))
        dim.operation.attributes[attrs.NAME] = ir.StringAttr.get(name)
        return dim.result

    def _slots(self) -> None:
        arena = self.plan.arena
        if not self.in_arena:
            return
        if arena.offsets is not None:
            self.offsets = [self._number(offset) for offset in arena.offsets]
            return
        self._extent(self.arguments[ARENA, 0], 0, ARENA_BYTES)
        widths = [affine_width(sizes, list(self.known)) for sizes in arena.members]
        if all(w is not None for w in widths):
            self._affine_slots([w for w in widths if w is not None])
            return
        end = self._number(0)
        for sizes in arena.members:
            self.offsets.append(end)
            widths = [self._align_to_lines(size) for size in sizes]
            width = widths[0]
            for candidate in widths[1:]:
                width = arith.maxsi(width, candidate)
            end = arith.addi(end, width)

    def _affine_slots(self, widths: Sequence[ir.AffineExpr]) -> None:
        """Offsets as affine expressions, of which it can be proved that the views are inside of the arena."""
        end: ir.AffineExpr = ir.AffineConstantExpr.get(0)
        for width in widths:
            number = end.value if isinstance(end, ir.AffineConstantExpr) else None
            map_ = ir.AffineMap.get(0, len(self.known), [end])
            offset = self._number(number) if number is not None else affine.apply(map_, list(self.known.values()))
            self.offsets.append(offset)
            end = end + width
        self.least = end

    def _align_to_lines(self, size: Size) -> ir.Value:
        """A size rounded up to cache lines."""
        if isinstance(size, int):
            return self._number(-(-size // LINE) * LINE)
        lines = arith.ceildivsi(size_code.emit_size(size, self.known), self._number(LINE))
        return arith.muli(lines, self._number(LINE))

    def _number(self, value: int) -> ir.Value:
        return arith.constant(ir.IndexType.get(), value)

    def view(self, storage: BufferSlot) -> ir.Value:
        """The buffer of a position."""
        if storage not in self.views:
            self.views[storage] = self._make_view(storage)
        return self.views[storage]

    def _make_view(self, storage: BufferSlot) -> ir.Value:
        view_type = memref_type(storage.type)
        sizes = [size_code.emit_size(s, self.known) for s in storage.type.shape if isinstance(s, str)]
        if storage.space == WEIGHT:
            view = memref.view(view_type, self.arguments[WEIGHT, 0], self._number(storage.index), sizes)
            return self._set_name(view, self.weight_names.get(storage.index, WEIGHTS_NAME))
        if storage.space == ARENA and not self.in_arena:
            return self._allocation(storage, view_type, sizes)
        if storage.space == ARENA:
            view = memref.view(view_type, self.arguments[ARENA, 0], self.offsets[storage.index], sizes)
            return self._set_name(view, f"buffer{storage.index}")
        argument_type = (
            self.plan.inputs[storage.index][1] if storage.space == INPUT else self.plan.outputs[storage.index]
        )
        argument = self.arguments[storage.space, storage.index]
        return self._view_as(argument, storage_type(argument_type, self.plan.bounds), storage.type, sizes)

    def _view_as(self, buffer: ir.Value, type_: TensorType, result: TensorType, sizes: list[ir.Value]) -> ir.Value:
        """A buffer with the shape of another type, or the beginning of it."""
        if _is_shape_of(type_, result):
            return buffer
        if is_data_dependent(result, self.plan.bounds):
            return _row_major(flat(buffer), memref_type(result), sizes)
        return reshape_buffer(buffer, result, sizes)

    @staticmethod
    def _set_name(value: ir.Value, name: str) -> ir.Value:
        ir.OpResult(value).owner.operation.attributes[attrs.NAME] = ir.StringAttr.get(name)
        return value

    def _allocation(self, storage: BufferSlot, alloc_type: ir.MemRefType, sizes: list[ir.Value]) -> ir.Value:
        if storage.index not in self.allocated:
            size = storage_type(storage.type, self.plan.bounds)
            if size != storage.type:
                alloc_type, sizes = memref_type(size), [self.size(s) for s in size.shape if isinstance(s, str)]
            alloc = self._set_name(memref.alloc(alloc_type, sizes, []), f"buffer{storage.index}")
            self.allocated[storage.index] = alloc, size
        sizes = [self.size(s) for s in storage.type.shape if isinstance(s, str)]
        return self._view_as(*self.allocated[storage.index], storage.type, sizes)


def _is_shape_of(lhs: TensorType, rhs: TensorType) -> bool:
    """Whether two buffers have one shape: (n, m) is not (m, n), though MLIR has one type for both."""
    return lhs.dtype == rhs.dtype and lhs.shape == rhs.shape


def flat(value: ir.Value) -> ir.Value:
    """The elements of a row-major buffer as one axis."""
    type_ = ir.MemRefType(value.type)
    if type_.rank == 1:
        return value
    unknown = ir.ShapedType.get_dynamic_size()
    length = unknown if unknown in type_.shape else int(np.prod(type_.shape))
    vector = ir.MemRefType.get([length], type_.element_type)
    if not type_.rank:
        return memref.expand_shape(vector, value, [], [], [1])
    return memref.collapse_shape(vector, value, [list(range(type_.rank))])


def reshape_buffer(value: ir.Value, type_: TensorType, sizes: list[ir.Value]) -> ir.Value:
    """A row-major buffer with another shape of as many elements: collapsed to one axis, then expanded."""
    result_type = memref_type(type_)
    element = result_type.element_type
    unknown = ir.ShapedType.get_dynamic_size()
    value = flat(value)
    if result_type.rank == 1:
        return value if value.type == result_type else memref.cast(result_type, value)
    if result_type.rank == 0:
        return memref.collapse_shape(result_type, value, [])
    static = [s if isinstance(s, int) else unknown for s in type_.shape]
    vector = ir.MemRefType.get([unknown if unknown in static else int(np.prod(static))], element)
    value = value if value.type == vector else memref.cast(vector, value)  # of no elements: 0 is n * 0
    if static.count(unknown) + (0 in static) > 1:  # MLIR's expand-strided-metadata aborts on expand_shape to these
        return _row_major(value, result_type, sizes)
    return memref.expand_shape(result_type, value, [list(range(result_type.rank))], sizes, static)


def _row_major(value: ir.Value, result_type: ir.MemRefType, sizes: list[ir.Value]) -> ir.Value:
    """A buffer of one axis with a shape of several unknown sizes, as `memref.reinterpret_cast` with their strides."""
    unknown, waiting = ir.ShapedType.get_dynamic_stride_or_offset(), list(sizes)
    extents = [
        waiting.pop(0) if result_type.is_dynamic_dim(n) else result_type.shape[n] for n in range(result_type.rank)
    ]
    step: ir.Value | int = 1
    static, strides = [], []
    for extent in reversed(extents):
        static.insert(0, step if isinstance(step, int) else unknown)
        strides[:0] = [] if isinstance(step, int) else [step]
        if isinstance(extent, int) and isinstance(step, int):
            step *= extent
        else:
            step = arith.muli(
                *(v if isinstance(v, ir.Value) else arith.constant(ir.IndexType.get(), v) for v in (step, extent))
            )
    return memref.reinterpret_cast(result_type, value, [], sizes, strides, [0], result_type.shape, static)


def affine_width(sizes: Sequence[Size], names: Sequence[str]) -> ir.AffineExpr | None:
    """The greatest of some sizes, rounded up to cache lines, where one of them is it whatever the named sizes are:
    (8 * n, 4 * n + 4) -> None, (8 * n, 4 * n) -> (8 * n) ceildiv 64 * 64."""
    greatest = next((s for s in sizes if all(size_code.at_least(s, size) for size in sizes)), None)
    width = None if greatest is None else size_code.affine(greatest, names)
    return None if width is None else ir.AffineExpr.get_ceil_div(width, LINE) * LINE


def output_name(number: int, plan: ExecutionPlan) -> str:
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


def output_shapes(plan: ExecutionPlan, size_values: Mapping[str, int]) -> list[tuple[int, ...]]:
    """The shapes of the outputs where the sizes have these values; where data decide on one, those of its memory."""
    rooms = [storage_type(type_, plan.bounds) for type_ in plan.outputs]
    return [tuple(size_code.value(s, size_values) for s in type_.shape) for type_ in rooms]


def _write_control(control: Control, memory: _MainWriter) -> None:
    """Write a branch or a loop at the insertion point.

    Branch(p, then, otherwise)   ->   %t = memref.load %p[] : memref<i1>
                                      scf.if %t { call @tir.exp(%x, %y) } else { call @tir.neg(%x, %y) }
    """
    if isinstance(control, PlannedBranch):
        branch = scf.IfOp(memref.load(memory.view(control.condition), []), has_else=True)
        for region, steps in zip(branch.operation.regions, (control.then, control.otherwise), strict=True):
            with ir.InsertionPoint(region.blocks[0]):
                memory.steps(steps)
                scf.yield_([])
        return
    if isinstance(control, SizeCount):
        number = memref.load(memory.view(control.number), [])
        memory.known_size(control.size, number, control.least, memory.size(control.bound))
        return
    for source, target in control.before:
        memref.copy(memory.view(source), memory.view(target))
    count = _count(control, memory)
    if control.condition is None:
        assert count is not None
        _for(count, lambda step: _step(control, step, count, memory))
    else:
        _while(control, count, memory)


def _number(value: int) -> ir.Value:
    return arith.constant(ir.IndexType.get(), value)


def _count(loop: PlannedLoop, memory: _MainWriter) -> ir.Value | None:
    if loop.steps is None:
        return None
    if isinstance(loop.steps, (int, str)):
        return memory.size(loop.steps)
    return arith.index_cast(ir.IndexType.get(), memref.load(memory.view(loop.steps), []))


def _for(count: ir.Value, body: Callable[[ir.Value], None]) -> None:
    """for step in range(count): body(step)"""
    repeated = scf.ForOp(_number(0), count, _number(1))
    with ir.InsertionPoint(repeated.body):
        body(repeated.induction_variable)
        scf.yield_([])


def _while(loop: PlannedLoop, count: ir.Value | None, memory: _MainWriter) -> None:
    """while step < count and condition: body(step); step += 1"""
    index = ir.IndexType.get()
    repeated = scf.WhileOp([index], [_number(0)])
    test_block, body_block = (region.blocks.append(index) for region in repeated.operation.regions)
    assert loop.condition is not None
    with ir.InsertionPoint(test_block):
        step = test_block.arguments[0]
        holds = memref.load(memory.view(loop.condition), [])
        if count is not None:
            holds = arith.andi(arith.cmpi(arith.CmpIPredicate.slt, step, count), holds)
        scf.condition(holds, [step])
    with ir.InsertionPoint(body_block):
        step = body_block.arguments[0]
        _step(loop, step, None, memory)
        scf.yield_([arith.addi(step, _number(1))])


def _step(loop: PlannedLoop, step: ir.Value, count: ir.Value | None, memory: _MainWriter) -> None:
    number = arith.index_cast(ir.IntegerType.get_signless(64), step)
    memref.store(number, memory.view(loop.index), [])
    row = step
    if loop.backward and count is not None:
        row = arith.subi(arith.subi(count, _number(1)), step)
    for pair in loop.rows:
        _copy_row(pair, row, memory, reads=True)
    memory.steps(loop.body)
    for source, target in loop.after:
        memref.copy(memory.view(source), memory.view(target))
    for pair in loop.stacked:
        _copy_row(pair, row, memory, reads=False)


def _copy_row(pair: Copy, row: ir.Value, memory: _MainWriter, reads: bool) -> None:
    """row[...] = whole[step, ...], or the other way."""
    source, target = memory.view(pair[0]), memory.view(pair[1])
    type_: TensorType = pair[1].type if reads else pair[0].type
    indices: list[ir.Value] = []

    def nest(axis: int, index: ir.Value | None = None) -> None:
        if index is not None:
            indices.append(index)
        if axis < len(type_.shape):
            _for(memory.size(type_.shape[axis]), lambda step: nest(axis + 1, step))
        else:
            inner_indices = list(indices)
            value = memref.load(source, [row, *inner_indices] if reads else inner_indices)
            memref.store(value, target, inner_indices if reads else [row, *inner_indices])
        if index is not None:
            indices.pop()

    nest(0)
