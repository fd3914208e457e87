"""Accumulators of warpgroups: registers of 128 threads, products of tiles by `wgmma`, all else element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.analysis.fragment_layouts import MMA_LAYOUTS, FragmentLayout
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    constraints,
    create,
    edit,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.op_traits import accessed_memref, may_write
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineIfOp, AffineStoreOp, AllocOp, isa
from tir_mlir.passes.lower.gpu.matrices.warpgroup_products import Product, emit_product, read_product, wait_late
from tir_mlir.passes.lower.gpu.matrices.warpgroups import ACCUMULATOR, WARPGROUP
from tir_mlir.passes.lower.gpu.nests import KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.thread_tags import is_local, is_shared
from tir_mlir.passes.lower.op_attrs import index_text
from tir_mlir.passes.lower.registry import location_text, lowering, programs


@lowering("tir-lower-gpu-accumulators", "Make accumulators of warpgroups registers, and products of them wgmma")
def run(module: ir.Module) -> None:
    """Divide the nests on buffers of scope `wgmma.accumulator` among the threads of a warpgroup.

        %acc = memref.alloc : memref<64x256xf32, "wgmma.accumulator">     memref<128xf32, "local">
        if %t == 0 { for %i, %j, %k {                                     wgmma.fence
          %acc[%i, %j] += %A[.., %i, %k] * %B[.., %k, %j]          -->    nvvm.wgmma.mma_async (for 16 of %k)
        }}                                                                ..., nvvm.wgmma.commit, nvvm.wgmma.wait
        if %t == 0 { for %i, %j { %C[%i, %j] = %acc[%i, %j] }}            for %r { %C[row(%t, %r), ..] = .. }

    A thread has the elements that the layout of the accumulator gives it (`fragment_layouts`): each is done once, as
    the layout is one-to-one. The operands of a product are tiles that the TMA fills; their descriptors are compared
    with the address of each element. A wait is for all products, in a loop of a channel with three tiles or more for
    all but those of the iteration, whose tiles are then free one iteration later. Requires the form after
    `tir-lower-gpu-channels`. Errors: LoweringError for other tiles than 64 x 8 n, types and layouts than those of
    `wgmma`, and for nests that access memory which other threads access.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            allocs = [op for op in walk.ops(func.op) if isa(op, AllocOp) and _is_accumulator(op.results[0], nest)]
            tiles: dict[ir.Value, _Accumulator] = {op.results[0]: _Accumulator.allocate(op, nest) for op in allocs}
            roots = list(dict.fromkeys(_guard_of(op, nest) for value in tiles for op in _accesses(value)))
            parts = [_read(root, tiles, nest) for root in roots]
            waits = dict(wait for part in parts if (wait := part()) is not None)
            wait_late(nest, waits)
            for op in allocs:
                for use in [use.owner.operation for use in op.results[0].uses]:
                    edit.drop(use)
                edit.drop(op)


def _is_accumulator(value: ir.Value, nest: KernelNest) -> bool:
    return Buffer(value).scope == ACCUMULATOR and any(walk.is_inside(op, nest.root) for op in _accesses(value))


def _accesses(value: ir.Value) -> list[ir.Operation]:
    found = dict.fromkeys(use.owner.operation for use in value.uses)
    return [op for op in found if isa(op, AffineElementAccessOp)]


@dataclass(frozen=True)
class _Accumulator:
    """A tile of 64 rows: its registers, and where each thread has which element."""

    shape: tuple[int, int]
    dtype: str
    layout: FragmentLayout
    registers: ir.Value

    @classmethod
    def allocate(cls, op: ir.Operation, nest: KernelNest) -> _Accumulator:
        buffer = Buffer(op.results[0])
        text = MMA_LAYOUTS.get((ACCUMULATOR, buffer.dtype))
        shape = _tile_shape(buffer)
        if text is None or buffer.dtype != "float32":
            _refuse(op, f"{buffer.name} has elements of {buffer.dtype}; sums are of float32", "declare it so")
        if len(shape) != 2 or shape[0] != 64 or shape[1] % 8 or not 8 <= shape[1] <= 256:
            _refuse(
                op,
                f"a warpgroup has {' x '.join(map(str, shape))} elements of {buffer.name}; a tile has 64 rows and a "
                "multiple of 8 columns up to 256",
                "split the rows by 64, bind the outer part to threadIdx.y, and split the columns",
            )
        layout = FragmentLayout.parse(text).tile_to(shape)
        type_ = ir.MemRefType.get([layout.registers], buffer.type.element_type, memory_space=ir.StringAttr.get("local"))
        inside = walk.is_inside(op, nest.root)
        point = ir.InsertionPoint(op) if inside else create.at_start(nest.root.regions[0].blocks[0])
        facts = {name: op.attributes[name] for name in op.attributes}
        with point, op.location:
            registers = ir.Operation.create("memref.alloc", [type_], [], facts).results[0]
        return cls((shape[0], shape[1]), buffer.dtype, layout, registers)


def _tile_shape(buffer: Buffer) -> tuple[int, ...]:
    """The elements that the loops of accesses ask for: at the end of a matrix, conditions leave some out."""
    shape = [n or 0 for n in buffer.shape]
    for op in _accesses(buffer.value):
        loops = {Loop(p).var: Loop(p) for p in walk.parents(op) if is_loop(p)}
        for number, index in enumerate(walk.access_indices(op)):
            loop = loops.get(walk.without_unit_loops(index).is_value())  # type: ignore[arg-type]
            shape[number] = max(shape[number], 0 if loop is None else loop.const_extent or 0)
    return tuple(shape)


def _guard_of(access: ir.Operation, nest: KernelNest) -> ir.Operation:
    """The condition of the first thread around an access."""
    axis = nest.threads[-1]
    for parent in walk.parents(access):
        if isa(parent, AffineIfOp) and any(_is_first(c, axis) for c in constraints(parent)):
            if axis.kind != "threadIdx.x" or axis.const_extent != WARPGROUP:
                _refuse(
                    access,
                    f"a block has {axis.const_extent} threads along threadIdx.x; those of a warpgroup are {WARPGROUP}",
                    "bind 128 threads to threadIdx.x, and warpgroups to threadIdx.y",
                )
            return parent
    _refuse(access, "no condition of a first thread is around a nest on an accumulator", "run tir-lower-gpu-warpgroups")


def _is_first(constraint: Constraint, axis: Loop) -> bool:
    return constraint.is_eq and constraint.index.simplify().is_value() == axis.var


def _read(
    guard: ir.Operation, tiles: Mapping[ir.Value, _Accumulator], nest: KernelNest
) -> Callable[[], tuple[ir.Operation, ir.Value] | None]:
    """What replaces a nest; all of its checks are done. It returns the wait of a product, and its registers."""
    axis = nest.threads[-1]
    rest = [c for c in constraints(guard) if not _is_first(c, axis)]
    if any(c.index.uses(axis.var) for c in rest):
        _refuse(guard, "a nest on an accumulator is under a condition that threads of a warpgroup differ in", "move it")
    product = read_product(guard, [value for value in tiles])
    if product is not None:
        return lambda: _replace(guard, rest, product, tiles[product.sums].registers)
    elements = _Elements.read(guard, tiles)
    _check_memory(guard, nest)
    return lambda: _unguard(guard, rest, elements.divide(axis))


def _replace(
    guard: ir.Operation, rest: Sequence[Constraint], product: Product, registers: ir.Value
) -> tuple[ir.Operation, ir.Value]:
    with ir.InsertionPoint(guard), guard.location:
        if not rest:
            wait = emit_product(product, registers)
        else:
            with create.at_end(create.guard(rest).regions[0].blocks[0]):
                wait = emit_product(product, registers)
    edit.drop(guard)
    return wait, registers


def _unguard(guard: ir.Operation, rest: Sequence[Constraint], done: None) -> None:
    if rest:
        edit.rebuild_guard(guard, list(rest))
        return
    for op in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
        edit.move_before(op, guard)
    edit.drop(guard)


def _check_memory(guard: ir.Operation, nest: KernelNest) -> None:
    """Refuse memory that a nest accesses and that is written elsewhere too: threads do it in no order."""
    inside = [op for op in walk.ops(guard) if isa(op, AffineElementAccessOp)]
    for op in inside:
        buffer = Buffer(accessed_memref(op))
        if buffer.scope == ACCUMULATOR or is_local(buffer):
            continue
        users = [use.owner.operation for use in buffer.value.uses if walk.is_inside(use.owner.operation, nest.root)]
        others = [user for user in users if user != op]
        if is_shared(buffer) or (others and any(may_write(user.name) for user in users)):
            _refuse(
                op,
                f"{buffer.name} is accessed by a nest on an accumulator and by other statements of the kernel, and its "
                "threads are not in step",
                f"let the nest access accumulators and {buffer.name} alone, or a buffer of its own",
            )


@dataclass(frozen=True)
class _Elements:
    """A nest that does the same for each element of a tile."""

    rows: ir.Operation
    columns: ir.Operation
    tile: _Accumulator
    tiles: Mapping[ir.Value, _Accumulator]

    @staticmethod
    def read(guard: ir.Operation, tiles: Mapping[ir.Value, _Accumulator]) -> _Elements:
        accesses = tuple(
            (op, tiles[accessed_memref(op)])
            for op in walk.ops(guard)
            if isa(op, AffineElementAccessOp) and accessed_memref(op) in tiles
        )
        first, tile = accesses[0]
        loops = {Loop(op).var: Loop(op) for op in walk.ops(guard) if is_loop(op)}
        pair = []
        for index, size in zip(walk.access_indices(first), tile.shape, strict=True):
            loop = loops.get(walk.without_unit_loops(index).is_value())  # type: ignore[arg-type]
            if loop is None or not 0 < (loop.const_extent or 0) <= size or loop.lower.as_constant() != 0:
                _refuse(
                    first,
                    f"a nest on an accumulator indexes it by {index_text(index)}, not by a loop over all {size} of "
                    "them",
                    "keep loops over the whole tile around what is computed",
                )
            pair.append(loop)
        for op, other in accesses:
            same = [walk.without_unit_loops(i).is_value() for i in walk.access_indices(op)] == [
                pair[0].var,
                pair[1].var,
            ]
            if not same or other.shape != tile.shape:
                _refuse(op, "a nest combines elements of accumulators that are in different threads", "use shared")
        return _Elements(pair[0].op, pair[1].op, tile, tiles)

    def divide(self, axis: Loop) -> None:
        """Let each thread do its elements: loops over the registers that say the row, and the column."""
        layout, lane = self.tile.layout, Index.from_value(axis.var)
        ends = [Loop(op).const_extent or 0 for op in (self.rows, self.columns)]
        is_whole = tuple(ends) == self.tile.shape and not any(isa(op, AffineIfOp) for op in walk.ops(self.columns))
        kind = "vectorized" if is_whole else "serial"
        of_row, of_column = (_registers(part) for part in (layout.row, layout.column))
        rows = Loop(edit.set_bounds(self.rows, [Index.constant(0)], [Index.constant(1 << len(of_row))]))
        columns = Loop(edit.set_bounds(self.columns, [Index.constant(0)], [Index.constant(layout.tiles[1])]))
        body = columns.body_ops()
        with ir.InsertionPoint(body[0]), columns.op.location:
            pair = create.loop("element", 0, 1 << len(of_column), kind)
        end = list(pair.body.operations)[-1]
        for op in [o.operation for o in columns.body.operations][1:-1]:
            edit.move_before(op, end)
        row, column, inner = (Index.from_value(loop.var) for loop in (rows, columns, pair))
        number = column * layout.tile_registers
        for register, source in [
            *zip(of_row, _bits(row, len(of_row)), strict=True),
            *zip(of_column, _bits(inner, len(of_column)), strict=True),
        ]:
            number = number + source * (1 << register)
        here = {f"r{n}": bit for n, bit in zip(of_row, _bits(row, len(of_row)), strict=True)}
        here |= {f"r{n}": bit for n, bit in zip(of_column, _bits(inner, len(of_column)), strict=True)}
        new_row = _number(layout.row, lane, here)
        new_column = column * layout.tile[1] + _number(layout.column, lane, here)
        new_row, new_column = new_row.simplify(), new_column.simplify()
        edit.substitute({columns.var: new_column}, pair.op)
        edit.substitute({rows.var: new_row}, pair.op)
        self._end_early(pair, [(new_row, ends[0]), (new_column, ends[1])])
        accesses = [op for op in walk.ops(pair.op) if isa(op, AffineElementAccessOp)]
        for op in [op for op in accesses if accessed_memref(op) in self.tiles]:
            tile = self.tiles[accessed_memref(op)]
            with ir.InsertionPoint(op), op.location:
                if isa(op, AffineStoreOp):
                    create.store(AffineStoreOp(op).value, tile.registers, [number.simplify()])
                else:
                    edit.replace_uses(op.results[0], create.load(tile.registers, [number.simplify()]))
            edit.drop(op)

    def _end_early(self, pair: Loop, ends: Sequence[tuple[Index, int]]) -> None:
        """Leave out the rows and columns behind the ends of loops that are shorter than a tile."""
        more = [Constraint(end - 1 - index) for (index, end), n in zip(ends, self.tile.shape, strict=True) if end < n]
        body = pair.body_ops()
        if not more:
            return
        with ir.InsertionPoint(body[0]), pair.op.location:
            guard = create.guard(more)
        end = list(guard.regions[0].blocks[0].operations)[-1]
        for op in body:
            edit.move_before(op, end)


def _registers(parts: Sequence[str]) -> list[int]:
    """The bits of the register that say a row or a column."""
    return [int(part[1:]) for part in parts if part[0] == "r"]


def _bits(value: Index, count: int) -> list[Index]:
    """The bits of a number of `count` bits, lowest first."""
    shifted = [(value // (1 << n)) if n else value for n in range(count)]
    return [part % 2 for part in shifted[:-1]] + shifted[-1:]


def _number(parts: Sequence[str], thread: Index, registers: Mapping[str, Index]) -> Index:
    """The row or column of an element: bits of the thread, in runs of adjacent ones, and of the register."""
    total, position = Index.constant(0), 0
    while position < len(parts):
        part = parts[position]
        if part[0] == "r":
            total, position = total + registers[part] * (1 << position), position + 1
            continue
        run = 1
        while position + run < len(parts) and _source(parts[position + run]) == _source(part) + run:
            run += 1
        total = total + (thread // (1 << _source(part))) % (1 << run) * (1 << position)
        position += run
    return total


def _source(part: str) -> int:
    """The bit of the number of a thread: w0 follows l4. -100: of a register."""
    return {"l": 0, "w": 5, "r": -100}[part[0]] + int(part[1:])


def _refuse(op: ir.Operation, why: str, fix: str) -> NoReturn:
    raise LoweringError(f"{location_text(op)}: {ACCUMULATOR}: {why}; fix: {fix}")
