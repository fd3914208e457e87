"""Legality of vectorization: which loops can run as vector lanes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from mlir import ir

from tir_mlir.dialect.analysis import Access, accesses_of_op
from tir_mlir.dialect.analysis.certainty import doubt, from_data
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import (
    Buffer,
    Index,
    Loop,
    data_loop_name,
    dtypes,
    is_data_loop,
    is_loop,
    owner_op,
    parent_op,
    step,
    walk,
)
from tir_mlir.dialect.ir.lowering_op_views import LLVMIntrinsicOp
from tir_mlir.dialect.ir.op_traits import (
    DIVISIONS,
    accessed_memref,
)
from tir_mlir.dialect.ir.op_views import (
    AffineElementAccessOp,
    AffineForOp,
    AffineLoadOp,
    AffineStoreOp,
    AllocLikeOp,
    ApplyOp,
    CallOp,
    ElementAccessOp,
    ElementLoadOp,
    ElementStoreOp,
    IfOp,
    IntToPtrOp,
    LoadOp,
    MemrefLoadOp,
    MemrefStoreOp,
    PointerOp,
    StoreOp,
    SubviewOp,
    YieldOp,
    isa,
)
from tir_mlir.dialect.presburger import intervals, sets
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.memory.strides import has_contiguous_rows, is_padded
from tir_mlir.passes.lower.vector.gathers import is_indirect_row
from tir_mlir.passes.lower.vector.reductions import LaneReduction, find_reductions

ELEMENTWISE = ("arith", "math")

MASKED_BITS = 32
"""Most CPUs have no masked loads of narrower elements: LLVM scalarizes them."""


_UNIFORM = (
    "choose a value with T.Select, which evaluates both, loop_partition the loop where the condition changes, or "
    "vectorize another loop"
)

_SEPARATE_BUFFER_FIX = "write to another buffer (cache_write), or vectorize another loop"


class NotVectorizable(Exception):
    """The reason why a loop cannot be vectorized, and the way out."""

    def __init__(self, reason: str, way: str):
        super().__init__(f"{reason}; {way}")


@dataclass
class VectorizableLoop:
    """A vectorizable loop: `varying` values differ between lanes, `stored` buffers are written, `sums` are its
    reductions, `guards` its conditions that differ between lanes.
    """

    loop: Loop
    sums: list[LaneReduction] = field(default_factory=list)
    varying: set[ir.Value] = field(default_factory=set)
    stored: set[ir.Value] = field(default_factory=set)
    guards: list[ir.Operation] = field(default_factory=list)

    @property
    def var(self) -> ir.Value:
        return self.loop.var

    def step(self, index: Index) -> int | None:
        """The constant difference of an expression between adjacent lanes; None if there is none."""
        return step(index, self.var)


def analyse(loop: Loop) -> VectorizableLoop:
    """Check that running each op for all lanes computes the same as running lane after lane.

    Errors: NotVectorizable.
    """
    sums = find_reductions(loop)
    lanes = VectorizableLoop(loop, sums, {loop.var, *(s.load.results[0] for s in sums)})
    inner = walk.ops(loop.op)[1:]
    for op in inner:
        _check_op(op, lanes)
    _check_memory(inner, lanes)
    return lanes


_ELEMENTS = ElementLoadOp.names | AffineElementAccessOp.names | ApplyOp.names


def _check_op(op: ir.Operation, lanes: VectorizableLoop) -> None:
    name = op.name
    if name in YieldOp.names:
        return
    varies = any(v in lanes.varying for v in op.operands)
    if name in IfOp.names and varies:
        _check_binding(op)
        _check_guard(op, lanes)
        lanes.guards.append(op)
        lanes.varying.update(op.results)
    elif name in AffineForOp.names or name in IfOp.names:
        if varies or (name not in IfOp.names and len(op.results)):
            raise NotVectorizable("the bounds of a loop in it depend on the iteration", _UNIFORM)
        lanes.varying.update(op.results)  # values chosen by a condition that all lanes share
    elif name in _ELEMENTS or name.split(".")[0] in ELEMENTWISE:
        if varies:
            lanes.varying.update(op.results)
    elif name in MemrefStoreOp.names:
        if not is_indirect_row(op, lanes.var, lanes.varying):
            raise NotVectorizable(*serial_reason(op))
    else:
        raise NotVectorizable(*serial_reason(op))
    for value in (*op.results, *(op.operands if name in ElementStoreOp.names else ())):
        _check_type(value.type)


def _check_binding(guard: ir.Operation) -> None:
    """Refuse the condition of a search for a value that differs between lanes and is checked."""
    search = parent_op(guard)
    if SITE in search.attributes:
        text = f"the value of iter {Loop(search).name} differs between its iterations and is checked"
        raise NotVectorizable(text, "build without checked=True, or vectorize another loop")


def _check_guard(guard: ir.Operation, lanes: VectorizableLoop) -> None:
    """Check that what a condition guards can run for all lanes, with accesses masked: no trap, no gather, no loop."""
    for op in walk.ops(guard)[1:]:
        if isa(op, AffineElementAccessOp):
            fits = is_contiguous(lanes, accessed_memref(op), walk.access_indices(op)) or _is_shared(op, lanes)
        else:
            plain = op.name.split(".")[0] in ELEMENTWISE and op.name not in DIVISIONS
            fits = plain or isa(op, YieldOp, IfOp, ApplyOp)
        if not fits:
            text = f"a condition in it depends on the iteration and guards {_guarded_op_words(op)}"
            raise NotVectorizable(text, _UNIFORM)


def _is_shared(op: ir.Operation, lanes: VectorizableLoop) -> bool:
    """Whether an op loads one element for all lanes, inside its buffer also where no lane runs."""
    if not isa(op, AffineLoadOp):
        return False
    box, shape = intervals.enclosing_ranges(op), ir.MemRefType(LoadOp(op).memref.type).shape
    for index, size in zip(walk.access_indices(op), shape, strict=True):
        inner_values = [v for v in index.values if walk.is_inside(owner_op(v), lanes.loop.op)]
        low, high = intervals.interval(index, box)
        if any(v == lanes.var or not is_loop(owner_op(v)) for v in inner_values) or low is None or high is None:
            return False
        if low < 0 or high >= size:  # a dynamic size is negative
            return False
    return True


def _guarded_op_words(op: ir.Operation) -> str:
    """A guarded op for messages."""
    if isa(op, ElementAccessOp):
        return f"an access of {Buffer(accessed_memref(op)).name} whose lanes are not adjacent"
    return op_words(op).removesuffix(",")  # the end of a sentence


def _check_type(type_: ir.Type) -> None:
    if isinstance(type_, ir.MemRefType):
        type_ = type_.element_type
        if isinstance(type_, ir.IntegerType) and type_.width == 1:
            raise NotVectorizable(
                "a vector of bool is packed in memory, a buffer of bool is not", "store int8, or vectorize another loop"
            )
    if not isinstance(type_, ir.IntegerType | ir.IndexType | ir.FloatType):
        raise NotVectorizable(f"{type_} has no vector form", "vectorize another loop")


def _check_memory(inner: list[ir.Operation], lanes: VectorizableLoop) -> None:
    """Check that no lane accesses an element that another lane writes: a written buffer is partitioned among the lanes
    along one dimension, or else isl shows its accesses apart.
    """
    stored = lanes.stored = {Buffer(StoreOp(op).memref).root.value for op in inner if isa(op, ElementStoreOp)}
    shared = [op for s in lanes.sums for op in (s.load, s.store)]
    by_root: dict[ir.Value, list[ir.Operation]] = {}
    for op in inner:
        if isa(op, ElementStoreOp, ElementLoadOp) and op not in shared:
            root = Buffer(accessed_memref(op)).root.value
            if root in stored:
                by_root.setdefault(root, []).append(op)
    for root, users in by_root.items():
        plain = all(accessed_memref(op) == root and not op.name.startswith("memref.") for op in users)
        columns = zip(*(walk.access_indices(op) for op in users), strict=True) if plain else []
        if not any(_is_partitioned(list(d), lanes) for d in columns):
            _check_apart(root, users, lanes.loop)


def _check_apart(root: ir.Value, users: list[ir.Operation], loop: Loop) -> None:
    """Check by isl that no two iterations of a loop access one element of a buffer, one of them writing."""
    buffer = f'buffer "{Buffer(root).name}"'
    buffer_accesses = [a for op in users for a in accesses_of_op(op) if a.buffer == root]
    try:
        if not _conflict_across_lanes(buffer_accesses, buffer, loop):
            return
        if not _conflict_across_lanes([a for a in buffer_accesses if not doubt(a)], buffer, loop):
            raise NotProvable(next(why for a in buffer_accesses if (why := doubt(a))))
    except NotProvable as why:
        reason = f"it could not be proved that no iteration accesses an element of {buffer} that another writes ({why})"
        raise NotVectorizable(reason, _SEPARATE_BUFFER_FIX) from why
    raise NotVectorizable(f"an iteration accesses an element of {buffer} that another one writes", _SEPARATE_BUFFER_FIX)


def _conflict_across_lanes(accesses: Sequence[Access], buffer: str, loop: Loop) -> bool:
    """Whether the regions of some accesses meet in two iterations of a loop, one writing. Errors: NotProvable."""
    depth = len([p for p in walk.parents(loop.op) if is_loop(p)])
    domains: lifetimes.Domains = {}
    with sets.question(f"whether lanes access a common element of {buffer}"):
        timed = [lifetimes.timed_access(a, domains) for a in accesses]
        return lifetimes.conflicts([t for t in timed if t is not None], depth)


def _is_partitioned(column: list[Index], lanes: VectorizableLoop) -> bool:
    """Whether the indices of one dimension are equal in all accesses, distinct between lanes, and otherwise
    invariant.
    """
    first = column[0]
    if not lanes.step(first) or any(not first.is_equal_to(i) for i in column[1:]):
        return False
    return all(not (value != lanes.var and walk.is_inside(owner_op(value), lanes.loop.op)) for value in first.values)


def is_contiguous(lanes: VectorizableLoop, memref: ir.Value, indices: Sequence[Index]) -> bool:
    """Whether adjacent lanes access adjacent elements."""
    steps = [lanes.step(i) for i in indices]
    return has_adjacent_elements(memref) and steps[-1:] == [1] and all(s == 0 for s in steps[:-1])


def has_adjacent_elements(memref: ir.Value) -> bool:
    """Whether the elements of a row are adjacent in memory."""
    if is_padded(memref):
        return has_contiguous_rows(memref)
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    return bool(strides) and strides[-1] == 1


def lane_stride(lanes: VectorizableLoop, memref: ir.Value, indices: Sequence[Index]) -> int | None:
    """The constant distance in a row between adjacent lanes, if it is not 0 or 1; else None."""
    strides, _ = ir.MemRefType(memref.type).get_strides_and_offset()
    steps = [lanes.step(i) for i in indices]
    if not steps or strides[-1] != 1 or is_padded(memref) or None in steps or any(steps[:-1]) or steps[-1] in (0, 1):
        return None
    return steps[-1]


def can_mask(lanes: VectorizableLoop) -> bool:
    """Whether lanes may be masked off: everything that varies is in vectors that a CPU can mask, and no op traps on the
    zeros in inactive lanes.
    """
    shared = [op for s in lanes.sums for op in (s.load, s.store)]
    for op in walk.ops(lanes.loop.op)[1:]:
        if op in shared:
            continue
        varies = any(r in lanes.varying for r in op.results)
        if isa(op, AffineStoreOp) or (isa(op, AffineLoadOp) and varies):
            memref = accessed_memref(op)
            if dtypes.bits(Buffer(memref).dtype) < MASKED_BITS or not is_contiguous(
                lanes, memref, walk.access_indices(op)
            ):
                return False
        elif isa(op, MemrefStoreOp) or (varies and (isa(op, MemrefLoadOp) or op.name in DIVISIONS)):
            return False
    return True


# --- why an op has no vector form, in the user's words ---------------------------------------------------------------


_OTHER_LOOP_FIX = "vectorize a loop that does not contain it"


def serial_reason(op: ir.Operation) -> tuple[str, str]:
    """Why a loop around an op is serial, and the way out. Requires an op without a vector form."""
    if is_vector(op):
        return "its accesses are vectors already, and vectors have one dimension", "leave the loop serial, or unroll it"
    if isa(op, MemrefStoreOp):
        where = "a loaded index" if from_data(op) else "an index that is not affine"
        return f"a store at {where} has no vector form", "vectorize a loop along a row"
    return f"{op_words(op)} has no vector form", _OTHER_LOOP_FIX


def is_vector(op: ir.Operation) -> bool:
    """Whether an op takes or makes a vector value."""
    return any(isinstance(v.type, ir.VectorType) for v in (*op.operands, *op.results))


def op_words(op: ir.Operation) -> str:
    """An op as a user calls it: `a call of foo`, `the view a`, `loop k, whose bounds are data`."""
    if isa(op, CallOp):
        return f"a call of {op.attributes['callee']}"
    if isa(op, LLVMIntrinsicOp):
        return f"a call of {ir.StringAttr(op.attributes['intrin']).value}"
    if is_data_loop(op):
        words = data_loop_name(op)
        return f"{words}," if ", " in words else words
    if isa(op, AllocLikeOp):
        return f"the buffer {Buffer(op.results[0]).name}, allocated in each iteration,"
    if isa(op, SubviewOp):
        return f"the view {Buffer(op.results[0]).name}"
    if isa(op, PointerOp, IntToPtrOp):
        return "a pointer passed to a function"
    if isa(op, ElementAccessOp):
        return f"an access of {Buffer(accessed_memref(op)).name}"
    return "a division of integers" if op.name in DIVISIONS else f"the operation {op.name}"
