"""parallel, vectorize, unroll, bind: set how the iterations of a loop execute."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.analysis import block_selection, dependences
from tir_mlir.dialect.diagnostics import NotProvable, emit_remark
from tir_mlir.dialect.ir import Block, Buffer, Loop, attrs, defining_op, edit, walk
from tir_mlir.dialect.ir.op_traits import DIFFERENCES, accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, BinaryOp, StoreOp, isa
from tir_mlir.passes.schedule.registry import check, primitive, refuse, warn_replaced

THREAD_TAGS = (
    "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
    "vthread", "vthread.x", "vthread.y", "vthread.z", "core",
)  # fmt: skip


@primitive("parallel", moves="nothing", marks=True)
def parallel(loop: Loop) -> None:
    """Run the iterations of a loop on several CPU cores.

        for i in range(n):  ->  for i in T.parallel(n):

    Requires: no two iterations access the same element where one of them writes. A buffer that each iteration writes
    before it reads it is private to the iteration (lowering places it there). A reduction over the loop is refused.
    """
    _concurrent(loop, "parallel")


@primitive("vectorize", moves="nothing", marks=True)
def vectorize(loop: Loop) -> None:
    """Run the iterations of a loop as lanes of vector instructions.

        for i in range(n):  ->  for i in T.vectorized(n):

    A reduction over the loop accumulates in each lane and is combined across lanes at the end. A loop that is long, or
    of symbolic extent, is strip-mined; the remainder is masked.

    Requires: as `parallel`, except for updates `X[f] = X[f] op value` of a declared reduction.
    """
    _concurrent(loop, "vectorized")


@primitive("unroll", moves="nothing", marks=True)
def unroll(loop: Loop) -> None:
    """Unroll a loop.

        for i in range(n):  ->  for i in T.unroll(n):

    Always legal, as the order does not change. Drops a thread binding.
    """
    emit_remark(f"the iterations of `{loop.name}` keep their order")
    _set_kind(loop, "unrolled")


@primitive("bind", moves="nothing", marks=True)
def bind(loop: Loop, thread_axis: str) -> None:
    """Bind a loop to a thread axis.

        for i in range(n):  ->  for i in T.thread_binding(n, thread="threadIdx.x"):

    Requires: as `parallel`; a known thread axis. A reduction with an init may also be computed jointly by the threads
    of one block (threadIdx): an update `X[f] = X[f] op value`, or an argmax or argmin. Of equal elements that keeps
    what the serial loops keep, which is proved. Bind the outer part of a loop if it keeps the first one; with the
    inner part, threads combine once for each iteration outside, unless positions are compared.

    An update of a declared reduction without an init may be made by any blocks and threads: a GPU makes it one atomic
    instruction, also where data choose the element, `H[X[i]] += 1`. It adds, or takes a minimum, maximum, `&`, `|` or
    `^` of integers. Floats are then added in an order that differs from run to run.

    The axis `core` is for the cores of an accelerator, see `tir_mlir.accel`.
    """
    check(
        thread_axis in THREAD_TAGS, loop, f'"{thread_axis}" is not a thread axis; use one of {", ".join(THREAD_TAGS)}'
    )
    _concurrent(loop, thread_axis)


def _concurrent(loop: Loop, kind: str) -> None:
    try:
        clash = dependences.loop_carried_conflict(loop, kind)
    except NotProvable as why:
        refuse(loop, str(why), provable=False, fix=_fix(loop))
    if clash is not None:
        what = f"bound to {kind}" if kind in THREAD_TAGS else kind
        text = f"loop {loop.name} cannot be {what}: two of its iterations depend on each other: {clash}"
        fix = _fix(loop)
        kept = "; of equal elements the reduction keeps one by the order in which it sees them"
        refuse(loop, text + (kept if fix == _ORDERED.format(loop.name) else ""), counterexample=clash, fix=fix)
    _set_kind(loop, kind)


_ORDERED = "compare positions of equal elements: T.Select(v > x or (v == x and p <= i), p, i); or rfactor({}, 0)"


def _fix(loop: Loop) -> str:
    """Fix for a loop-carried dependence."""
    reducing = [
        b for b in walk.blocks_below(loop.op) if any(i.kind == "R" and loop.var in i.binding.values for i in b.iters)
    ]
    if any(block_selection(b) is not None for b in reducing):
        return _ORDERED.format(loop.name)
    if any(b.init is not None for b in reducing):
        return (
            f"rfactor({loop.name}, 0) gives each iteration its own partial result; or use a loop "
            f"bound to a spatial iter{_sum_fix(reducing)}"
        )
    if reducing:
        return "in the program, let each iteration of an outer loop add to a row of its own, and add up the rows after"
    return "use a loop whose iterations access distinct elements"


def _sum_fix(blocks: Sequence[Block]) -> str:
    """What to write where an update subtracts from the old value."""
    for store in (op for b in blocks for op in b.body_ops() if isa(op, AffineStoreOp)):
        value = defining_op(StoreOp(store).value)
        old = defining_op(BinaryOp(value).lhs) if value is not None and value.name in DIFFERENCES else None
        if old is not None and isa(old, AffineLoadOp) and accessed_memref(old) == accessed_memref(store):
            name = Buffer(accessed_memref(store)).name
            return f"; or in the program, add what is subtracted: {name}[...] = {name}[...] + (0 - x)"
    return ""


def _set_kind(loop: Loop, kind: str) -> None:
    warn_replaced(loop, kind)
    edit.set_attribute(loop.op, attrs.KIND, ir.StringAttr.get(kind))
