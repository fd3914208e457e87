"""Accesses at linearized indices: `C[vi * n + vj]` with 0 <= vj < n accesses the element (vi, vj) of rows of length n.

For sizes n, such an index is not affine. If all accesses to a buffer split it by the same strides, and every part but
the first is proved to be less than the stride before it, two of them meet exactly if all their parts are equal.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import gcd

from mlir import ir

from tir_mlir.dialect.analysis.indirect_accesses import affine_value
from tir_mlir.dialect.diagnostics import NotAffine, NotProvable
from tir_mlir.dialect.ir import Buffer, Constraint, Index, access_indices, remembered, symbol_name, symbols_by_name
from tir_mlir.dialect.ir.op_traits import COMPUTED_ACCESSES, ELEMENT_ACCESSES, INTEGER_RING, accessed, index_operands
from tir_mlir.dialect.ir.size_products import SIGN, factor_names, is_factor
from tir_mlir.dialect.presburger import constraint_set, dim_factors, domain, linear_terms, question

Sizes = tuple[str, ...]
"""Names of the shape variables in a product, sorted."""
Sum = dict[Sizes, Index]
"""An index as a sum of expressions times products of sizes."""


def parts_of(op: ir.Operation) -> tuple[Index, ...]:
    """The parts of all indices of a load or store, outer strides first; () if its buffer has no linearized index."""
    return _split(accessed(op)).get(op, ())


@remembered
def _split(buffer: ir.Value) -> dict[ir.Operation, tuple[Index, ...]]:
    """The parts of the indices of all accesses to a buffer; {} if they do not split alike."""
    named = [(op.name, op) for op in (use.owner.operation for use in buffer.uses)]
    if not any(name in COMPUTED_ACCESSES for name, _ in named) or any(
        name not in ELEMENT_ACCESSES and name != "memref.dim" for name, _ in named
    ):
        return {}
    users = [op for name, op in named if name != "memref.dim"]
    sums = {op: _sums(op) for op in users}
    if any(None in sums_of_op for sums_of_op in sums.values()):
        return {}
    result: dict[ir.Operation, tuple[Index, ...]] = dict.fromkeys(users, ())
    for axis in range(Buffer(buffer).rank):
        column = {op: sums_of_op[axis] for op, sums_of_op in sums.items()}
        strides = _strides(column.values())  # type: ignore[arg-type]
        for op, sum_ in column.items():
            parts = None if strides is None or sum_ is None else _parts(op, sum_, strides)
            if parts is None:
                return {}
            result[op] += parts
    return result


def _sums(op: ir.Operation) -> list[Sum | None]:
    """The indices of an access as sums; None for one that is neither affine nor linear in products with sizes."""
    if op.name.startswith("affine."):
        return [{(): index} for index in access_indices(op)]
    return [_sum(v, op) for v in index_operands(op)]


def _sum(value: ir.Value, user: ir.Operation) -> Sum | None:
    plain = affine_value(value, user)
    if plain is not None:
        return {(): plain}
    op = None if isinstance(value.owner, ir.Block) else value.owner.operation
    if op is None or not isinstance(value.type, ir.IndexType) or op.name not in INTEGER_RING:
        return None
    lhs, rhs = (_sum(operand, user) for operand in op.operands)
    if lhs is None or rhs is None:
        return None
    if op.name == "arith.muli":
        return _times(lhs, rhs)
    return _added(lhs, rhs if op.name == "arith.addi" else {sizes: -index for sizes, index in rhs.items()})


def _added(lhs: Sum, rhs: Sum) -> Sum:
    total = dict(lhs)
    for sizes, index in rhs.items():
        total[sizes] = (total[sizes] + index).simplified() if sizes in total else index
    return total


def _times(lhs: Sum, rhs: Sum) -> Sum | None:
    """The product of two sums, one of which has sizes and numbers only."""
    factors = _of_sizes(rhs)
    if factors is None:
        lhs, factors = rhs, _of_sizes(lhs)
    if factors is None:
        return None
    total: Sum = {}
    for sizes, index in lhs.items():
        for factor_sizes, number in factors.items():
            total = _added(total, {tuple(sorted((*sizes, *factor_sizes))): index * number})
    return total


def _of_sizes(sum_: Sum) -> dict[Sizes, int] | None:
    """A sum of sizes as {product: number}; None if it varies with loops or iters."""
    total: Counter[Sizes] = Counter()
    for sizes, index in sum_.items():
        factors = dim_factors(index.expr)
        if factors is None or not all(map(is_factor, index.values)):
            return None
        total[sizes] += factors.constant
        for position, number in factors.factors.items():
            total[tuple(sorted((*sizes, *factor_names(symbol_name(index.values[position])))))] += number
    return {sizes: number for sizes, number in total.items() if number}


def _strides(sums: Sequence[Sum]) -> list[tuple[Sizes, int]] | None:
    """The strides that all sums have in common, each a multiple of the next: products of sizes times a number."""
    numbers: dict[Sizes, int] = {(): 1}
    for sum_ in sums:
        for sizes, index in sum_.items():
            if sizes:
                numbers[sizes] = gcd(numbers.get(sizes, 0), *_numbers(index))
    chain = sorted(numbers.items(), key=lambda stride: -len(stride[0]))
    for (large, large_number), (small, small_number) in zip(chain, chain[1:], strict=False):
        if Counter(small) - Counter(large) or large_number == 0 or small_number == 0 or large_number % small_number:
            return None
    return chain


def _numbers(index: Index) -> list[int]:
    """The factors of an expression, and its constant part."""
    terms, constant = linear_terms(index.expr)
    return [*terms.values(), constant]


def _parts(op: ir.Operation, sum_: Sum, strides: Sequence[tuple[Sizes, int]]) -> tuple[Index, ...] | None:
    """A sum split by the strides; None unless each part but the first is proved to be in [0, stride before / own)."""
    if set(sum_) - {sizes for sizes, _ in strides}:
        return None
    parts = [sum_.get(sizes, Index.constant(0)) for sizes, _ in strides]
    parts = [_divided(part, number) for part, (_, number) in zip(parts, strides, strict=True)]
    ratios = [_ratio(op, a, b) for a, b in zip(strides, strides[1:], strict=False)]
    if None in ratios:
        return None
    for part, ratio in zip(parts[1:], ratios, strict=True):
        if not _is_below(op, part, ratio):  # type: ignore[arg-type]
            return None
    return tuple(parts)


def _divided(index: Index, number: int) -> Index:
    """An expression whose factors are all multiples of a number, divided by it."""
    return index if number == 1 else (index // number).simplified()


def _ratio(op: ir.Operation, large: tuple[Sizes, int], small: tuple[Sizes, int]) -> Index | None:
    """The quotient of two strides; None if it is a product that is no size of the function."""
    names = Counter(large[0]) - Counter(small[0])
    size_of = {SIGN.join(sorted(factor_names(name))): value for name, value in symbols_by_name(op).items()}
    size = size_of.get(SIGN.join(sorted(names.elements())))
    return None if size is None else Index.of(size) * (large[1] // small[1])


def _is_below(op: ir.Operation, part: Index, limit: Index) -> bool:
    """Whether 0 <= part < limit wherever an op runs."""
    dom = domain(op, None, [part, limit])
    try:
        with question("the parts of a linearized index"):
            bounds = [constraint_set(dom, Constraint(index)) for index in (part, limit - part - 1)]
            return all(dom.set.is_subset(points) for points in bounds)
    except (NotProvable, NotAffine):
        return False
