"""For which buffer an operation is made: the one of the first store that its result flows to."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.views import parent_op

_STORES = {"vector.maskedstore": 0, "vector.scatter": 0}  # others: operand 1
_LOOPS = ("affine.for", "scf.for")


def destination(value: ir.Value) -> ir.Value | None:
    """The memref that the first store takes which a value flows to, by ops, loops and choices; None: none does."""
    seen: set[ir.Value] = set()
    todo = [value]
    while todo:
        current = todo.pop(0)
        if current in seen:
            continue
        seen.add(current)
        for use in reversed(list(current.uses)):  # the last use comes first
            op = use.owner.operation
            if op.name.endswith("store") or op.name in ("vector.transfer_write", "vector.scatter"):
                place = _STORES.get(op.name, 1)
                if use.operand_number != place and isinstance(op.operands[place].type, ir.MemRefType):
                    return op.operands[place]
            elif op.name in _LOOPS:
                number = use.operand_number - (len(op.operands) - len(op.results))
                if number >= 0:
                    todo += [op.results[number], op.regions[0].blocks[0].arguments[1 + number]]
            elif op.name in ("scf.yield", "affine.yield"):
                around = parent_op(op)
                if use.operand_number < len(around.results):
                    todo.append(around.results[use.operand_number])
            else:
                todo += list(op.results)
    return None
