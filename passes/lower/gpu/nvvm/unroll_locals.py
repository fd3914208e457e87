"""Local buffers of kernels in registers: loops that index them are unrolled by LLVM."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir

from tir_mlir.dialect.ir import attrs, defining_op, walk
from tir_mlir.dialect.ir.lowering_op_views import GPUFuncOp, GridIdOp, ThreadIdOp
from tir_mlir.dialect.ir.op_views import AllocaOp, ConstantOp, ScfForOp, isa
from tir_mlir.passes.lower.registry import location_text, lowering, warn

LIMIT = 16384
"""The most ops that the loops around an access become when they are unrolled: LLVM's own limit for loops marked so."""
_MARK = "llvm.loop_annotation"
_FULL = "#llvm.loop_annotation<unroll = <full = true>>"


@lowering(
    "tir-lower-gpu-unroll-locals", "Tell LLVM to unroll the loops that index local buffers, which become registers"
)
def run(module: ir.Module) -> None:
    """Mark each loop with constant bounds on which the index of an access to a local buffer depends.

        %L = memref.alloca() : memref<8xf32, private>         scf.for %k = 0 to 8 {
        scf.for %k = 0 to 8 {                                   .. memref.load %L[%k] ..
          .. memref.load %L[%k] ..                     -->    } {llvm.loop_annotation = <unroll = <full = true>>}
        }

    A register has no address: an array is in registers only if all its indices are constants. A LoweringWarning names
    each buffer that remains in local memory, which is as slow as global memory, and why. Runs on scf loops of
    `gpu.func`s; `tir-lower-keep-rolled-marks` moves the annotation to the branch.
    """
    for kernel in [op for op in walk.ops(module.operation) if isa(op, GPUFuncOp)]:
        for alloca in [op for op in walk.ops(kernel) if isa(op, AllocaOp)]:
            why = _mark_loops(alloca)
            if why:
                name = attrs.get(alloca, attrs.NAME, "a buffer")
                warn(f'{location_text(alloca)}: buffer "{name}" of scope local remains in memory, not registers: {why}')


def _mark_loops(alloca: ir.Operation) -> str:
    """Mark the loops that index a buffer. Returns why it cannot be in registers, else ""."""
    loops: dict[ir.Operation, None] = {}
    for access, index in _indices(alloca.results[0]):
        for source in _sources(index):
            if isinstance(source, str):
                return f"its index at {location_text(access)} depends on {source}; fix: index it by unrolled loops only"
            loops[source] = None
    for loop in loops:
        if _trip_count(loop) is None:
            return (
                f"the loop at {location_text(loop)}, which indexes it, has no constant extent; fix: split it by a "
                "constant and keep the buffer inside of the outer loop"
            )
        if (size := _unrolled_size(loop)) > LIMIT:
            return f"the loop at {location_text(loop)}, which indexes it, would become {size} ops, at most {LIMIT}"
    for loop in loops:
        loop.attributes[_MARK] = ir.Attribute.parse(_FULL)
    return ""


def _indices(buffer: ir.Value) -> Iterator[tuple[ir.Operation, ir.Value]]:
    """The accesses to a buffer or its views, with each index that is computed."""
    for use in buffer.uses:
        op = use.owner.operation
        for value in op.operands:
            if isinstance(value.type, ir.IndexType):
                yield op, value
        for result in op.results:
            if isinstance(result.type, ir.MemRefType):
                yield from _indices(result)


def _sources(value: ir.Value) -> Iterator[ir.Operation | str]:
    """What a value is computed from: the loops whose variables it uses, and in words what else is not constant."""
    op = defining_op(value)
    if op is None:
        owner = value.owner.owner.operation  # type: ignore[union-attr]
        if isa(owner, ScfForOp) and value.arg_number == 0:  # type: ignore[attr-defined]
            yield owner
        else:
            yield "a value that the kernel gets"
    elif isa(op, GridIdOp):
        yield "the thread" if isa(op, ThreadIdOp) else "the block"
    elif op.name.startswith(("arith.", "affine.")):
        for operand in op.operands:
            yield from _sources(operand)
    else:
        yield "data"


def _trip_count(loop: ir.Operation) -> int | None:
    low, high, step = (_constant(v) for v in list(loop.operands)[:3])
    return None if low is None or high is None or not step else max(-(-(high - low) // step), 0)


def _constant(value: ir.Value) -> int | None:
    op = defining_op(value)
    return ir.IntegerAttr(op.attributes["value"]).value if op is not None and isa(op, ConstantOp) else None


def _unrolled_size(loop: ir.Operation) -> int:
    """The ops that a loop becomes with the loops in it."""
    body = [op.operation for op in loop.regions[0].blocks[0].operations]
    inner = sum(_unrolled_size(op) if isa(op, ScfForOp) else 1 for op in body)
    return inner * (_trip_count(loop) or 1)
