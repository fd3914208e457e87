"""Static counts of the elements of each buffer that a program loads and stores, by isl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl

from tir_mlir.dialect.analysis import Access, access_domain
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Block, Buffer, Func, Index, Loop, func_of, is_block, is_loop, only_reads, parents
from tir_mlir.dialect.ir.op_views import ElementAccessOp, isa
from tir_mlir.dialect.presburger import Domain, dim_type, question
from tir_mlir.visual import sizes
from tir_mlir.visual.nest import buffer_names

UNKNOWN = "not counted"


@dataclass(frozen=True)
class ElementCount:
    """A number of elements.

    value: None if unknown.
    text: a formula if sizes are symbolic.
    at_most: an upper bound, as an access depends on a data-dependent condition.
    by_calls: includes the operands of kernel calls, which count each element of the region once per call.
    """

    value: int | None = 0
    text: str = "0"
    at_most: bool = False
    by_calls: bool = False

    def __str__(self) -> str:
        return f"at most {self.text}" if self.at_most else self.text

    def __add__(self, rhs: ElementCount) -> ElementCount:
        is_known = self.value is not None and rhs.value is not None
        value = self.value + rhs.value if self.value is not None and rhs.value is not None else None
        return ElementCount(value, f"{value:,}" if is_known else _sum(self, rhs), *self._merged_flags(rhs))

    def _merged_flags(self, rhs: ElementCount) -> tuple[bool, bool]:
        return self.at_most or rhs.at_most, self.by_calls or rhs.by_calls


def _sum(lhs: ElementCount, rhs: ElementCount) -> str:
    if UNKNOWN in (lhs.text, rhs.text):
        return UNKNOWN
    texts = [c.text for c in (lhs, rhs) if c.value != 0]
    if len(texts) == 2 and texts[0] == texts[1]:
        return f"2 * {texts[0]}"
    return " + ".join(texts)


@dataclass(frozen=True)
class Traffic:
    """The loads and stores of one buffer in a function."""

    buffer: str
    scope: str
    loads: ElementCount
    stores: ElementCount


@only_reads
def traffic(func: Func, given: Mapping[str, int] | None = None) -> list[Traffic]:
    """The number of elements that one run of a function loads and stores of each buffer, parameters first.

    Exact: counts the points of the iteration domains, with guards and triangular loops. Shape variables without a given
    value remain symbolic. Every executed load or store counts (a vector as its elements); caches and registers of the
    machine are not modeled.
    """
    names = buffer_names(func)
    totals = {value: [ElementCount(), ElementCount()] for value in names}
    for access in accesses(func.op):
        if access.buffer in totals:
            column = totals[access.buffer]
            column[access.is_write] = column[access.is_write] + _count(access, given or {})
    return [Traffic(names[v], Buffer(v).scope, *columns) for v, columns in totals.items()]


def _count(access: Access, fixed_sizes: Mapping[str, int]) -> ElementCount:
    """The number of elements that one access transfers in a run."""
    dom, points = _iterations(access)
    by_calls = not isa(access.op, ElementAccessOp)
    extents = access.extents if by_calls else ()
    func = func_of(access.op)
    constants = {
        value: Index.constant(fixed_sizes[name]) for name, value in func.symbols.items() if name in fixed_sizes
    }
    facts = not dom.exact, by_calls and "llvm" in access.op.name
    points = _substitute_sizes(points, fixed_sizes)
    try:
        with question("how often an access runs"):
            parts = _count_factors(points)
    except NotProvable:
        return ElementCount(None, UNKNOWN, *facts)
    for extent in extents:
        extent = extent.substitute(constants).simplify()
        number = extent.as_constant()
        parts.append(number if number is not None else UNKNOWN)
    return _product(parts, facts)


def _product(parts: list[int | str], facts: tuple[bool, bool]) -> ElementCount:
    number = 1
    for part in parts:
        number *= part if isinstance(part, int) else 1
    words = [part for part in parts if isinstance(part, str)]
    if number == 0 or not words:
        return ElementCount(number, f"{number:,}", *facts)
    if UNKNOWN in words:
        return ElementCount(None, UNKNOWN, *facts)
    factors = [w if w.isidentifier() else f"({w})" for w in words]
    return ElementCount(None, " * ".join([*([f"{number:,}"] if number != 1 else []), *factors]), *facts)


def _iterations(access: Access) -> tuple[Domain, isl.Set]:
    """The iterations of an access: in terms of the iters of its block and its inner loops if that is injective.

    The guard of a split couples two loops; the block iter bound to both has a simple range.
    """
    dom = access_domain(access)
    block = next((Block(p) for p in parents(access.op) if is_block(p)), None)
    if block is None or not block.iters:
        return dom, dom.set
    inner = [Loop(p).var for p in parents(access.op) if is_loop(p) and block.op in parents(p)]
    outer = [i.var for p in parents(block.op) if is_block(p) for i in Block(p).iters]
    values = [Index.from_value(v) for v in (*outer, *(i.var for i in block.iters), *inner)]
    image = dom.map(values)
    return (dom, image.range()) if image.is_injective() else (dom, dom.set)


def _substitute_sizes(points: isl.Set, fixed_sizes: Mapping[str, int]) -> isl.Set:
    for position, name in enumerate(sizes.names(points)):
        if name in fixed_sizes:
            points = points.fix_val(dim_type.param, position, isl.Val(fixed_sizes[name]))
    return points


def _count_factors(points: isl.Set) -> list[int | str]:
    """Factors of the number of points: numbers and formulas."""
    points = points.coalesce()
    if points.is_empty():
        return [0]
    if points.n_basic_set() > 1:
        return [_number(points)]
    basic = points.get_basic_sets()[0].remove_redundancies()
    factors: list[int | str] = []
    for together in _groups(basic):
        part = points
        for d in reversed(range(basic.dim(dim_type.set))):
            if d not in together:
                part = part.project_out(dim_type.set, d, 1)
        factors.append(_number(part) if len(together) > 1 or _is_fixed(part) else _length(part))
    return factors


def _groups(basic: isl.BasicSet) -> list[list[int]]:
    """Group the dimensions coupled by constraints: the set is the product of its projections onto the groups."""
    count = basic.dim(dim_type.set)
    group = list(range(count))
    divs = basic.dim(dim_type.div)
    tied = [list(range(count))] if divs else []  # a div may depend on dimensions that are not in its constraints
    for constraint in basic.get_constraints():
        tied.append([d for d in range(count) if constraint.involves_dims(dim_type.set, d, 1)])
    for dims in tied:
        for d in dims[1:]:
            old, new = group[d], group[dims[0]]
            group = [new if g == old else g for g in group]
    return [[d for d in range(count) if group[d] == g] for g in dict.fromkeys(group)]


def _is_fixed(points: isl.Set) -> bool:
    """Whether a one-dimensional set is bounded and independent of parameters."""
    low, high = points.dim_min_val(0), points.dim_max_val(0)
    return low.is_int() and high.is_int() and not points.involves_dims(dim_type.param, 0, points.dim(dim_type.param))


def _number(points: isl.Set) -> int | str:
    """The number of points; UNKNOWN if it depends on parameters."""
    count = points.dim(dim_type.param)
    if count and points.involves_dims(dim_type.param, 0, count):
        fixed = _with_fixed_params(points)
        if fixed is None:
            return UNKNOWN
        points = fixed
    if count:
        points = points.project_out(dim_type.param, 0, count)
    counted = points.count_val()
    return counted.to_python() if counted.is_int() else UNKNOWN


def _with_fixed_params(points: isl.Set) -> isl.Set | None:
    """The set if all its parameters have fixed values, else None."""
    params = points.params()
    for position in range(params.dim(dim_type.param)):
        if params.involves_dims(dim_type.param, position, 1):
            if not points.plain_get_val_if_fixed(dim_type.param, position).is_int():
                return None
    return points


def _length(points: isl.Set) -> int | str:
    """The number of points of an interval whose bounds are expressions of shape variables."""
    if _with_fixed_params(points) is not None:
        return _number(points)
    extent = points.dim_max(0).sub(points.dim_min(0)).coalesce()
    extent = extent.add(isl.PwAff.val_on_domain(extent.domain(), isl.Val(1))).gist(points.params()).coalesce()
    if extent.n_piece() != 1 or not _is_dense(points):
        return UNKNOWN
    build = isl.AstBuild.from_context(points.params())
    text = build.expr_from_pw_aff(extent).to_C_str()
    return int(text) if text.isdigit() else text


def _is_dense(points: isl.Set) -> bool:
    """Whether a one-dimensional set has no gaps."""
    return points.get_basic_sets()[0].dim(dim_type.div) == 0
