"""Before linalg becomes loops: tensors become buffers, named ops become generics, results become parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, attrs, funcs, walk

CLAIM = "tir.claim"  # on an allocation that became a parameter: its number, while the sizes are not settled
BUFFERIZE = "one-shot-bufferize{bufferize-function-boundaries=1 function-boundary-type-conversion=identity-layout-map}"
GENERALIZE = "linalg-generalize-named-ops"
UPSTREAM = (BUFFERIZE, GENERALIZE)
_COMMAND = BUFFERIZE.replace("{", '="').replace("}", '"')
_HINT = f"; tensors become memrefs by `mlir-opt --{_COMMAND}`, which stops here: take this op out of the program first"


def prepare(module: ir.Module) -> None:
    """In place: every tensor a memref, every linalg op a `linalg.generic`, no function with results.

    The name of a named op stays in the location of its generic: the block will be called so.
    """
    for op in walk.ops(module.operation):
        if op.name.startswith("linalg.") and op.name != "linalg.generic" and len(op.regions):
            op.location = ir.Location.name(op.name.partition(".")[2], op.location)
    if any(_has_tensor(op) for op in walk.ops(module.operation)):
        run(module, [BUFFERIZE], _HINT)
    run(module, [GENERALIZE])
    for func in funcs(module):
        results_to_params(func)


def _has_tensor(op: ir.Operation) -> bool:
    values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
    return any(isinstance(v.type, (ir.RankedTensorType, ir.UnrankedTensorType)) for v in values)


def results_to_params(func: Func) -> None:
    """`return %alloc` -> one more parameter in the place of the allocation; a returned parameter is just left out."""
    if len(func.op.regions[0].blocks) != 1:
        raise LinalgError(f"function {func.name} has several basic blocks; loops and blocks have one", func.op.location)
    end = list(func.body.operations)[-1].operation
    returned = list(dict.fromkeys(_source(v, end) for v in end.operands))
    if not len(end.operands):
        return
    facts = _argument_facts(func)
    for value in returned:
        if not isinstance(value.owner, ir.Block):
            arg = func.body.add_argument(value.type, value.owner.location)
            value.replace_all_uses_with(arg)
            value.owner.operation.attributes[CLAIM] = attrs.to_attr(len(facts))
            facts.append(ir.DictAttr.get({}))
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("func.return")
    end.erase()
    if "res_attrs" in func.op.attributes:
        del func.op.attributes["res_attrs"]
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get(facts)
    update_type(func)


def _source(value: ir.Value, end: ir.Operation) -> ir.Value:
    """The parameter or allocation that is returned, behind casts."""
    while not isinstance(value.owner, ir.Block) and value.owner.name == "memref.cast":
        value = value.owner.operands[0]
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name == "memref.alloc":
        if isinstance(value.type, ir.MemRefType):
            return value
    what = "a parameter" if isinstance(owner, ir.Block) else owner.name
    raise LinalgError(
        f"the function returns a {value.type} made by {what}; it may return buffers that it allocates as a whole, "
        "or write its results to parameters",
        end.location,
    )


def _argument_facts(func: Func) -> list[ir.Attribute]:
    if "arg_attrs" in func.op.attributes:
        return list(ir.ArrayAttr(func.op.attributes["arg_attrs"]))
    return [ir.DictAttr.get({}) for _ in func.args]


def update_type(func: Func) -> None:
    """The type of the function is that of its block's arguments, without results."""
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in func.args], []))


def run(module: ir.Module, passes: Sequence[str], hint: str = "") -> None:
    """Run passes in order, in place. Errors: LinalgError with the first complaint, followed by `hint`."""
    said: list[Any] = []

    def take(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            said.append((diagnostic.message, diagnostic.location))
        return True

    context: Any = module.context
    handler = context.attach_diagnostic_handler(take)
    # else the bindings end the process when a pass complains and succeeds
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
