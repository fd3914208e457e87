"""A destination of its own for each linalg op, where the program shares one `tensor.empty`."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import walk


def own_destinations(module: ir.Module) -> None:
    """Repeat what makes a tensor of no values, or of one number, for each op that writes it, in place.

        %e = tensor.empty()                                 %e = tensor.empty()
        %p = linalg.fill ins(%zero) outs(%e)                %p = linalg.fill ins(%zero) outs(%e)
        %q = linalg.matmul ins(%a, %b) outs(%p)     ->      %q = linalg.matmul ins(%a, %b) outs(%p)
        %r = linalg.add ins(%q, %c) outs(%e)                %e1 = tensor.empty()
                                                            %r = linalg.add ins(%q, %c) outs(%e1)

    Common subexpression elimination joins them. In one buffer the second op would overwrite what the first one made,
    and no step could move or fuse them.
    """
    for name in ("linalg.fill", "tensor.empty"):
        for op in [o for o in walk.ops(module.operation) if o.name == name and len(o.results) == 1]:
            if name == "linalg.fill" and not _is_empty(op.operands[1]):
                continue
            for use in _destination_uses(op)[1:]:
                with ir.InsertionPoint(use.owner):
                    use.owner.operands[use.operand_number] = op.clone().results[0]


def _destination_uses(op: ir.Operation) -> list[ir.OpOperand]:
    """The uses of a result as a destination of linalg ops, in the order of the program."""
    uses = [use for use in op.results[0].uses if _is_destination(use)]
    return uses[::-1]  # MLIR lists the last one first


def _is_destination(use: ir.OpOperand) -> bool:
    owner = use.owner
    return owner.name.startswith("linalg.") and use.operand_number >= len(owner.operands) - len(owner.results)


def _is_empty(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "tensor.empty"
