"""Pairs of a copy and a later access to what it copies, by the iterations that they are in."""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import same_element
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Loop, is_loop, walk
from tir_mlir.dialect.presburger import BUILD_OPERATIONS, dim_type, flatten, question
from tir_mlir.passes.lower.gpu.conflicts import SharedAccess
from tir_mlir.passes.lower.gpu.nests import KernelNest


@dataclass(frozen=True)
class Meetings:
    """Pairs of accesses to one element, in one block and one iteration of the loops around the loop of a pipeline."""

    nest: KernelNest
    loop: ir.Operation

    def pairs(self, first: SharedAccess, number: Loop | None, second: SharedAccess) -> isl.Map:
        """{ iteration of loop `number` -> iteration of the pipeline } in which `first` and `second` touch one element;
        without a loop, 0 instead of its iteration. Raises NotProvable."""
        with question(f"how far ahead {Buffer(first.access.buffer).name} is copied", BUILD_OPERATIONS):
            both = same_element(first, second)
            threads = {axis.var for axis in self.nest.threads}
            outer = [axis.var for axis in self.nest.blocks]
            outer += [Loop(p).var for p in walk.parents(self.loop) if is_loop(p)]
            for var in outer:
                if var not in threads:
                    both = both.equate(dim_type.in_, first.dom.index_of(var), dim_type.out, second.dom.index_of(var))
            both = _keep(both, dim_type.in_, None if number is None else first.dom.index_of(number.var))
            both = _keep(both, dim_type.out, second.dom.index_of(Loop(self.loop).var))
            return both.project_out(dim_type.param, 0, both.dim(dim_type.param))

    def least_distance(self, store: SharedAccess, load: SharedAccess) -> int | None:
        """The fewest iterations from a store in the loop to a load of the same element, none for the same iteration;
        None if that is not known, or no iteration loads what one stores."""
        try:
            return least_value(in_order(self.pairs(store, Loop(self.loop), load)), -1, 1)
        except NotProvable:
            return None


def _keep(both: isl.Map, side: dim_type, number: int | None) -> isl.Map:
    """Keep one dimension of a side; a constant 0 if it is None."""
    if number is None:
        both = both.project_out(side, 0, both.dim(side)).insert_dims(side, 0, 1)
        return both.fix_val(side, 0, isl.Val(0))
    both = both.project_out(side, number + 1, both.dim(side) - number - 1)
    return both.project_out(side, 0, number)


def in_order(pairs: isl.Map, least: int = 0) -> isl.Map:
    """The pairs of which the second iteration is at least so many later than the first one."""
    limit = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(pairs.get_space()))
    limit = limit.set_coefficient_val(dim_type.in_, 0, isl.Val(-1)).set_coefficient_val(dim_type.out, 0, isl.Val(1))
    return pairs.add_constraint(limit.set_constant_val(isl.Val(-least)))


def least_value(pairs: isl.Map, first: int, second: int) -> int | None:
    """The least of `first * x + second * y` over pairs { x -> y }; None if there are none. Raises NotProvable."""
    with question("the groups between a copy and a read", BUILD_OPERATIONS):
        if pairs.is_empty():
            return None
        points = flatten(pairs)
        value = isl.Aff.zero_on_domain(isl.LocalSpace.from_space(points.get_space()))
        value = value.set_coefficient_val(dim_type.in_, 0, isl.Val(first))
        least = points.min_val(value.set_coefficient_val(dim_type.in_, 1, isl.Val(second)))
    if not least.is_int():
        raise NotProvable("the number of groups between a copy and a read has no least value")
    return least.to_python()
