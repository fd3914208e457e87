"""parallel, vectorize, unroll, bind: what a loop's iterations may do at the same time."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import dependences
from tir_mlir.dialect.ir import Loop, attrs, walk
from tir_mlir.passes.schedule.registry import check, primitive, refuse

THREAD_TAGS = (
    "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z",
    "vthread", "vthread.x", "vthread.y", "vthread.z",
)  # fmt: skip


@primitive("parallel")
def parallel(loop: Loop) -> None:
    """Run the iterations of a loop on several cores.

        for i in range(n):  ->  for i in T.parallel(n):

    Requires: no two iterations touch the same element, one of them writing. A buffer that every iteration fills before
    it reads it counts as one copy an iteration (lowering places it there). A reduction over the loop is refused.
    """
    _concurrent(loop, "parallel")


@primitive("vectorize")
def vectorize(loop: Loop) -> None:
    """Run the iterations of a loop as lanes of vector instructions.

        for i in range(n):  ->  for i in T.vectorized(n):

    A reduction over the loop becomes a sum (or product, maximum, ...) in each lane, and one over the lanes at the end.
    Of a long loop, or of one whose extent is a size, each vector takes a part; what is left is masked.

    Requires: as `parallel`, but for updates `X[f] = X[f] op value` of a declared reduction.
    """
    _concurrent(loop, "vectorized")


@primitive("unroll")
def unroll(loop: Loop) -> None:
    """Lay out the iterations of a loop one after the other in the code.

        for i in range(n):  ->  for i in T.unroll(n):

    Always legal: the order stays. A thread binding is dropped.
    """
    _set_kind(loop, "unrolled")


@primitive("bind")
def bind(loop: Loop, thread_axis: str) -> None:
    """Give the iterations of a loop to the threads of an axis.

        for i in range(n):  ->  for i in T.thread_binding(n, thread="threadIdx.x"):

    Requires: as `parallel`; a known thread axis. Threads of one block (threadIdx) may also sum up a reduction with an
    init together.
    """
    check(
        thread_axis in THREAD_TAGS, loop, f'"{thread_axis}" is not a thread axis; use one of {", ".join(THREAD_TAGS)}'
    )
    _concurrent(loop, thread_axis)


def _concurrent(loop: Loop, kind: str) -> None:
    clash = dependences.carried(loop, kind)
    if clash is not None:
        what = f"bound to {kind}" if kind in THREAD_TAGS else kind
        text = f"loop {loop.name} cannot be {what}: two of its iterations depend on each other: {clash}"
        refuse(loop, text, counterexample=clash, fix=_way_out(loop))
    _set_kind(loop, kind)


def _way_out(loop: Loop) -> str:
    """What to do about a loop whose iterations meet."""
    reduced = any(i.kind == "R" and loop.var in i.binding.values for b in walk.blocks_below(loop.op) for i in b.iters)
    if reduced:
        return (
            f"rfactor({loop.name}, 0) gives each of its iterations a sum of its own; or take a loop of a spatial iter"
        )
    return "take a loop whose iterations touch elements of their own"


def _set_kind(loop: Loop, kind: str) -> None:
    loop.op.attributes[attrs.KIND] = ir.StringAttr.get(kind)
