"""Whether a parallel loop of symbolic size has work for threads, asked when it runs."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.dialect.ir.edit import rebuild
from tir_mlir.dialect.ir.index import constant_integer
from tir_mlir.dialect.ir.lowering_op_views import OMPLoopNestOp, OMPParallelOp
from tir_mlir.dialect.ir.op_traits import DIVISIONS
from tir_mlir.dialect.ir.op_views import AccessOp, ConstantOp, ScfForOp, ScfIfOp, isa
from tir_mlir.passes.lower.registry import lowering

THREAD_WORK = "tir.thread_work"
"""Of a module: the least steps of a parallel loop, operations on floats, vectors or memory, that are worth threads."""
_UNKNOWN = 64.0
"""Iterations of a loop whose bounds are read from memory."""
_PROMISES = ("overflowFlags", "isExact")
"""What holds of a value where it is computed."""
_IF = (0, 0, 1, 0, 0, 0)
"""Of the operands of `omp.parallel`, the condition only."""


@lowering("tir-lower-thread-conditions", "Start no threads for parallel loops with little work")
def run(module: ir.Module) -> None:
    """Run a parallel loop in the calling thread if it has one iteration, or little work, where that depends on sizes.

        omp.parallel { ... (%i) = (0) to (%n) ... { ... scf.for %j = 0 to %m ... 3 operations } }
            -->
        %several = %n > 1 and %n * %m * 3 >= 42000
        omp.parallel if(%several) { ... }

    The module has `tir.thread_work`; without it, only the iterations count. Bounds that an iteration computes are those
    of the middle one; a loop whose bounds come from memory is taken to run 64 times. Runs after
    `convert-scf-to-openmp`.
    """
    least = float(attrs.get(module.operation, THREAD_WORK) or 0)
    attrs.put(module.operation, THREAD_WORK, None)
    for op in list(walk.ops(module.operation)):
        if isa(op, OMPParallelOp) and not len(op.operands):
            with ir.InsertionPoint(op), op.location:
                condition = _ThreadCondition(op).write(least)
            if condition is not None:
                rebuild(op, [condition], {"operandSegmentSizes": ir.DenseI32ArrayAttr.get(_IF)})


class _ThreadCondition:
    """What is computed before a parallel region of how much it does: its middle iteration, and that of loops in it,
    stand for all."""

    def __init__(self, region: ir.Operation):
        self._inside = list(walk.ops(region))
        self._region = set(self._inside)
        self._outside: dict[ir.Value, ir.Value | None] = {}
        self._is_constant = True

    def write(self, least: float) -> ir.Value | None:
        """Whether to start threads; None if that does not depend on what is known when it runs."""
        nest = next(op for op in self._inside if isa(op, OMPLoopNestOp))
        each, iterations = self._steps(nest), self._trips(nest)
        if self._is_constant or iterations is None:
            return None
        several = arith.cmpf(arith.CmpFPredicate.OGT, iterations, _float(1.0))
        if not least:
            return several
        enough = arith.cmpf(arith.CmpFPredicate.OGE, arith.mulf(iterations, each), _float(least))
        return arith.andi(several, enough)

    def _steps(self, op: ir.Operation) -> ir.Value:
        """The steps of an iteration of a loop, or of a branch."""
        own = [inner.operation for region in op.regions for block in region.blocks for inner in block.operations]
        total = _float(float(sum(map(_is_step, own))))
        for inner in own:
            if inner.regions:
                total = arith.addf(total, arith.mulf(self._times(inner), self._steps(inner)))
        return total

    def _times(self, op: ir.Operation) -> ir.Value:
        """How often the body of an op runs; half of the times that of a branch which an iteration decides on."""
        if isa(op, ScfForOp):
            return self._trips(op) or _float(_UNKNOWN)
        if isa(op, ScfIfOp) and len(op.regions[1].blocks) == 0:
            condition = self._before(op.operands[0])
            return _float(0.5) if condition is None else arith.uitofp(_f64(), condition)
        return _float(1.0)

    def _trips(self, loop: ir.Operation) -> ir.Value | None:
        low, high, step = list(loop.operands)[:3]
        first, end, size = self._before(low), self._before(high), constant_integer(step)
        if first is None or end is None or size is None:
            return None
        ends = constant_integer(low), constant_integer(high)
        if ends[0] is not None and ends[1] is not None:
            return _float(max(0.0, (ends[1] - ends[0]) / size))
        extent = arith.index_cast(ir.IntegerType.get_signless(64), arith.subi(end, first))
        return arith.maximumf(arith.mulf(arith.sitofp(_f64(), extent), _float(1.0 / size)), _float(0.0))

    def _before(self, value: ir.Value) -> ir.Value | None:
        """A value of the middle iterations, computed before the region; None if it is read from memory."""
        if value not in self._outside:
            self._outside[value] = self._computed(value)
        return self._outside[value]

    def _computed(self, value: ir.Value) -> ir.Value | None:
        owner = value.owner
        op = (owner.owner if isinstance(owner, ir.Block) else owner).operation
        if op not in self._region:
            self._is_constant = self._is_constant and isa(op, ConstantOp)
            return value
        if isinstance(owner, ir.Block):
            return self._middle(op) if value == owner.arguments[0] else None
        if not op.name.startswith("arith.") or (op.name in DIVISIONS and not constant_integer(op.operands[1])):
            return None
        operands = [x for x in map(self._before, op.operands) if x is not None]
        facts = {name: op.attributes[name] for name in op.attributes if name not in _PROMISES}
        whole = len(operands) == len(op.operands)
        return ir.Operation.create(op.name, [value.type], operands, facts).result if whole else None

    def _middle(self, loop: ir.Operation) -> ir.Value | None:
        """The variable of a loop in its middle iteration."""
        if not isa(loop, ScfForOp, OMPLoopNestOp):
            return None
        first, end = (self._before(bound) for bound in list(loop.operands)[:2])
        if first is None or end is None:
            return None
        return arith.shrsi(arith.addi(first, end), arith.constant(first.type, 1))


def _is_step(op: ir.Operation) -> bool:
    if isa(op, ConstantOp):
        return False
    value = op.results[0] if len(op.results) else op.operands[0] if len(op.operands) else None
    is_number = value is not None and isinstance(value.type, (ir.FloatType, ir.VectorType))
    return is_number or isa(op, AccessOp)


def _float(value: float) -> ir.Value:
    return arith.constant(_f64(), value)


def _f64() -> ir.Type:
    return ir.F64Type.get()
