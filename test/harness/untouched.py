"""Check after each step of every test that what the step is said to leave alone is as before, op by op.

The verifier looks only at what a step changed (see `dialect/analysis/changed_nests.py`). An edit that is not recorded
would go unverified; here it fails the test.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import ChangedNests
from tir_mlir.dialect.ir import ops, tops

Values = dict[ir.Value, ir.Value]


class NotRecorded(BaseException):
    """A step edits an op without a record, see dialect/ir/touched.py. No Exception: a step makes a refusal of those."""


def check_untouched(step: str, before: ir.Module, after: ir.Module, changed: ChangedNests) -> None:
    """Raise NotRecorded if an op outside the nests that a step is said to have edited differs from before."""
    old, now = tops(before), tops(after)
    known: Values = {}
    pairs = []
    for number, (body, origins) in enumerate(zip(now, changed.origins, strict=True)):
        known |= dict(zip(old[number][0].block.arguments, body[0].block.arguments, strict=True))
        if _facts(old[number][0].block.owner) != _facts(body[0].block.owner):
            raise NotRecorded(f"{step} edits a function")
        for op, origin in zip(body, origins, strict=True):
            if origin is not None:
                pairs.append((old[origin[0]][origin[1]], op))
    for one, other in pairs:
        known |= dict(zip(one.results, other.results, strict=True))
    for one, other in pairs:
        difference = _difference(one, other, dict(known))
        if difference is not None:
            raise NotRecorded(f"{step} edits an op without a record: {difference}")


def _difference(one: ir.Operation, other: ir.Operation, known: Values) -> str | None:
    """What differs between two nests, with `known` outer values; None if they are equal."""
    left, right = ops(one), ops(other)
    if len(left) != len(right):
        return f"{len(left)} ops became {len(right)} in {other}"
    for a, b in zip(left, right, strict=True):
        if a.name != b.name or _facts(a) != _facts(b) or len(a.operands) != len(b.operands):
            return f"{a} became {b}"
        if any(known.get(v) != w for v, w in zip(a.operands, b.operands, strict=True)):
            return f"the operands of {a} changed to those of {b}"
        for v, w in zip(_values(a), _values(b), strict=True):
            if v.type != w.type:
                return f"a type of {a} changed, see {b}"
            known[v] = w
    return None


def _facts(op: ir.Operation) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes}


def _values(op: ir.Operation) -> list[ir.Value]:
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    return [*op.results, *arguments]
