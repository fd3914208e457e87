"""Channels: tiles that the TMA fills ahead, with mbarriers that say when a tile is full and when it is free."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NoReturn

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import LoweringError, NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Index,
    Loop,
    attrs,
    create,
    edit,
    is_loop,
    only_reads,
    parent_op,
    walk,
)
from tir_mlir.dialect.ir.annotation_keys import TMA_PIPELINE
from tir_mlir.dialect.ir.lowering_op_views import BarrierOp
from tir_mlir.dialect.ir.op_views import AffineIfOp, AffineLoadOp, AffineStoreOp, DeallocOp, isa
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, question
from tir_mlir.passes.lower.gpu.conflicts import SharedAccess
from tir_mlir.passes.lower.gpu.nests import KernelNest, perfect_nests
from tir_mlir.passes.lower.gpu.outline.kernel_memory import ONE_BLOCK, TILE_ALIGNMENT
from tir_mlir.passes.lower.gpu.pipelines import mbarriers
from tir_mlir.passes.lower.gpu.pipelines.tensor_boxes import TensorBox, read_box
from tir_mlir.passes.lower.gpu.pipelines.zero_terms import drop_conditions
from tir_mlir.passes.lower.gpu.thread_tags import TILE, is_tma_tile
from tir_mlir.passes.lower.memory.strides import SWIZZLE_BYTES, SWIZZLED
from tir_mlir.passes.lower.registry import location_text, lowering, programs

RELEASE = "tir.release"
"""On the guard in which a warp frees a tile, last in the loop of a channel: the number of tiles. Exists only during
lowering."""
WARP, WARPGROUP = 32, 128
_REGISTERS = {2 * WARPGROUP: (232, 40), 3 * WARPGROUP: (160, 32)}
"""By the threads that compute, the registers of each of them, and of each that copies: together those of a
multiprocessor. With fewer threads each can have 255 at once."""


@lowering("tir-lower-gpu-channels", "Make copies of tiles tensor copies that run ahead, counted by mbarriers")
def run(module: ir.Module) -> None:
    """Make a channel of the tiles that the TMA fills in a loop: planes, and an mbarrier for each.

        for %k = 0 to 8 {                            for %s = 0 to 2 { copy %s into plane %s }    (thread 0)
          if %t == 0 { copy A into %S }              for %k = 0 to 8 {
          use %S                             -->       wait for phase %k / 3 of full[%k mod 3]
        }                                              gpu.barrier
                                                       if %k + 2 < 8 { copy %k + 2 into (%k + 2) mod 3 }  (thread 0)
                                                       use %S[%k mod 3]
                                                     }

    With a warpgroup of its own (`specialize`):

        if %w == last { for %k { wait for phase %k / 3 - 1 of empty[%k mod 3]; copy %k } }    (one thread)
        if %w < last { for %k { wait for phase %k / 3 of full; use; arrive at empty }}

    Both loops run equally often and take the planes in the same order: the copy number n waits for the use number
    n - planes only, which waits for the copy n - planes, so that no wait is in a circle. In either form the use of a
    plane is between the phase in which it was filled and the copy that fills it again. Needs that a tile is filled and
    read in one iteration of a loop that all threads run alike. Requires barriers to be placed; those of the whole
    block become ones of the threads that do not copy.

    Errors: LoweringError for what the TMA does not copy, tiles that an iteration reads and does not fill, and loops
    inside of other loops or guards.
    """
    for func in programs(module):
        for nest in perfect_nests(func):
            found = [op for op in walk.ops(nest.root) if is_loop(op) and TMA_PIPELINE in Loop(op).annotations]
            channels = [_read_channel(nest, Loop(op)) for op in found]
            specialized = [c for c in channels if c.specialize]
            if specialized and len(channels) > 1:
                _refuse(
                    channels[1].loop.op,
                    f"loops {channels[0].loop.name} and {channels[1].loop.name} are in one kernel, and one of them has "
                    "a warpgroup of its own",
                    "specialize=False for both",
                )
            for channel in channels:
                channel.allocate()
                channel.specialize_threads() if channel.specialize else channel.run_ahead()


@dataclass
class _Channel:
    """The tiles of a loop: `nests` are the ops in its body that copy them. planes: the buffers in their new form."""

    nest: KernelNest
    loop: Loop
    stages: int
    specialize: bool
    boxes: tuple[TensorBox, ...]
    nests: tuple[ir.Operation, ...]

    def allocate(self) -> None:
        """Planes of tiles, tensor maps, mbarriers; what reads a tile reads the plane of its iteration."""
        outer = self.nest.threads[0].op
        self.maps = [_tensor_map(box, self.nest) for box in self.boxes]
        self.planes = [_planes(box, self.stages, outer) for box in self.boxes]
        count = 2 * self.stages if self.specialize else self.stages
        i64 = ir.IntegerType.get_signless(64)
        type_ = ir.MemRefType.get([count], i64, memory_space=ir.StringAttr.get("shared"))
        with ir.InsertionPoint(outer), self.loop.op.location:
            facts = {attrs.NAME: ir.StringAttr.get("mbarriers"), "operandSegmentSizes": _no_sizes()}
            self.barriers = ir.Operation.create("memref.alloc", [type_], [], facts).results[0]
        for op in self.nests:
            edit.prune(op, self.loop.op)
        drop_conditions(self.loop, self.boxes)
        for box, planes in zip(self.boxes, self.planes, strict=True):
            _use_planes(box, planes, self._plane(Index.from_value(self.loop.var)))

    def _plane(self, number: Index) -> Index:
        return (number % self.stages).simplify()

    def _parity(self, number: Index) -> Index:
        return ((number // self.stages) % 2).simplify()

    @property
    def trips(self) -> list[Index]:
        """The iterations of the loop; the least of them is their number."""
        return self.loop.uppers

    @property
    def copied_bytes(self) -> int:
        return sum(box.bytes for box in self.boxes)

    @property
    def threads(self) -> int:
        return prod(axis.const_extent or 1 for axis in self.nest.threads)

    def _barrier(self, number: Index, first: int = 0) -> ir.Value:
        """The address of the mbarrier of the plane of an iteration; first: `stages` for those of free planes."""
        return mbarriers.shared_address(self.barriers, (self._plane(number) + first) * mbarriers.BYTES)

    def _wait_full(self, number: Index) -> None:
        mbarriers.wait(self._barrier(number), mbarriers.i32(self._parity(number)))

    def _copy(self, number: Index) -> None:
        """Start the copies of an iteration."""
        full = self._barrier(number)
        mbarriers.expect(full, self.copied_bytes)
        for box, map_, planes in zip(self.boxes, self.maps, self.planes, strict=True):
            start = [index.substitute({self.loop.var: number}).simplify() for index in box.start]
            for panel in range(box.panels):
                offset = self._plane(number) * box.stage_bytes + panel * box.panel_stride
                first = [*start[:-1], start[-1] + panel * box.box[-1]]
                to = mbarriers.shared_address(planes, offset)
                mbarriers.copy_box(to, map_, [mbarriers.i32(index) for index in first[::-1]], full)

    def _initialize(self, arrivals: int) -> None:
        """Emit the start of all mbarriers, by one thread, and let all threads see them. arrivals: at a free plane."""
        counts = [1] * self.stages + ([arrivals] * self.stages if self.specialize else [])
        with create.at_end(_first_thread(self.nest).regions[0].blocks[0]):
            for number, count in enumerate(counts):
                mbarriers.initialize(mbarriers.shared_address(self.barriers, number * mbarriers.BYTES), count)
            mbarriers.fence_initializations()
        ir.Operation.create("gpu.barrier")

    # --- copies by the first thread of those that use them ------------------------------------------------------------

    def run_ahead(self) -> None:
        ahead, var = self.stages - 1, Index.from_value(self.loop.var)
        with ir.InsertionPoint(self.loop.op), self.loop.op.location:
            self._initialize(0)
            with create.at_end(_first_thread(self.nest).regions[0].blocks[0]):
                first = create.loop(f"{self.loop.name}_ahead", 0, [Index.constant(ahead), *self.trips])
                with create.at_end(first.body):
                    self._copy(Index.from_value(first.var))
        body = self.loop.body_ops()
        with ir.InsertionPoint(body[0]), self.loop.op.location:
            self._wait_full(var)
            ir.Operation.create("gpu.barrier")  # all have read the plane that is filled now
            more = [Constraint(end - 1 - var - ahead) for end in self.trips]
            with create.at_end(_first_thread(self.nest, more).regions[0].blocks[0]):
                self._copy(var + ahead)

    # --- copies by a warpgroup of its own -----------------------------------------------------------------------------

    def specialize_threads(self) -> None:
        outer, extra = self._extra_threads()
        extent = outer.const_extent or 1
        used = Loop(edit.set_bounds(outer.op, outer.lowers, [Index.constant(extent + extra)]))
        threads = tuple(used if axis.op == outer.op else axis for axis in self.nest.threads)
        consumers = self.threads
        nest = KernelNest(self.nest.blocks, threads)
        body = list(Loop(nest.root).body_ops())
        self.nest = nest
        var, own = Index.from_value(self.loop.var), Index.from_value(used.var)
        moves = _REGISTERS.get(consumers)
        with ir.InsertionPoint(body[0]), self.loop.op.location:
            self._initialize(consumers // WARP)
            with create.at_end(create.guard([Constraint(own - extent)]).regions[0].blocks[0]):
                if moves:
                    mbarriers.set_registers("dec", moves[1])
                with create.at_end(self._first_producer(used, extent).regions[0].blocks[0]):
                    self._produce()
            work = create.guard([Constraint(Index.constant(extent - 1) - own)])
            end = list(work.regions[0].blocks[0].operations)[-1]
            if moves:
                with ir.InsertionPoint(end):
                    mbarriers.set_registers("inc", moves[0])
        if moves:
            attrs.put(nest.root, ONE_BLOCK, True)
        for op in body:
            edit.move_before(op, end)
            if extent == 1:
                edit.substitute({used.var: Index.constant(0)}, op)
        for op in [op for op in walk.ops(work) if isa(op, BarrierOp)]:
            with ir.InsertionPoint(op), op.location:
                mbarriers.barrier_of(1, consumers)
            edit.drop(op)
        last = self.loop.body_ops()
        with ir.InsertionPoint(last[0]), self.loop.op.location:
            self._wait_full(var)
        with create.at_end(self.loop.body), self.loop.op.location:
            self._release(var)

    def _extra_threads(self) -> tuple[Loop, int]:
        """The outermost axis of threads, and by how many it grows."""
        outer, inner = self.nest.threads[0], prod(axis.const_extent or 1 for axis in self.nest.threads[1:])
        if self.threads % WARP:
            _refuse(
                self.loop.op,
                f"a block has {self.threads} threads, no whole warps, which arrive at mbarriers together",
                "bind multiples of 32 threads, or specialize=False",
            )
        unit = WARPGROUP if self.threads % WARPGROUP == 0 else WARP
        return outer, next(n for n in range(1, unit + 1) if n * inner % unit == 0)

    def _first_producer(self, outer: Loop, extent: int) -> ir.Operation:
        others = [axis for axis in self.nest.threads if axis.op != outer.op]
        return create.guard(
            [
                Constraint(Index.from_value(outer.var) - extent, is_eq=True),
                *(Constraint(Index.from_value(axis.var), is_eq=True) for axis in others),
            ]
        )

    def _produce(self) -> None:
        """Emit the loop that copies."""
        loop = create.loop(f"{self.loop.name}_copies", 0, self.trips)
        number = Index.from_value(loop.var)
        with create.at_end(loop.body):
            before = ((number // self.stages + 1) % 2).simplify()  # the phase before the first one is over
            mbarriers.wait(self._barrier(number, self.stages), mbarriers.i32(before))
            self._copy(number)

    def _release(self, number: Index) -> None:
        """Emit that each warp has read the plane of an iteration."""
        _sync_warp()
        lane = _linear(self.nest) % WARP
        guard = create.guard([Constraint(lane.simplify(), is_eq=True)])
        guard.attributes[RELEASE] = attrs.to_attr(self.stages)
        with create.at_end(guard.regions[0].blocks[0]):
            mbarriers.arrive(self._barrier(number, self.stages))


def _linear(nest: KernelNest) -> Index:
    """The number of a thread in its block."""
    number = Index.constant(0)
    for axis in nest.threads:
        number = number * (axis.const_extent or 1) + Index.from_value(axis.var)
    return number


def _sync_warp() -> None:
    ir.Operation.create("nvvm.bar.warp.sync", [], [mbarriers.i32(-1)])


def _first_thread(nest: KernelNest, more: Sequence[Constraint] = ()) -> ir.Operation:
    """An empty guard that the first thread of a block passes."""
    first = [Constraint(Index.from_value(axis.var), is_eq=True) for axis in nest.threads]
    return create.guard([*first, *more])


# --- the buffers ------------------------------------------------------------------------------------------------------


def _tensor_map(box: TensorBox, nest: KernelNest) -> ir.Value:
    """What stands for the tensor map of a box, in the function: a kernel gets it as an argument."""
    top = nest.blocks[0].op if nest.blocks else nest.threads[0].op
    facts = {attrs.TENSOR_MAP: attrs.to_attr({"box": list(box.box), "swizzle": box.swizzle})}
    pointer = ir.Type.parse("!llvm.ptr")
    with ir.InsertionPoint(top), box.store.location:
        return ir.Operation.create("builtin.unrealized_conversion_cast", [pointer], [box.source], facts).results[0]


def _planes(box: TensorBox, stages: int, before: ir.Operation) -> ir.Value:
    """Memory for the tiles of all stages: [stage, panel, ..., element of a panel's row]."""
    tile, alloc = box.tile, box.tile.op
    assert alloc is not None
    memory = tile.type.memory_space
    type_ = ir.MemRefType.get([stages, box.panels, *box.shape], tile.type.element_type, memory_space=memory)
    i64 = ir.IntegerType.get_signless(64)
    facts = {name: alloc.attributes[name] for name in alloc.attributes if name not in (SWIZZLED, TILE)}
    facts[TILE_ALIGNMENT] = ir.IntegerAttr.get(i64, box.alignment)
    if box.swizzle:
        facts[SWIZZLE_BYTES] = ir.IntegerAttr.get(i64, box.swizzle)
    with ir.InsertionPoint(before), alloc.location:
        return ir.Operation.create("memref.alloc", [type_], [], facts).results[0]


def _no_sizes() -> ir.Attribute:
    """Of an allocation of a constant size."""
    return ir.DenseI32ArrayAttr.get([0, 0])


def _use_planes(box: TensorBox, planes: ir.Value, plane: Index) -> None:
    """Read the plane of an iteration instead of the one tile."""
    tile, column, width = box.tile, box.column, box.shape[box.column]
    for op in dict.fromkeys(use.owner.operation for use in tile.value.uses):
        if isa(op, AffineLoadOp):
            indices = [walk.without_unit_loops(index) for index in walk.access_indices(op)]
            panel = indices[column] // width if box.panels > 1 else Index.constant(0)
            if box.panels > 1:
                indices[column] = indices[column] % width
            with ir.InsertionPoint(op), op.location:
                edit.replace_uses(op.results[0], create.load(planes, [plane, panel, *indices]))
        edit.drop(op)
    assert tile.op is not None
    edit.drop(tile.op)


# --- what makes a channel ---------------------------------------------------------------------------------------------


@only_reads
def _read_channel(nest: KernelNest, loop: Loop) -> _Channel:
    stages, specialize = loop.annotations[TMA_PIPELINE]
    if parent_op(loop.op) != nest.root:
        _refuse(
            loop.op,
            f"loop {loop.name} is inside of another loop or guard of its kernel, in which its phases would start anew",
            "bind the loops around it to blocks or threads",
        )
    body = loop.body_ops()
    boxes, nests = [], []
    for store in [op for op in walk.ops(loop.op) if isa(op, AffineStoreOp) and _is_tile(op)]:
        inner = [p for p in walk.parents(store) if walk.is_inside(p, loop.op) and p != loop.op]
        nests.append(next((p for p in inner[::-1] if is_loop(p)), store))
        guarded = any(_is_condition(p, nest) for p in inner)
        boxes.append(read_box(store, nests[-1], guarded))
        _check_users(boxes[-1], loop, walk.child_towards(loop.op, store))
        if boxes[-1].guarded:
            _check_filled(boxes[-1], loop, nest)
    if not boxes:
        _refuse(loop.op, f"loop {loop.name} copies nothing by the TMA", "sch.tma_pipeline of copies in it")
    written = {a.buffer for a in accesses(nest.root) if a.is_write}
    for box in boxes:
        if box.source in written:
            _refuse(box.store, f"the kernel writes {Buffer(box.source).name}, which the TMA reads", "use two arrays")
        inside = [v for index in box.start for v in index.values if not _is_known_outside(v, loop, nest)]
        if inside:
            _refuse(box.store, "where the copy starts depends on a thread", "bind its loops to blocks")
    total = sum(box.bytes for box in boxes)
    if total > mbarriers.MOST_BYTES:
        _refuse(loop.op, f"the tiles of an iteration have {total} bytes, more than an mbarrier counts", "smaller tiles")
    assert body
    return _Channel(nest, loop, int(stages), bool(specialize), tuple(boxes), tuple(nests))


def _is_condition(op: ir.Operation, nest: KernelNest) -> bool:
    """Whether an op decides what is copied, and not only which thread does it."""
    threads = {axis.var for axis in nest.threads}
    if not isa(op, AffineIfOp):
        return not is_loop(op)
    return not all(c.is_eq and {*c.index.values} <= threads for c in walk.constraints(op))


def _is_tile(store: ir.Operation) -> bool:
    return is_tma_tile(AffineStoreOp(store).memref)


def _is_known_outside(value: ir.Value, loop: Loop, nest: KernelNest) -> bool:
    """Whether a thread that only copies knows a value: the iteration, a block, what is outside of the kernel."""
    if value == loop.var or value in {axis.var for axis in nest.blocks}:
        return True
    owner = value.owner
    op = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    return op != nest.root and not walk.is_inside(op, nest.root) and value not in {a.var for a in nest.threads}


def _check_users(box: TensorBox, loop: Loop, top: ir.Operation) -> None:
    """Refuse other uses of a tile than loads behind the copy, in the loop."""
    for use in box.tile.value.uses:
        op = use.owner.operation
        if op == box.store or isa(op, DeallocOp):
            continue
        if not isa(op, AffineLoadOp):
            _refuse(op, f"{op.name} accesses {box.tile.name}, which only the TMA fills and loads read", "another copy")
        if not walk.is_inside(op, loop.op) or walk.position(walk.child_towards(loop.op, op)) < walk.position(top):
            _refuse(op, f"{box.tile.name} is read outside of loop {loop.name}, or before its copy", "compute_at")


def _check_filled(box: TensorBox, loop: Loop, nest: KernelNest) -> None:
    """Refuse a tile of which an iteration may read what it does not fill, and the one before did."""
    try:
        with question(f"whether {loop.name} fills what it reads of {box.tile.name}", BUILD_OPERATIONS):
            outer = [*(axis.var for axis in nest.blocks), loop.var]
            filled, reads = isl.Map("{ : }"), []
            for access in [a for a in accesses(loop.op) if a.buffer == box.tile.value]:
                touched = SharedAccess.from_access(access)
                part = _by_iteration(touched, outer)
                if access.is_write:
                    filled = part
                elif touched.dom.exact:
                    reads.append(part)
            if all(part.is_subset(filled) for part in reads):
                return
    except NotProvable as error:
        _refuse(box.store, f"{error}", "leave out the condition of the copy: elements outside of the array are zeros")
    _refuse(
        box.store,
        f"an iteration of {loop.name} reads an element of {box.tile.name} that it does not copy",
        "leave out the condition of the copy: elements outside of the array are zeros",
    )


def _by_iteration(touched: SharedAccess, outer: Sequence[ir.Value]) -> isl.Map:
    """{ values of some loops -> element }."""
    relation = touched.relation
    kept = [touched.dom.index_of(var) for var in outer]
    for number in reversed(range(relation.dim(dim_type.in_))):
        if number not in kept:
            relation = relation.project_out(dim_type.in_, number, 1)
    return relation


def _refuse(op: ir.Operation, why: str, fix: str) -> NoReturn:
    raise LoweringError(f"{location_text(op)}: tma_pipeline: {why}; fix: {fix}")
