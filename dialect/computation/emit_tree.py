"""Emit the scalar computation of a form as ops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.computation.scalar_tree import Leaf, OpNode, Tree
from tir_mlir.dialect.ir.lowering_op_views import LinalgIndexOp


class TreeEmitter:
    """Emits a scalar tree, with common subtrees once."""

    def __init__(self, values: Mapping[int, ir.Value], arguments: Sequence[ir.Value]):
        self.values = values
        self.arguments = arguments
        self.made: dict[Tree, ir.Value] = {}

    def value(self, tree: Tree) -> ir.Value:
        if isinstance(tree, Leaf):
            return self.values[tree.operand]
        assert isinstance(tree, OpNode)  # a computation without conditions has no other leaves
        if tree not in self.made:
            self.made[tree] = self._make(tree)
        return self.made[tree]

    def _make(self, tree: OpNode) -> ir.Value:
        if tree.op == "func.arg":
            return self.arguments[int(dict(tree.facts)["number"])]
        if tree.op in LinalgIndexOp.names:
            dim = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), int(dict(tree.facts)["dim"]))
            op = ir.Operation.create(tree.op, results=[ir.IndexType.get()], attributes={"dim": dim})
            return op.results[0]
        operands = [self.value(child) for child in tree.children]
        facts = {name: ir.Attribute.parse(text) for name, text in tree.facts}
        op = ir.Operation.create(tree.op, results=[ir.Type.parse(tree.type)], operands=operands, attributes=facts)
        return op.results[0]
