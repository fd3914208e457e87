"""Upstream passes before the conversion: bufferize, generalize named ops, turn results into parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from mlir import ir
from mlir.dialects import memref
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, attrs, funcs, walk
from tir_mlir.passes.linalg import reshapes
from tir_mlir.passes.linalg.constant_buffers import constants_to_params, erase_globals
from tir_mlir.passes.linalg.decompose_softmax import decompose_softmax
from tir_mlir.passes.linalg.integer_powers import expand_integer_powers
from tir_mlir.passes.linalg.own_destinations import own_destinations
from tir_mlir.passes.linalg.tensor_reshapes import rewrite_tensor_reshapes

ALLOCATED_PARAMETER = "tir.claim"  # on an allocation that became a parameter: its position, until its sizes are known
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
GENERALIZE = "linalg-generalize-named-ops"
UPSTREAM = (BUFFERIZE, GENERALIZE)
_COMMAND = BUFFERIZE.replace("{", '="').replace("}", '"')
_HINT = (
    f"; tensors are converted to memrefs by `mlir-opt --{_COMMAND}`, which stops here: remove "
    "this op from the program first"
)


def prepare(module: ir.Module) -> dict[str, dict[int, np.ndarray]]:
    """In place: make every tensor a memref and every linalg op a `linalg.generic`, and remove function results.

    The name of a named op is kept in the location of its generic, for the name of the block. Returns the constants that
    became parameters, by function and number.
    """
    for op in walk.ops(module.operation):
        if op.name.startswith("linalg.") and op.name != "linalg.generic" and len(op.regions):
            op.location = ir.Location.name(op.name.partition(".")[2], op.location)
    if any(_has_tensor(op) for op in walk.ops(module.operation)):
        rewrite_tensor_reshapes(module)
        own_destinations(module)
        run_upstream(module, [BUFFERIZE], _HINT)
    expand_integer_powers(module)
    decompose_softmax(module)
    constants = {func.name: constants_to_params(module, func) for func in funcs(module)}
    for func in funcs(module):
        results_to_params(func)
    erase_globals(module)
    run_upstream(module, [GENERALIZE])
    return constants


def _has_tensor(op: ir.Operation) -> bool:
    values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
    return any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in values)


def results_to_params(func: Func) -> None:
    """`return %alloc` -> an additional parameter instead of the allocation; a returned parameter is dropped, and a
    returned view, such as a reshaped buffer, is copied to a parameter of its shape.
    """
    if len(func.op.regions[0].blocks) != 1:
        raise LinalgError(f"function {func.name} has several basic blocks; only one is supported", func.op.location)
    end = list(func.body.operations)[-1].operation
    facts = _argument_facts(func)
    returned = list(dict.fromkeys(_source(v, end) for v in end.operands))
    for value in returned:
        if reshapes.is_view(value):
            type_ = ir.MemRefType(value.type)
            arg = func.body.add_argument(ir.MemRefType.get(type_.shape, type_.element_type), value.owner.location)
            with ir.InsertionPoint(end), value.owner.location:
                memref.copy(value, arg)
            facts.append(ir.DictAttr.get({}))
        elif not isinstance(value.owner, ir.Block):
            arg = func.body.add_argument(value.type, value.owner.location)
            value.replace_all_uses_with(arg)
            value.owner.operation.attributes[ALLOCATED_PARAMETER] = attrs.to_attr(len(facts))
            facts.append(ir.DictAttr.get({}))
    if len(end.operands):
        with ir.InsertionPoint(end), end.location:
            ir.Operation.create("func.return")
        end.erase()
    if "res_attrs" in func.op.attributes:
        del func.op.attributes["res_attrs"]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    update_type(func)


def _source(value: ir.Value, end: ir.Operation) -> ir.Value:
    """The parameter, the allocation (also through casts) or the view that is returned."""
    while not isinstance(value.owner, ir.Block) and value.owner.name == "memref.cast":
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name == "memref.alloc" or reshapes.is_view(value):
        if isinstance(value.type, ir.MemRefType):
            return value
    what = "a parameter" if isinstance(owner, ir.Block) else owner.name
    raise LinalgError(
        f"the function returns a {value.type} made by {what}; it may return whole buffers that it "
        "allocates, or write its results to parameters",
        end.location,
    )


def _argument_facts(func: Func) -> list[ir.Attribute]:
    """The attributes of the arguments, none of those that were added."""
    known = list(ir.ArrayAttr(func.op.attributes["arg_attrs"])) if "arg_attrs" in func.op.attributes else []
    return [*known, *(ir.DictAttr.get({}) for _ in func.args[len(known) :])]


def update_type(func: Func) -> None:
    """Set the type of the function to that of its block arguments, without results."""
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in func.args], []))


def run_upstream(module: ir.Module, passes: Sequence[str], hint: str = "") -> None:
    """Run passes in order, in place. Errors: LinalgError with the first diagnostic, followed by `hint`."""
    said: list[Any] = []

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            said.append((diagnostic.message, diagnostic.location))
        return True

    context: Any = module.context
    handler = context.attach_diagnostic_handler(take)
    # otherwise the bindings abort when a pass emits an error but succeeds
    context.emit_error_diagnostics = True
    try:
        PassManager.parse(f"builtin.module({','.join(passes)})").run(module.operation)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        said = said or [(str(error).splitlines()[0], None)]
    finally:
        context.emit_error_diagnostics = False
        handler.detach()
    if said:
        message, location = said[0]
        raise LinalgError(message + hint, location)
