"""Accesses as isl relations { iteration -> element }, the input of dependence and dataflow analysis."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis.accesses import Access, access_domain, accesses
from tir_mlir.dialect.analysis.symbolic_digits import known_order
from tir_mlir.dialect.diagnostics import Counterexample, Element, Iteration
from tir_mlir.dialect.incremental import nest_key_of
from tir_mlir.dialect.ir import Block, Buffer, Index, Loop, cache_while_frozen, is_block, is_loop, only_reads, parents
from tir_mlir.dialect.presburger import DigitDomain, Domain, dim_type, over_digits, smallest_point


@dataclass
class AccessRelation:
    """An access as { iteration -> element }. Elements of an allocation inside loops are prefixed by these loops, as
    each iteration has its own copy."""

    access: Access
    known: Domain | None = None

    @cached_property
    def dom(self) -> Domain:
        """The iterations. Not eager: most questions about accesses were asked before, and need none."""
        return access_domain(self.access) if self.known is None else self.known

    @cached_property
    def relation(self) -> isl.Map:
        return _elements(self.access, self.dom)

    def outer(self, depth: int) -> isl.Map:
        """{ iteration of the outermost `depth` loops -> elements }."""
        return _outer(self.access, depth)

    @property
    def label(self) -> str:
        for parent in parents(self.access.op):
            if is_block(parent):
                return Block(parent).name or "block"
        return "statement"

    def iteration_at(self, point: Sequence[int]) -> Iteration:
        return Iteration(self.label, tuple(zip(loop_names(self.access.op), point, strict=True)))

    def example(self, point: Sequence[int]) -> Counterexample:
        """An iteration and the element that it accesses."""
        return Counterexample((self.iteration_at(point),), self.element(point))

    def element(self, point: Sequence[int], within: isl.Set | None = None) -> Element:
        """The smallest element that an iteration accesses (within `within`)."""
        elements = self.image(point) if within is None else self.image(point).intersect(within)
        where, buffer = smallest_point(elements) or [], Buffer(self.access.buffer)
        if self.access.parts:
            return Element.from_indices(buffer.name, [":"] * buffer.rank)
        return Element.from_indices(buffer.name, where[len(where) - buffer.rank :])

    def image(self, point: Sequence[int]) -> isl.Set:
        """The elements that an iteration accesses."""
        relation = self.relation
        for i, value in enumerate(point):
            relation = relation.fix_val(dim_type.in_, i, isl.Val(value))
        return relation.range()


def _elements(access: Access, dom: Domain) -> isl.Map:
    relation, private = access.elements(dom), _private_loops(access)
    return dom.map(private).flat_range_product(relation) if private else relation


@cache_while_frozen
def _outer(access: Access, depth: int) -> isl.Map:
    dom = access_domain(access)
    over = over_digits(access.op, None, [*access.indices, *_private_loops(access)], depth) if dom.exact else None
    relation = _elements(access, dom) if over is None else _elements_by_digits(access, over)
    return relation.project_out(dim_type.in_, depth, relation.dim(dim_type.in_) - depth)


@cache_while_frozen
def _elements_by_digits(access: Access, dom: DigitDomain) -> isl.Map:
    return _elements(access, dom)


def _private_loops(access: Access) -> list[Index]:
    """The loops around the allocation."""
    owner = Buffer(access.buffer).op
    return [Index.from_value(Loop(p).var) for p in parents(owner) if is_loop(p)][::-1] if owner is not None else []


@cache_while_frozen
def structural_key(access: Access) -> Hashable | None:
    """A key that determines the relation of an access, across modules; None if there is none.

    It has the nest (the ranges of all loops around it, the guards), the index, and the number of private loops.
    """
    nest = nest_key_of(access.op)
    if nest is None:
        return None
    owner = Buffer(access.buffer).op
    private_loops = sum(is_loop(p) for p in parents(owner)) if owner is not None else 0
    indices = [nest.attribute_key(i.expr, i.values) for i in access.indices]
    return None if None in indices else (nest.number, private_loops, *indices)


def loop_names(op: ir.Operation) -> list[str]:
    """Names of all enclosing loops in the function, outer to inner."""
    return [Loop(p).name for p in parents(op)[::-1] if is_loop(p)]


@only_reads
def relations_of(root: ir.Operation, *buffers: ir.Value) -> list[AccessRelation]:
    """The access relations under `root` (to some buffers, if given), without duplicates."""
    seen: dict[tuple, None] = {}
    relations: list[AccessRelation] = []
    for access in accesses(root):
        if buffers and access.buffer not in buffers:
            continue
        key = (access.op.block, access.buffer, access.kind, *access.indices)
        if key not in seen:
            seen[key] = None
            relations.append(relation_of(access))
    return relations


def relation_of(access: Access) -> AccessRelation:
    """The relation of one access."""
    return AccessRelation(access)


def written_groups(root: ir.Operation) -> list[list[AccessRelation]]:
    """Access relations under `root`, grouped by buffer, for buffers written there."""
    groups: dict[ir.Value, list[AccessRelation]] = {}
    written = dict.fromkeys(a.buffer for a in accesses(root) if a.is_write)
    for touch in relations_of(root, *written) if written else ():
        groups.setdefault(touch.access.buffer, []).append(touch)
    return list(groups.values())


def conflicting(group: Sequence[AccessRelation]) -> list[tuple[AccessRelation, AccessRelation]]:
    """The pairs of accesses to one buffer with at least one write."""
    return [(a, b) for a in group for b in group if a.access.is_write or b.access.is_write]


def same_element(a: AccessRelation, b: AccessRelation) -> isl.Map:
    """{ iteration of a -> iteration of b } where both access the same element."""
    clash = a.relation.apply_range(b.relation.reverse())
    order = known_order(a.dom, a.access.op, b.dom, b.access.op)
    return clash if order is None else clash.intersect(order)
