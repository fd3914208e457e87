"""Check after a step that what the step is said to leave alone is as before, op by op.

The verifier looks only at what a step changed (see `dialect/incremental`). An edit that is not recorded
would go unverified; here it is a fault. Runs after each step of every test and of thorough pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mlir import ir

from tir_mlir.dialect.incremental import ChangedNests, FunctionContents, Version
from tir_mlir.dialect.incremental.nests import read_function
from tir_mlir.dialect.ir import attrs, funcs, ops
from tir_mlir.dialect.ir.op_traits import FOLDED
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.executor import Executor

Values = dict[ir.Value, ir.Value]


class NotRecorded(BaseException):
    """A step edits an op without a record, see dialect/ir/memo.py. No Exception: a step makes a refusal of those."""


@contextmanager
def audited() -> Iterator[None]:
    """Check every step of every schedule."""
    audit = Executor.audit
    Executor.audit = staticmethod(check_untouched)
    try:
        yield
    finally:
        Executor.audit = staticmethod(audit) if audit is not None else None


def check_untouched(step: str, before: ir.Module, old: Version, later: Version, changed: ChangedNests) -> None:
    """Raise NotRecorded if an op outside the nests that a step is said to have edited differs from before, or if the
    version before is made again otherwise than it was. before: a copy of its module, made before the step."""
    known: Values = {}
    pairs = []
    after = later.module
    if PRIMITIVES[step].marks:
        _check_marks(step, before, after)
    functions = zip(funcs(before), funcs(after), old.contents or (), changed.contents, changed.tops, strict=True)
    for one, other, contents, new_contents, tops in functions:
        known |= dict(zip(one.args, other.args, strict=True))
        if _facts(one.op) != _facts(other.op):
            raise NotRecorded(f"{step} edits a function")
        was = dict(zip(contents.body, one.body.operations, strict=True))
        if list(other.body.operations) != tops:
            raise NotRecorded(f"{step} leaves a wrong list of ops")
        pairs += [(was[n].operation, op) for n, op in zip(new_contents.body, tops, strict=True) if n in was]
    for one, other in pairs:
        known |= dict(zip(one.results, other.results, strict=True))
    for one, other in pairs:
        difference = _difference(one, other, dict(known))
        if difference is not None:
            raise NotRecorded(f"{step} edits an op without a record: {difference}")
    _check_contents(step, after, changed)
    again = old.remake_from(later.live).module if old.is_moved else before
    if str(again.body) != str(before.body):
        raise NotRecorded(f"{step} edits an op without a record: {again} is made again of {before}")


def _check_marks(step: str, before: ir.Module, after: ir.Module) -> None:
    """Raise NotRecorded if a step changed more than the kinds of loops and annotations."""
    for old, now in zip(funcs(before), funcs(after), strict=True):
        known = dict(zip(old.args, now.args, strict=True))
        difference = _difference(old.op, now.op, known, (attrs.KIND, attrs.ANNOTATIONS))
        if difference is not None:
            raise NotRecorded(f"{step} edits more than marks: {difference}")


def _check_contents(step: str, after: ir.Module, changed: ChangedNests) -> None:
    """Raise NotRecorded if the contents carried over a step are not those of its result."""
    for func, carried in zip(funcs(after), changed.contents, strict=True):
        found = read_function(func, [op.operation for op in func.body.operations], {})
        if found is None or _plain(found) != _plain(carried):
            raise NotRecorded(f"{step} leaves a wrong table of the contents of {func.name}")


def _plain(known: FunctionContents) -> list[object]:
    """The contents of a function as plain values."""
    position = {nest: n for n, nest in enumerate(known.body)}
    rows = []
    for nest in known.body:
        uses = {used if isinstance(used, int) else (position[used],): w for used, w in (nest.uses or {}).items()}
        rows.append((nest.labels, nest.blocks, nest.sizes, set(nest.keys), uses, nest.is_head, nest.is_free, nest.name))
    index = {key: sorted(position[n] for n in nests) for key, nests in known.index.items()}
    return [known.number, known.has_wide_arguments, rows, index]


def _difference(one: ir.Operation, other: ir.Operation, known: Values, besides: Sequence[str] = ()) -> str | None:
    """What differs between two nests, with `known` outer values, besides some attributes; None if they are equal."""
    left, right = ops(one), ops(other)
    if len(left) != len(right):
        return f"{len(left)} ops became {len(right)} in {other}"
    for a, b in zip(left, right, strict=True):
        if a.name != b.name or _facts(a, besides) != _facts(b, besides) or len(a.operands) != len(b.operands):
            return f"{a} became {b}"
        if not all(_is_same(v, w, known) for v, w in zip(a.operands, b.operands, strict=True)):
            return f"the operands of {a} changed to those of {b}"
        for v, w in zip(_values(a), _values(b), strict=True):
            if v.type != w.type:
                return f"a type of {a} changed, see {b}"
            known[v] = w
    return None


def _is_same(v: ir.Value, w: ir.Value, known: Values) -> bool:
    """Whether values correspond: constants and sizes outside nests may count as changed without a need."""
    if v in known:
        return known[v] == w
    if isinstance(v.owner, ir.Block) or isinstance(w.owner, ir.Block):
        return False
    one, other = v.owner.operation, w.owner.operation
    if one.name != other.name or one.name not in FOLDED or _facts(one) != _facts(other):
        return False
    return all(_is_same(a, b, known) for a, b in zip(one.operands, other.operands, strict=True))


def _facts(op: ir.Operation, besides: Sequence[str] = ()) -> dict[str, ir.Attribute]:
    return {name: op.attributes[name] for name in op.attributes if name not in besides}


def _values(op: ir.Operation) -> list[ir.Value]:
    arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
    return [*op.results, *arguments]
