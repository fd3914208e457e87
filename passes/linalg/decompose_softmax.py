"""`linalg.softmax` on buffers as reductions and pointwise ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir
from mlir.dialects import arith, linalg, math, memref

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import walk
from tir_mlir.passes.linalg.emit_linalg import generic_op


def decompose_softmax(module: ir.Module) -> None:
    """Replace each softmax on buffers, in place.

        linalg.softmax dimension(1) ins(%A) outs(%B)
    -->
        m[i] = max over j of A[i, j];  e[i, j] = exp(A[i, j] - m[i]);  s[i] = sum over j of e[i, j]
        B[i, j] = e[i, j] / s[i]

    Errors: LinalgError for elements that are no floats.
    """
    for op in [o for o in walk.ops(module.operation) if o.name == "linalg.softmax"]:
        _Softmax(op).run()
        op.erase()


class _Softmax:
    def __init__(self, op: ir.Operation):
        self.op, self.type = op, ir.MemRefType(op.operands[0].type)
        if not isinstance(self.type.element_type, (ir.F16Type, ir.BF16Type, ir.F32Type, ir.F64Type)):
            raise LinalgError(f"linalg.softmax of {self.type.element_type}: its elements are floats", op.location)
        self.axis = ir.IntegerAttr(op.attributes["dimension"]).value
        self.kept = [d for d in range(self.type.rank) if d != self.axis]
        self.all = ir.AffineMap.get_identity(self.type.rank)
        self.row = ir.AffineMap.get(self.type.rank, 0, [ir.AffineExpr.get_dim(d) for d in self.kept])

    def run(self) -> None:
        source, target = self.op.operands
        with ir.InsertionPoint(self.op), self.op.location:
            largest = self._buffer(self.kept, float("-inf"))
            self._generic("max", [source], largest, [self.all, self.row], lambda x, m: arith.maximumf(x, m))
            powers = self._buffer(range(self.type.rank))
            self._generic("exp", [source, largest], powers, [self.all, self.row, self.all],
                          lambda x, m, _: math.exp(arith.subf(x, m)))  # fmt: skip
            total = self._buffer(self.kept, 0.0)
            self._generic("sum", [powers], total, [self.all, self.row], lambda x, s: arith.addf(s, x))
            self._generic("div", [powers, total], target, [self.all, self.row, self.all],
                          lambda x, s, _: arith.divf(x, s))  # fmt: skip

    def _buffer(self, axes: Sequence[int], start: float | None = None) -> ir.Value:
        """A buffer over some axes of the operand, filled with a number."""
        shape = [self.type.shape[a] for a in axes]
        sizes = [
            memref.dim(self.op.operands[0], arith.constant(ir.IndexType.get(), a))
            for a in axes
            if self.type.is_dynamic_dim(a)
        ]
        made = memref.alloc(ir.MemRefType.get(shape, self.type.element_type), sizes, [])
        if start is not None:
            with ir.Location.name("fill", self.op.location):
                value = arith.constant(self.type.element_type, ir.FloatAttr.get(self.type.element_type, start))
                linalg.fill(value, outs=[made])
        return made

    def _generic(
        self, word: str, inputs: Sequence[ir.Value], output: ir.Value, maps: Sequence[ir.AffineMap],
        value: Callable[..., ir.Value],
    ) -> None:  # fmt: skip
        """A generic over all axes: a reduction along that of the softmax if its output does not have it."""
        folds = maps[-1] == self.row
        kinds = ["R" if d == self.axis and folds else "S" for d in range(self.type.rank)]
        with ir.Location.name(f"softmax_{word}", self.op.location):
            made = generic_op(inputs, [output], maps, kinds)
            with ir.InsertionPoint(made.regions[0].blocks[0]):
                ir.Operation.create("linalg.yield", operands=[value(*made.regions[0].blocks[0].arguments)])
