"""Upstream passes before the conversion: bufferize, generalize named ops, turn results into parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, attrs, funcs, walk

ALLOCATED_PARAMETER = "tir.claim"  # on an allocation that became a parameter: its position, until its sizes are known
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
GENERALIZE = "linalg-generalize-named-ops"
UPSTREAM = (BUFFERIZE, GENERALIZE)
_COMMAND = BUFFERIZE.replace("{", '="').replace("}", '"')
_HINT = (
    f"; tensors are converted to memrefs by `mlir-opt --{_COMMAND}`, which stops here: remove "
    "this op from the program first"
)


def prepare(module: ir.Module) -> None:
    """In place: make every tensor a memref and every linalg op a `linalg.generic`, and remove function results.

    The name of a named op is kept in the location of its generic, for the name of the block.
    """
    for op in walk.ops(module.operation):
        if op.name.startswith("linalg.") and op.name != "linalg.generic" and len(op.regions):
            op.location = ir.Location.name(op.name.partition(".")[2], op.location)
    if any(_has_tensor(op) for op in walk.ops(module.operation)):
        run_upstream(module, [BUFFERIZE], _HINT)
    run_upstream(module, [GENERALIZE])
    for func in funcs(module):
        results_to_params(func)


def _has_tensor(op: ir.Operation) -> bool:
    values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
    return any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in values)


def results_to_params(func: Func) -> None:
    """`return %alloc` -> an additional parameter instead of the allocation; a returned parameter is dropped."""
    if len(func.op.regions[0].blocks) != 1:
        raise LinalgError(f"function {func.name} has several basic blocks; only one is supported", func.op.location)
    end = list(func.body.operations)[-1].operation
    returned = list(dict.fromkeys(_source(v, end) for v in end.operands))
    if not len(end.operands):
        return
    facts = _argument_facts(func)
    for value in returned:
        if not isinstance(value.owner, ir.Block):
            arg = func.body.add_argument(value.type, value.owner.location)
            value.replace_all_uses_with(arg)
            value.owner.operation.attributes[ALLOCATED_PARAMETER] = attrs.to_attr(len(facts))
            facts.append(ir.DictAttr.get({}))
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return")
    end.erase()
    if "res_attrs" in func.op.attributes:
        del func.op.attributes["res_attrs"]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    update_type(func)


def _source(value: ir.Value, end: ir.Operation) -> ir.Value:
    """The parameter or allocation that is returned, through casts."""
    while not isinstance(value.owner, ir.Block) and value.owner.name == "memref.cast":
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name == "memref.alloc":
        if isinstance(value.type, ir.MemRefType):
            return value
    what = "a parameter" if isinstance(owner, ir.Block) else owner.name
    raise LinalgError(
        f"the function returns a {value.type} made by {what}; it may return whole buffers that it "
        "allocates, or write its results to parameters",
        end.location,
    )


def _argument_facts(func: Func) -> list[ir.Attribute]:
    if "arg_attrs" in func.op.attributes:
        return list(ir.ArrayAttr(func.op.attributes["arg_attrs"]))
    return [ir.DictAttr.get({}) for _ in func.args]


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
