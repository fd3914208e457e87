"""Find the fills that are the init of a reduction, so that both become one block."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import Func, direct_ops, walk
from tir_mlir.dialect.ir.op_traits import NEUTRAL
from tir_mlir.passes.linalg import reshapes
from tir_mlir.passes.linalg.extents import ExtentSolver
from tir_mlir.passes.linalg.generic import GenericOp, extents

_NO_ACCESS = NEUTRAL | {"func.return"}


def fills_to_fold(found: Sequence[GenericOp], func: Func, sizes: ExtentSolver) -> dict[ir.Operation, list[GenericOp]]:
    """The fills of the outputs of each reduction, by the op of the reduction: they start its sums.

        linalg.fill ins(%zero) outs(%C)             with T.block("matmul"):
        linalg.matmul ins(%A, %B) outs(%C)    -->       with T.init(): C[v0, v1] = 0
                                                        C[v0, v1] = C[v0, v1] + A[v0, v2] * B[v2, v1]

    Requires that nothing accesses the outputs in between, that the reduction reads them only to update them, that it
    updates each element, and that it has at least one term: a sum over a size that may be 0 keeps its fill.
    """
    places = {op: number for number, op in enumerate(direct_ops(func.op))}
    own = [one for one in found if one.op in places]
    fills = [one for one in own if _is_fill(one)]
    folded: dict[ir.Operation, list[GenericOp]] = {}
    for one in own:
        if "R" not in one.kinds or "O" in one.kinds or not _has_terms(one, sizes):
            continue
        starts = [_start(one, number, fills, places) for number in range(len(one.outputs))]
        if all(start is not None for start in starts):
            folded[one.op] = [start for start in starts if start is not None]
    return folded


def _is_fill(one: GenericOp) -> bool:
    """Whether an op stores one value to each element of a whole buffer."""
    body = one.body
    if body is None or len(one.inputs) != 1 or len(one.outputs) != 1 or isinstance(one.inputs[0].type, ir.MemRefType):
        return False
    return one.yielded() == [body.arguments[0]] and _is_whole(one, 0)


def _is_whole(one: GenericOp, number: int) -> bool:
    """Whether an op writes each element of a buffer, at its parallel iterators in some order."""
    exprs = [e.maybe_downcast() for e in one.maps[len(one.inputs) + number].results]
    dims = [e.position for e in exprs if isinstance(e, ir.AffineDimExpr)]
    parallel = [d for d, kind in enumerate(one.kinds) if kind == "S"]
    return len(dims) == len(exprs) and sorted(dims) == parallel and not reshapes.is_view(one.outputs[number])


def _has_terms(one: GenericOp, sizes: ExtentSolver) -> bool:
    """Whether the reduction runs over at least one point, whatever the sizes are."""
    counts = [e.as_constant() for e, kind in zip(extents(one, sizes), one.kinds, strict=True) if kind == "R"]
    return all(n is not None and n > 0 for n in counts)


def _start(
    one: GenericOp, number: int, fills: Sequence[GenericOp], places: dict[ir.Operation, int]
) -> GenericOp | None:
    """The fill of an output that a reduction starts from."""
    buffer, here = one.outputs[number], places[one.op]
    before = [f for f in fills if f.outputs[0] == buffer and places[f.op] < here]
    if not before or not _is_whole(one, number):
        return None
    users = _users(buffer)
    if users.count(one.op) != 1:
        return None
    last = before[-1]
    between = [op for op in users if places[last.op] < _place(op, places) < here]
    return None if between else last


def _users(buffer: ir.Value) -> list[ir.Operation]:
    """The ops that access a buffer, also through views; one that does so twice is listed twice."""
    found: list[ir.Operation] = []
    for use in buffer.uses:
        op = use.owner.operation
        if reshapes.is_view_op(op):
            found += _users(op.results[0])
        elif op.name not in _NO_ACCESS:
            found.append(op)
    return found


def _place(op: ir.Operation, places: dict[ir.Operation, int]) -> int:
    """The place of an op, or of the loop around it, in the function."""
    return next(places[one] for one in [op, *walk.parents(op)] if one in places)
