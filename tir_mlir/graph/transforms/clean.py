"""Erase dead nodes of a graph, and compute equal ones once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, create, encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, direct_ops, enter_context, funcs, symbols_kept, visit
from tir_mlir.dialect.ir.op_views import CallOp, isa
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.size_code import symbols


def clean(graph: Graph) -> Graph:
    """Compute equal nodes once, then erase nodes, functions and weights that nothing uses; other inputs remain.

    lv = R.nn.relu(x); lv1 = R.nn.relu(x); lv2 = R.exp(x)          lv = R.nn.relu(x)
    gv = R.add(lv, lv1)                                     ->     gv = R.add(lv, lv)
    """
    cleaned = graph.clone()
    with enter_context():
        with symbols_kept(cleaned.module.mlir):
            merge_equal_nodes(cleaned.func)
            erase_dead_nodes(cleaned.func)
            drop_unused_inputs(cleaned.func)
        erase_unused_functions(cleaned.module.mlir)
    return cleaned


def merge_equal_nodes(func: TensorFunc) -> int:
    """Replace each node that computes what an earlier one did. Returns the number of nodes that were replaced.

        %0 = call @nn.relu(%x)                    %0 = call @nn.relu(%x)
        %1 = call @nn.relu(%x)             ->     linalg.add ins(%0, %0)
        linalg.add ins(%0, %1)

    The replaced nodes are dead. Calls of packed functions are left alone.
    """
    first_nodes: dict[Hashable, Node] = {}
    merged, packed = 0, _packed_names(func)
    for node in func.nodes:
        if packed and _callee(node.op) in packed:
            continue
        first = first_nodes.setdefault(_key(node), node)
        if first is not node:
            merged += 1
            for old, new in zip(node.results, first.results, strict=True):
                old.replace_all_uses_with(new)
    return merged


def _key(node: Node) -> Hashable:
    """What a node computes: its op, its callee or value, and its inputs."""
    facts = node.op.attributes
    what = next((facts[name] for name in ("callee", "value", encoding.OP) if name in facts), None)
    return node.op.name, what, tuple(node.inputs), tuple(r.type for r in node.results)


def erase_dead_nodes(func: TensorFunc) -> int:
    """Erase nodes whose results nobody uses, with their destinations and sizes. Returns the number of erased ops.

        %0 = call @nn.relu(%x)                    return %x
        return %x                          ->

    Calls of packed functions remain: they may have effects. So does what makes a size that a later tensor has.
    """
    erased, packed = 0, _packed_names(func)
    counted = any(kind_of(node.operator) is OperatorKind.COUNTED for node in func.nodes)
    nodes = {node.op: node for node in func.nodes} if counted else {}
    sizes: set[str] = set()  # of the tensors that remain
    for op in reversed(direct_ops(func.op)[:-1]):
        node = nodes.get(op)
        makes = node is not None and _counted_size(node) in sizes
        if not is_used(op) and not makes and not (packed and _callee(op) in packed):
            op.erase()
            erased += 1
        elif node is not None:
            sizes |= {name for type_ in node.types for size in type_.shape for name in symbols(size)}
    return erased


def _counted_size(node: Node) -> str | None:
    """The size that a node makes of data, None of others."""
    return str(node.types[0].shape[0]) if kind_of(node.operator) is OperatorKind.COUNTED else None


def _packed_names(func: TensorFunc) -> set[str]:
    """The names of what stands for packed functions in the module of a graph."""
    return {callee.name for callee in tensor_funcs(func.module) if callee.kind == encoding.PACKED}


def _callee(op: ir.Operation) -> str | None:
    return ir.FlatSymbolRefAttr(op.attributes["callee"]).value if isa(op, CallOp) else None


def drop_unused_inputs(func: TensorFunc, weights_only: bool = True) -> None:
    """Drop the weights that a function does not read, or all such inputs."""
    facts = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    for number, value in reversed(list(enumerate(func.inputs))):
        droppable = not weights_only or encoding.WEIGHT in ir.DictAttr(facts[number])
        if droppable and next(value.uses, None) is None:
            func.body.erase_argument(number)
            del facts[number]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    create.update_type(func)


def is_used(op: ir.Operation) -> bool:
    """Whether any result of an op has a use."""
    return any(next(result.uses, None) is not None for result in op.results)


def erase_unused_functions(module: ir.Module) -> int:
    """Erase private functions on tensors that are not called, and the TensorIR functions that only those called.

    TensorIR functions that no function on tensors called before remain. Returns the number of erased functions.
    """
    erased, dropped = 0, set[str]()
    while True:
        others = tensor_funcs(module)  # programs call programs only
        called = _callees_of([func.op for func in others])
        unused = [f for f in others if f.kind != encoding.GRAPH and f.name not in called]
        if not unused:
            break
        dropped |= {f.callee for f in unused if f.kind == encoding.CALL_TIR}
        for func in unused:
            func.op.erase()
        erased += len(unused)
    dropped -= called | {f.callee for f in others if f.kind == encoding.CALL_TIR}
    dropped -= _callees_of([func.op for func in funcs(module)]) if dropped else set()
    for func in funcs(module) if dropped else ():
        if func.name in dropped:
            func.op.erase()
            erased += 1
    return erased


def _callees_of(functions: Sequence[ir.Operation]) -> set[str]:
    callees: set[str] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if (callee := _callee(op)) is not None:
            callees.add(callee)
        return ir.WalkResult.ADVANCE

    for function in functions:
        visit(function, look)
        callees |= set(attrs.get(function, encoding.REGIONS, []))
    return callees
