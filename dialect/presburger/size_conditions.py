"""The sizes for which a proof succeeds, as text: added to refusals that depend on shape variables."""

from __future__ import annotations

import re

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Constraint
from tir_mlir.dialect.presburger.sets import constraint_set, question, sizes

LONGEST = 120  # longer conditions are omitted from messages

_SAME = re.compile(r"\((\w+) ([+-]) (\d+)\) % (\d+) == 0")
_FLOOR = re.compile(r"floord\(((?:[^(),]|\([^(),]*\))+), (\d+)\)")


def only_where(failing: isl.Set | isl.Map, op: ir.Operation) -> str:
    """`"; it holds only where n % 16 == 0"`: the sizes for which the set of failing points is empty.

    "" if the proof fails for all sizes, or if the condition is longer than a line.
    """
    text = sizes_without(failing, op)
    return f"; it holds only where {text}" if text else ""


def sizes_without(failing: isl.Set | isl.Map, op: ir.Operation) -> str:
    """The sizes, among those the function allows, for which a set is empty, as a condition; "" if there are none."""
    if not failing.dim(isl.dim_type.param):
        return ""
    try:
        with question("the condition on sizes"):
            allowed = sizes(op).set.params()
            bad = failing.params().align_params(allowed.get_space()).intersect(allowed)
            some, bad = _no_empty(allowed, bad)
            if bad.is_empty() or some.is_subset(bad):
                return ""
            bad = allowed.intersect(bad.gist(some))
            good = allowed.subtract(bad).coalesce()
            text = _text(good, allowed)
            negated = _text(bad, allowed)
    except NotProvable:
        return ""
    if re.fullmatch(r"[^=<>]* == [^=<>]*", negated):  # "n != 17" rather than "n >= 18 or n <= 16"
        text = min(text, negated.replace("==", "!="), key=len)
    return text if len(text) <= LONGEST else ""


def _no_empty(allowed: isl.Set, bad: isl.Set) -> tuple[isl.Set, isl.Set]:
    """Both sets without sizes of 0, unless only these fail: empty arrays are not worth a message."""
    for number in range(allowed.dim(isl.dim_type.param)):
        positive = bad.lower_bound_val(isl.dim_type.param, number, isl.Val(1))
        if not positive.is_empty():
            bad, allowed = positive, allowed.lower_bound_val(isl.dim_type.param, number, isl.Val(1))
    return allowed, bad


def constraint_text(constraint: Constraint, op: ir.Operation) -> str:
    """A constraint on sizes as text."""
    dom = sizes(op, assuming=False)
    allowed = dom.set.params()
    return _text(allowed.intersect(constraint_set(dom, constraint).params()), allowed)


def _text(points: isl.Set, context: isl.Set) -> str:
    """A set of sizes as a Python condition."""
    build = isl.AstBuild.from_context(context)
    text = build.expr_from_set(points.gist(context).coalesce()).to_C_str()
    text = text.replace("&&", "and").replace("||", "or")
    text = _SAME.sub(lambda m: f"{m[1]} % {m[4]} == {int(('' if m[2] == '-' else '-') + m[3]) % int(m[4])}", text)
    return _FLOOR.sub(r"\1 // \2", text)
