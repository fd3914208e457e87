"""Where buffers live: on the stack when small, on the heap and given back when not."""

from __future__ import annotations

from math import prod

from mlir import ir

from tir_mlir.dialect.ir import SHARED, Buffer, Func, dtypes, walk
from tir_mlir.passes.lower.registry import lowering, programs

STACK_BUFFER = 16 * 1024
"""Bytes: a larger buffer goes to the heap."""
STACK_TOTAL = 64 * 1024
"""Bytes of stack that one function (or one iteration of a parallel loop) may take."""
ALIGNMENT = 64


@lowering("tir-lower-allocs", "small buffers to the stack, others to the heap with a dealloc; never in a loop")
def run(module: ir.Module) -> int:
    """Place the memory of every buffer at the start of its home: the parallel loop around it, else the function.

        for %i { %b = memref.alloc : memref<16x16xf32> ... }
            -->
        %b = memref.alloca {alignment = 64} : memref<16x16xf32>          (constant and at most 16 KiB, 64 KiB together)
        %b = memref.alloc {alignment = 64} : ... memref.dealloc %b       (all others)
        for %i { ... }

    Memory made in a loop would grow the stack with each iteration, or leak. A buffer made anew in each iteration keeps
    nothing from one to the next, so one piece serves all. Requires parallel loops to be `affine.parallel` already.
    Returns the bytes of constant size that a function takes of the heap, at most.
    """
    return max((place_memory(func) for func in programs(module)), default=0)


def place_memory(func: Func) -> int:
    """The same for one function; the bytes of constant size on the heap."""
    taken: dict[ir.Operation, int] = {}
    heap = 0
    for op in [o for o in walk.ops(func.op) if o.name == "memref.alloc"]:
        home = next(p for p in walk.parents(op) if p.name in (*SHARED, "func.func"))
        body = home.regions[0].blocks[0]
        size = _bytes(op)
        for dealloc in [u.owner for u in op.results[0].uses if u.owner.name == "memref.dealloc"]:
            dealloc.operation.erase()
        op.attributes["alignment"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ALIGNMENT)
        if size is not None and size <= STACK_BUFFER and taken.get(home, 0) + size <= STACK_TOTAL:
            taken[home] = taken.get(home, 0) + size
            _to_stack(op, body)
        else:
            heap += size or 0
            _to_heap(op, body)
    return heap


def _bytes(op: ir.Operation) -> int | None:
    buffer = Buffer(op.results[0])
    if None in buffer.shape:
        return None
    return prod(n for n in buffer.shape if n is not None) * dtypes.bits(buffer.dtype) // 8


def _to_stack(op: ir.Operation, body: ir.Block) -> None:
    attributes = {n: op.attributes[n] for n in op.attributes}
    with ir.InsertionPoint.at_block_begin(body):
        new = ir.Operation.create("memref.alloca", [op.results[0].type], [], attributes, loc=op.location)
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()


def _to_heap(op: ir.Operation, body: ir.Block) -> None:
    """Hoist to the home where its sizes are known there; give back at the end of the body it stands in."""
    first = next(iter(body.operations)).operation
    if all(_available(v, body) for v in op.operands):
        makers = [v.owner.operation for v in op.operands if not isinstance(v.owner, ir.Block)]
        makers = [m for m in makers if m.block == body]
        after = max(makers, key=walk.position, default=None)
        if after is not None:
            op.move_after(after)
        elif op != first:
            op.move_before(first)
    end = list(op.block.operations)[-1]
    with ir.InsertionPoint(end), op.location:
        ir.Operation.create("memref.dealloc", operands=[op.results[0]])


def _available(value: ir.Value, body: ir.Block) -> bool:
    """Whether a size is known in `body`: computed in it, or outside of it."""
    block = value.owner if isinstance(value.owner, ir.Block) else value.owner.operation.block
    if block == body:
        return True
    return any(body_op_holds(block, p) for p in walk.parents(body.owner.operation))


def body_op_holds(block: ir.Block, parent: ir.Operation) -> bool:
    """Whether a block is one of the bodies of an op."""
    return any(b == block for region in parent.regions for b in region.blocks)


@lowering("tir-lower-thread-stack", "move allocas from the body of a parallel loop to the start of its thread")
def run_thread_stack(module: ir.Module) -> None:
    """Give each thread its memory once.

        omp.parallel { omp.wsloop { ... memref.alloca ... } }   -->   omp.parallel { memref.alloca  omp.wsloop { ... } }

    An alloca in a loop is memory that LLVM cannot keep in registers. Runs after `convert-scf-to-openmp`.
    """
    for op in walk.ops(module.operation):
        if op.name == "omp.parallel":
            first = next(iter(op.regions[0].blocks[0].operations)).operation
            for inner in walk.ops(op):
                if inner.name == "memref.alloca" and not len(inner.operands) and inner != first:
                    inner.move_before(first)
