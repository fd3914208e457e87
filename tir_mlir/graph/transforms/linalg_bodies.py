"""Bodies of upstream ops for what a graph calls, so that any MLIR tool lowers and runs it."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.computation import NotRaisable
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, create, encoding, tensor_funcs
from tir_mlir.dialect.ir import Func, enter_context, funcs
from tir_mlir.dialect.ir.create import declare
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import is_view
from tir_mlir.graph.size_code import GraphSizes
from tir_mlir.graph.units.operator_programs import operator_program
from tir_mlir.passes.linalg.tensor_functions import write_body, write_call, write_reshape, write_return
from tir_mlir.passes.linalg.to_linalg import specialize
from tir_mlir.script.module import IRModule, copy_function


@implement(Graph.to_linalg)
def to_linalg(graph: Graph) -> Graph:
    """Give each function that the graph calls a body: of linalg ops on tensors for an operator.

        %0 = call @nn.relu(%x)                                         %0 = call @nn.relu(%x)
        func.func private @nn.relu(tensor<4xf32>) -> tensor<4xf32> ->  func.func private @nn.relu(%x) { linalg.max ... }

    Softmax, norms and the like are several ops. Reshapes are collapse_shape and expand_shape. What stores at indices
    from data (scatters), and functions of TensorIR, are called on buffers. Packed functions remain declarations.
    Errors: GraphError for a size of a result that no operand has.
    """
    clone = graph.clone()
    with enter_context():
        writer = _Bodies(clone.module)
        for func in [f for f in tensor_funcs(clone.module.mlir) if f.is_graph]:
            for node in func.nodes:
                writer.node(func, node)
        specialize(clone.module.mlir)
    return clone


class _Bodies:
    """The state of one module. known: the name of the function with a body, by callee and types."""

    def __init__(self, module: IRModule):
        self.module, self.sizes = module, GraphSizes()
        self.known: dict[tuple[str, str, str], str] = {}
        self.open = {f.name for f in tensor_funcs(module.mlir) if _is_open(f)}
        self.taken: set[str] = set()

    def node(self, func: TensorFunc, node: Node) -> None:
        callee = node.callee
        if callee is None or callee.name not in self.open:
            return
        inputs = [func.type_of(v) for v in node.inputs]
        key = callee.name, repr(inputs), repr(node.types)
        if key not in self.known:
            op = self._copy(callee, node) if callee.name in self.taken else callee.op
            self.taken.add(callee.name)
            self.known[key] = TensorFunc(op).name
            try:
                self._body(op, node, inputs)
            except NotRaisable as error:
                raise GraphError(f"{node!r} has no form on tensors: {error}; fix: sizes that are numbers") from None
        node.op.attributes["callee"] = ir.FlatSymbolRefAttr.get(self.known[key])

    def _copy(self, callee: TensorFunc, node: Node) -> ir.Operation:
        """One more declaration, for other types that are the same in MLIR: signs, and relations between sizes."""
        with ir.InsertionPoint(callee.op):
            symbol = create.fresh_symbol(self.module.mlir, callee.name)
            declaration = declare(symbol, [v.type for v in node.inputs], [r.type for r in node.results])
        for name in callee.op.attributes:
            if name.startswith("graph."):
                declaration.attributes[name] = callee.op.attributes[name]
        return declaration

    def _body(self, op: ir.Operation, node: Node, inputs: Sequence[TensorType]) -> None:
        if node.kind == encoding.CALL_TIR:
            write_call(op, self._program(TensorFunc(op).callee))
            return
        if is_view(node) and not any(t.is_symbolic for t in (*inputs, *node.types)):
            write_reshape(op)
            return
        program = operator_program(str(node.operator), node.attributes, inputs, node.types, self.sizes)
        if isinstance(program, list):
            write_return(op, program)
            return
        try:
            write_body(op, program.func)
        except NotRaisable:
            symbol = create.fresh_symbol(self.module.mlir, str(node.operator).replace(".", "_"))
            copy_function(self.module.mlir, program, symbol)
            write_call(op, self._program(symbol))

    def _program(self, name: str) -> Func:
        return next(f for f in funcs(self.module.mlir) if f.name == name)


def _is_open(func: TensorFunc) -> bool:
    """Whether a function is declared only, and is to have a body."""
    return func.kind in (encoding.OPERATOR, encoding.CALL_TIR) and not len(func.op.regions[0].blocks)
