"""One op of a program on tensors as a function of its own."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import arith

from tir_mlir.dialect.ir import direct_ops, ops, parents

_GLUE = ("tensor.empty", "linalg.fill", "tensor.dim", "tensor.from_elements", "cf.assert", "affine.apply")


def is_glue(op: ir.Operation) -> bool:
    """Whether an op is part of the ops that read it: constants, fills, sizes, numbers, assertions about these."""
    if op.name in _GLUE:
        return True
    return op.name.startswith("arith.") and not len(op.regions) and (op.name == "arith.constant" or not _on_tensors(op))


def outlined(op: ir.Operation) -> tuple[ir.Module, list[ir.Value]]:
    """A module with a function `f` that does what an op does, and the tensors of the program that are its inputs.

    %f = linalg.fill ins(%zero) outs(%e)                func.func @f(%x, %w) -> tensor<..> {
    %1 = linalg.matmul ins(%x, %w) outs(%f)      -->      %f = linalg.fill ...; %1 = linalg.matmul ...; return %1
    """
    kept: list[ir.Operation] = []
    inputs: list[ir.Value] = []
    _collect(op, kept, inputs)
    module = ir.Module.create(op.location)
    types = ir.FunctionType.get([v.type for v in inputs], [r.type for r in op.results])
    with ir.InsertionPoint(module.body), op.location:
        facts = {"sym_name": ir.StringAttr.get("f"), "function_type": ir.TypeAttr.get(types)}
        made = ir.Operation.create("func.func", attributes=facts, regions=1)
    body = made.regions[0].blocks.append(*types.inputs)
    copies: dict[ir.Value, ir.Value] = dict(zip(inputs, body.arguments, strict=True))
    with ir.InsertionPoint(body), op.location:
        for one in kept:
            copy = one.clone().operation
            _remap(copy, copies)
            copies |= dict(zip(one.results, copy.results, strict=True))
        ir.Operation.create("func.return", operands=[copies[r] for r in op.results])
    return module, inputs


def share_sizes(module: ir.Module, shapes: Sequence[Sequence[int | str]]) -> list[int]:
    """Read sizes from the inputs that `f` reads anyway: one that is there for its size only is dropped. The others are
    marked as not to be overwritten: what `f` updates is copied.

    shapes: of the inputs, in the sizes of the program. Returns the numbers of the inputs that are left.
    """
    func = direct_ops(module.operation)[0]
    body = func.regions[0].blocks[0]
    args = list(body.arguments)
    read = [n for n, arg in enumerate(args) if any(use.owner.name != "tensor.dim" for use in arg.uses)]
    for op in [o for o in ops(func) if o.name == "tensor.dim" and o.operands[0] in args]:
        axis = op.operands[1].owner
        if isinstance(axis, ir.Block) or axis.name != "arith.constant":
            continue
        size = shapes[args.index(op.operands[0])][ir.IntegerAttr(axis.attributes["value"]).value]
        places = [(n, d) for n in read for d, each in enumerate(shapes[n]) if each == size]
        if places:
            with ir.InsertionPoint(op), op.location:
                number, place = places[0]
                op.operands[0], op.operands[1] = args[number], arith.constant(ir.IndexType.get(), place)
    kept = [n for n, arg in enumerate(args) if any(True for _ in arg.uses)]
    for number in reversed([n for n in range(len(args)) if n not in kept]):
        body.erase_argument(number)
    results = ir.FunctionType(ir.TypeAttr(func.attributes["function_type"]).value).results
    func.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([a.type for a in body.arguments], results))
    fixed = ir.DictAttr.get({"bufferization.writable": ir.BoolAttr.get(False)})
    func.attributes["arg_attrs"] = ir.ArrayAttr.get([fixed] * len(kept))
    return kept


def _collect(op: ir.Operation, kept: list[ir.Operation], inputs: list[ir.Value]) -> None:
    """Append an op to `kept`, after the glue that it reads, also in its body; and the tensors from elsewhere."""
    for value in _read(op):
        owner = value.owner
        if not isinstance(owner, ir.Block) and is_glue(owner.operation) and not is_weight(value):
            if owner.operation not in kept:
                _collect(owner.operation, kept, inputs)
        elif value not in inputs:
            inputs.append(value)
    kept.append(op)


def is_weight(value: ir.Value) -> bool:
    """Whether a value is a constant tensor of more than one number."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "arith.constant" or not isinstance(value.type, ir.RankedTensorType):
        return False
    known = owner.attributes["value"].maybe_downcast()
    return not (isinstance(known, ir.DenseElementsAttr) and known.is_splat)


def _read(op: ir.Operation) -> list[ir.Value]:
    """The values from outside of an op that it and its body read, in order."""
    found: list[ir.Value] = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                found += [v for v in _read(inner.operation) if not _is_inside(v, op)]
    return list(dict.fromkeys(found))


def _is_inside(value: ir.Value, op: ir.Operation) -> bool:
    owner = value.owner
    home = owner.owner.operation if isinstance(owner, ir.Block) else owner.operation
    return home == op and isinstance(owner, ir.Block) or op in parents(home)


def _remap(op: ir.Operation, copies: dict[ir.Value, ir.Value]) -> None:
    for number, operand in enumerate(op.operands):
        if operand in copies:
            op.operands[number] = copies[operand]
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                _remap(inner.operation, copies)


def _on_tensors(op: ir.Operation) -> bool:
    return any(isinstance(v.type, ir.RankedTensorType) for v in (*op.operands, *op.results))
