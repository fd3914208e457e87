"""Erase what a graph does not need for its results."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.graph import Node, TensorFunc, create, encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, direct_ops, funcs, visit


def erase_dead_nodes(func: TensorFunc) -> int:
    """Erase nodes whose results nobody uses, with their destinations and sizes. Returns the number of erased ops.

        %0 = call @nn.relu(%x)                    return %x
        return %x                          ->

    Calls of packed functions stay: they may have effects.
    """
    erased = 0
    for op in reversed(direct_ops(func.op)[:-1]):
        if not is_used(op) and not (op.name == "func.call" and Node(op).kind == encoding.PACKED):
            op.erase()
            erased += 1
    return erased


def drop_unused_inputs(func: TensorFunc, weights_only: bool = True) -> None:
    """Drop the weights that a function does not read, or all such inputs."""
    facts = attrs.argument_attrs(func.op)
    for number in reversed(range(len(func.inputs))):
        droppable = not weights_only or func.weight(number) is not None
        if droppable and not any(True for _ in func.inputs[number].uses):
            func.body.erase_argument(number)
            del facts[number]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
    create.update_type(func)


def is_used(op: ir.Operation) -> bool:
    """Whether any result of an op has a use."""
    return any(True for result in op.results for _ in result.uses)


def erase_unused_functions(module: ir.Module) -> int:
    """Erase private functions on tensors that are not called, and the TensorIR functions that only those called.

    TensorIR functions that no function on tensors called before stay. Returns the number of erased functions.
    """
    erased, dropped = 0, set[str]()
    while True:
        called = _called(module)
        unused = [f for f in tensor_funcs(module) if f.kind != encoding.GRAPH and f.name not in called]
        if not unused:
            break
        dropped |= {f.callee for f in unused if f.kind == encoding.CALL_TIR}
        for func in unused:
            func.op.erase()
        erased += len(unused)
    kept = called | {f.callee for f in tensor_funcs(module) if f.kind == encoding.CALL_TIR}
    for func in funcs(module):
        if func.name in dropped - kept:
            func.op.erase()
            erased += 1
    return erased


def _called(module: ir.Module) -> set[str]:
    found: set[str] = set()

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "func.call":
            found.add(ir.FlatSymbolRefAttr(op.attributes["callee"]).value)
        return ir.WalkResult.ADVANCE

    visit(module.operation, look)
    return found
