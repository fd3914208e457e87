"""Products of matrices, and of one matrix for each group of rows."""

from __future__ import annotations

import functools
import operator
import string
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tir_mlir import te
from tir_mlir.te.statements import T
from tir_mlir.topi.broadcast import broadcast_shape
from tir_mlir.topi.operands import (
    as_type,
    describe_tensor,
    factor_type,
    is_float,
    one_type,
    ranked_tensor,
    refuse,
    tensor,
)
from tir_mlir.topi.reductions import narrow
from tir_mlir.topi.sizes import are_equal, is_one, number, shape_text

if TYPE_CHECKING:
    from tir_mlir.te.tensor import ReductionValue

__all__ = ["einsum", "grouped_matmul", "matmul", "row_tiles", "tile_products"]


def sum_type(dtype: str, out_dtype: str | None) -> str:
    """The type that products of a type are summed in: float32 for the short floats, int32 for the short integers that
    are asked for in it."""
    return "float32" if dtype in ("float16", "bfloat16") else out_dtype or dtype


def matmul(
    a: te.Tensor, b: te.Tensor, transp_a: bool = False, transp_b: bool = False, out_dtype: str | None = None
) -> te.Tensor:
    """Matrix product of the last two axes, (.., n, k) x (.., k, m) -> (.., n, m); the axes before broadcast.

    A vector is a row on the left, a column on the right, and its axis is not in the result. transp_a, transp_b: the
    last two axes are exchanged. float16 and bfloat16 are summed in float32. out_dtype: default that of the operands;
    with "int32", one of them may be int8 and the other uint8.
    """
    return product(a, b, transp_a, transp_b, out_dtype, "T_matmul")


def product(a: te.Tensor, b: te.Tensor, transp_a: bool, transp_b: bool, out_dtype: str | None, name: str) -> te.Tensor:
    """The same, with the name of its block."""
    x, y = ranked_tensor("matmul", "a", a, 1, 99), ranked_tensor("matmul", "b", b, 1, 99)
    dtype = factor_type("matmul", out_dtype, a=x, b=y)
    swap = transp_a and x.ndim > 1, transp_b and y.ndim > 1
    depth, inner_rows = x.shape[-2 if swap[0] else -1], y.shape[-2 if y.ndim > 1 and not swap[1] else -1]
    if not are_equal(depth, inner_rows):
        operands_text = (
            f"{describe_tensor('a', x)}{' transposed' * swap[0]} and {describe_tensor('b', y)}{' transposed' * swap[1]}"
        )
        raise refuse(
            "matmul", f"{operands_text}: {depth} columns times {inner_rows} rows", "transpose or reshape one of them"
        )
    batch = broadcast_shape("matmul", x.shape[:-2], y.shape[:-2])
    rows = () if x.ndim == 1 else (x.shape[-1 if swap[0] else -2],)
    columns = () if y.ndim == 1 else (y.shape[-2 if swap[1] else -1],)
    k = te.reduce_axis((0, depth), name="k")
    added = sum_type(dtype, out_dtype)

    def side(t: te.Tensor, outer: Sequence[te.Expr], free: Sequence[te.Expr], is_lhs: bool) -> te.Expr:
        batch_dims = t.shape[:-2]
        index = [
            0 if is_one(n) and not is_one(m) else i
            for i, n, m in zip(
                outer[len(batch) - len(batch_dims) :], batch_dims, batch[len(batch) - len(batch_dims) :], strict=True
            )
        ]
        last = (*free, k) if is_lhs != swap[not is_lhs] else (k, *free)
        return t(*index, *last)

    def element(*i: te.Expr) -> ReductionValue:
        outer = i[: len(batch)]
        row, column = i[len(batch) : len(batch) + len(rows)], i[-1:] if columns else ()
        lhs, rhs = side(x, outer, row, True), side(y, outer, column, False)
        return te.sum(as_type(lhs, x.dtype, added) * as_type(rhs, y.dtype, added), axis=k)

    return narrow(te.compute((*batch, *rows, *columns), element, name=name), out_dtype or dtype)


def transpose_letters(transpose_a: bool, transpose_b: bool) -> str:
    """`NT`: the first operand as it is (normal), the second transposed."""
    return "NT"[transpose_a] + "NT"[transpose_b]


def batch_matmul(
    tensor_a: te.Tensor,
    tensor_b: te.Tensor,
    oshape: object = None,
    out_dtype: str | None = None,
    transpose_a: bool = False,
    transpose_b: bool = True,
) -> te.Tensor:
    """(b, n, k) x (b, m, k) -> (b, n, m); transpose_b=False: (b, k, m). oshape: accepted, ignored."""
    x, y = (
        ranked_tensor("nn.batch_matmul", "tensor_a", tensor_a, 3),
        ranked_tensor("nn.batch_matmul", "tensor_b", tensor_b, 3),
    )
    name = f"T_batch_matmul_{transpose_letters(transpose_a, transpose_b)}"
    return product(x, y, transpose_a, transpose_b, out_dtype, name)


def grouped_matmul(data: te.Tensor, weight: te.Tensor, offsets: te.Tensor) -> te.Tensor:
    """Rows times the matrix of their group, as of a mixture of experts: (m, k), (g, k, n), (g,) -> (m, n).

    offsets: where each group of rows ends; rows behind the last one are 0. No row is multiplied by another matrix.
    """
    op = "grouped_matmul"
    x, w, ends = (
        ranked_tensor(op, "data", data, 2),
        ranked_tensor(op, "weight", weight, 3),
        ranked_tensor(op, "offsets", offsets, 1),
    )
    dtype = one_type(op, data=x, weight=w)
    if not are_equal(x.shape[1], w.shape[1]) or not are_equal(w.shape[0], ends.shape[0]) or is_float(ends.dtype):
        problem = f"{describe_tensor('data', x)}, {describe_tensor('weight', w)}, {describe_tensor('offsets', ends)}"
        raise refuse(op, problem, "pass (m, k), (g, k, n) and g integers")
    rows, groups = x.shape[0], w.shape[0]
    g, k = te.reduce_axis((0, groups), name="g"), te.reduce_axis((0, x.shape[1]), name="k")
    one, zero = te.cast(1, "int32"), te.cast(0, "int32")
    group = te.compute(
        (rows,),
        lambda i: te.sum(te.Select(as_type(ends(g), ends.dtype, "int32") <= i, one, zero), axis=g),
        name="T_group",
    )
    added = sum_type(dtype, None)

    def element(i: te.Expr, j: te.Expr) -> te.ReductionValue:
        matrix = te.max(te.min(group(i), groups - 1), 0)
        return te.sum(as_type(x(i, k), dtype, added) * as_type(w(matrix, k, j), dtype, added), axis=k)

    total = te.compute((rows, w.shape[2]), element, name="T_grouped")
    none = te.cast(0, added)
    kept = te.compute(total.shape, lambda i, j: te.Select(group(i) < groups, total(i, j), none), name="T_kept")
    return narrow(kept, dtype)


def einsum(subscripts: str, *operands: te.Tensor) -> te.Tensor:
    """Sum of products by Einstein's notation: `einsum("bik,bkj->bij", a, b)`.

    A letter names an axis; letters that are not in the result are summed over. Without `->` the result has the letters
    that occur once, in alphabetical order. A letter twice in one operand: its diagonal. `...`: axes without letters,
    which broadcast, and are the first ones of the result.
    """
    tensors = [tensor("einsum", f"operand {n}", x) for n, x in enumerate(operands)]
    subscripts = _expand_ellipsis(subscripts, [x.ndim for x in tensors])
    inputs, result = _einsum_letters(subscripts, tensors)
    dtype = one_type("einsum", **{f"operand_{n}": x for n, x in enumerate(tensors)})
    sizes: dict[str, te.Size] = {}
    for letters, x in zip(inputs, tensors, strict=True):
        for letter, size in zip(letters, x.shape, strict=True):
            if is_one(sizes.setdefault(letter, size)):
                sizes[letter] = size
            if not is_one(size) and not are_equal(sizes[letter], size):
                problem = f"axis {letter} of {subscripts!r} has sizes {sizes[letter]} and {size}"
                raise refuse("einsum", problem, "give axes of one letter the same size")
    sums = {x: te.reduce_axis((0, sizes[x]), name=x) for x in dict.fromkeys("".join(inputs)) if x not in result}
    added = sum_type(dtype, None)

    def element(*i: te.Expr) -> te.Expr | te.ReductionValue:
        by_letter = {**dict(zip(result, i, strict=True)), **sums}
        factors = []
        for letters, x in zip(inputs, tensors, strict=True):
            at = (
                0 if is_one(n) and not is_one(sizes[c]) else by_letter[c] for c, n in zip(letters, x.shape, strict=True)
            )
            factors.append(as_type(x(*at), dtype, added))
        value = functools.reduce(operator.mul, factors)
        return te.sum(value, axis=list(sums.values())) if sums else value

    return narrow(te.compute(tuple(sizes[c] for c in result), element, name="T_einsum"), dtype)


def _expand_ellipsis(subscripts: str, ranks: Sequence[int]) -> str:
    """With letters for `...`: "...ij,...jk->...ik" of 3 axes -> "Aij,Ajk->Aik"."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    if "..." not in subscripts or len(inputs) != len(ranks):
        return subscripts
    unused = [c for c in string.ascii_letters if c not in subscripts]
    counts = [
        rank - len(term.replace("...", "")) if "..." in term else 0 for term, rank in zip(inputs, ranks, strict=True)
    ]
    letters = "".join(unused[: max(max(counts), 0)])
    spelled = [t.replace("...", letters[len(letters) - max(n, 0) :]) for t, n in zip(inputs, counts, strict=True)]
    if not arrow:
        plain = "".join(inputs).replace(".", "")
        result = "..." + "".join(sorted(c for c in set(plain) if plain.count(c) == 1))
    return ",".join(spelled) + "->" + result.replace("...", letters)


def _einsum_letters(subscripts: str, tensors: Sequence[te.Tensor]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, checked."""
    terms, arrow, result = subscripts.replace(" ", "").partition("->")
    inputs = terms.split(",")
    every = "".join(inputs)
    result = result if arrow else "".join(sorted(c for c in set(every) if every.count(c) == 1))
    shape = " and ".join(shape_text(x.shape) for x in tensors)
    wrong = not all(c.isalpha() for c in every + result) or len(inputs) != len(tensors)
    if wrong or any(len(s) != x.ndim for s, x in zip(inputs, tensors, strict=True)):
        fix = 'name each axis of each operand by a letter: einsum("bik,bkj->bij", a, b)'
        raise refuse("einsum", f"{subscripts!r} for operands of shapes {shape}", fix)
    if len(set(result)) < len(result) or not set(result) <= set(every):
        fix = "use in the result each letter once, and only letters of operands"
        raise refuse("einsum", f"{subscripts!r} has a letter twice in the result, or a new one", fix)
    return inputs, result


def row_tiles(offsets: te.Tensor, rows: te.Size, height: int) -> list[te.Tensor]:
    """Tiles of `height` rows of one group each. offsets: where each group of rows ends; rows: their number.

    Returns int32: the group of each tile; the rows in each, (tiles, height), of which the last is repeated where a
    group ends; and for each row its position among these, -1 behind the last group. There are as many tiles as groups
    may need: min(rows, rows // height + groups); those that are not needed are like the last one.
    """
    ends = ranked_tensor("row_tiles", "offsets", offsets, 1)
    groups, last = ends.shape[0], te.cast(rows, "int32") if not isinstance(rows, int) else rows
    tiles = _greatest_number(rows, height, groups)

    def table(_, E, G, S, P):
        T.reads(E[0:groups])
        T.writes(G[0:tiles], S[0:tiles, 0:height], P[0:rows])
        tile = T.alloc_buffer((1,), "int32")
        row = T.alloc_buffer((1,), "int32")
        tile[0] = 0
        row[0] = 0
        for i in T.serial(rows):
            P[i] = -1
        for t in T.serial(tiles):
            G[t] = 0
            for m in T.serial(height):
                S[t, m] = 0
        for g in T.serial(groups):
            end = T.min(T.cast(E[g], "int32"), last)
            while row[0] < end:
                G[tile[0]] = g
                for m in T.serial(height):
                    S[tile[0], m] = T.min(row[0] + m, end - 1)
                    if row[0] + m < end:
                        P[row[0] + m] = tile[0] * height + m
                row[0] = T.min(row[0] + height, end)
                tile[0] = tile[0] + 1
        for t in T.serial(tiles):
            if T.And(t >= tile[0], tile[0] > 0):
                G[t] = G[tile[0] - 1]

    results = [((tiles,), "int32"), ((tiles, height), "int32"), ((rows,), "int32")]
    return list(te.statements((1,), [ends], results, table, name="T_row_tiles"))


def _greatest_number(rows: te.Size, height: int, groups: te.Size) -> te.Size:
    """How many tiles groups may need."""
    if height == 1:
        return rows
    count, parts = number(rows), number(groups)
    if count is None or parts is None:
        return te.min(rows, rows // height + groups)
    return min(count, count // height + parts)


def tile_products(data: te.Tensor, panels: te.Tensor, groups: te.Tensor) -> te.Tensor:
    """Tiles of rows times the matrix of their group: (t, m, k), (g, p, k, w), (t,) -> (t, p, m, w).

    panels: matrices of k rows whose columns are in panels of w; groups: of each tile, integers.
    """
    op = "tile_products"
    x, w, group = (
        ranked_tensor(op, "data", data, 3),
        ranked_tensor(op, "panels", panels, 4),
        ranked_tensor(op, "groups", groups, 1),
    )
    dtype = one_type(op, data=x, panels=w)
    if not are_equal(x.shape[2], w.shape[2]) or not are_equal(x.shape[0], group.shape[0]):
        raise refuse(
            op,
            f"{describe_tensor('data', x)}, {describe_tensor('panels', w)}",
            "pass (t, m, k), (g, p, k, w) and t groups",
        )
    k, added, count = te.reduce_axis((0, x.shape[2]), name="k"), sum_type(dtype, None), w.shape[0]

    def chosen_weight(t: te.Expr, *index: te.Expr) -> te.Expr:
        return w(te.max(te.min(as_type(group(t), group.dtype, "int32"), count - 1), 0), *index)

    # a block of its own: schedules copy it in the order of instructions for narrow numbers
    narrow_weights = te.compute((x.shape[0], *w.shape[1:]), chosen_weight, name="T_chosen") if added != dtype else None
    chosen_weights = narrow_weights or chosen_weight

    def element(t: te.Expr, p: te.Expr, m: te.Expr, lane: te.Expr) -> te.ReductionValue:
        return te.sum(as_type(x(t, m, k), dtype, added) * as_type(chosen_weights(t, p, k, lane), dtype, added), axis=k)

    shape = (x.shape[0], w.shape[1], x.shape[1], w.shape[3])
    return narrow(te.compute(shape, element, name="T_tiles"), dtype)
