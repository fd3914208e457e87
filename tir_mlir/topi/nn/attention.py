"""Attention, and the rotary embedding of positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import prod
from typing import TypeVar

from tir_mlir import te
from tir_mlir.topi.broadcast import broadcast_shape, read
from tir_mlir.topi.operands import (
    Elements,
    as_type,
    constant,
    describe_tensor,
    floats,
    one_of,
    one_type,
    ranked_tensor,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.sizes import are_equal, exact_quotient, shape_text, simple

__all__ = ["attention", "rotary_embedding"]

OP = "nn.attention"
_MASKS = {None: None, "TopLeft": 0, "BottomRight": 1}


def attention(
    query: te.Tensor,
    key: te.Tensor,
    value: te.Tensor,
    bias: te.Tensor | None = None,
    scale: float | None = None,
    causal_mask: str | None = None,
    layout: str = "BSHD",
    weights_dtype: str | None = None,
    *,
    blocks: te.Tensor | None = None,
) -> te.Tensor:
    """softmax(query @ key.T * scale + bias) @ value, for each batch and head.

        query (b, sq, h, d), key (b, sk, g, d), value (b, sk, g, e)  ->  (b, sq, h, e)

    g: as many heads as the query, or a divisor: h / g queries in a row share a key. bias: a sum, or of bool a mask of
    what is seen; broadcasts to (b, h, sq, sk). scale: default 1 / sqrt(d). causal_mask: a query sees the keys up to its
    own position, counted from the first ("TopLeft") or from the last ("BottomRight") key. layout: "BHSD" for operands
    and result with heads before the sequence. What is not seen has the least number as its score: a query that sees
    nothing gets the mean of all values. float16 and bfloat16 are computed in float32 and rounded once;
    weights_dtype: exponentials are rounded to it as terms of the weighted sums, which remain float32.
    blocks: of shape (n, m), whose elements do not count: only the first n * m of the sk keys are read, as of a cache
    that is not full; n is 1 or more.
    """
    return _Attention(query, key, value, bias, scale, causal_mask, layout, weights_dtype, blocks).result()


S = TypeVar("S")


class _Attention:
    """The state of one attention. `rows`: queries of one key head, those of its h / g heads one after the other."""

    def __init__(
        self,
        query: te.Tensor,
        key: te.Tensor,
        value: te.Tensor,
        bias: te.Tensor | None,
        scale: float | None,
        mask: str | None,
        layout: str,
        weights_dtype: str | None,
        blocks: te.Tensor | None,
    ):
        one_of(OP, "causal_mask", mask, list(_MASKS))  # type: ignore[arg-type]
        one_of(OP, "layout", layout, ["BSHD", "BHSD"])
        self.q, self.k, self.v = (
            ranked_tensor(OP, name, floats(OP, name, x), 4)
            for name, x in (("query", query), ("key", key), ("value", value))
        )
        self.dtype = one_type(OP, query=self.q, key=self.k, value=self.v)
        self.wide, self.swap, self.mask = wide_type(self.dtype), layout == "BHSD", mask
        b, sq, h, d = self.swap_layout(self.q.shape)
        _, sk, g, e = self.swap_layout(self.v.shape)
        self.batch, self.queries, self.heads, self.depth, self.keys, self.groups, self.width = b, sq, h, d, sk, g, e
        self.share, depth = self._check()
        self.rows = simple(sq * self.share) if self.share != 1 else sq
        self.ahead = simple(sk - sq) if mask == "BottomRight" else 0
        one_of(OP, "weights_dtype", weights_dtype, [None, self.wide, self.dtype])  # type: ignore[arg-type]
        self.short = weights_dtype or self.wide
        self.scale = constant(1 / math.sqrt(depth) if scale is None else scale, self.wide)
        self.bias = None if bias is None else self._checked_bias(bias)
        self.read = (
            sk if blocks is None else simple(prod(ranked_tensor(OP, "blocks", tensor(OP, "blocks", blocks), 2).shape))
        )

    def swap_layout(self, index: Sequence[S]) -> tuple[S, S, S, S]:
        """An index or a shape in BSHD, or one in BSHD in that of the operands."""
        a, b, c, d = index
        return (a, c, b, d) if self.swap else (a, b, c, d)

    def _check(self) -> tuple[te.Size, int]:
        """How many heads of queries share one of keys, and the elements of a head, which are a number."""
        operands_text = ", ".join(
            describe_tensor(n, x) for n, x in (("query", self.q), ("key", self.k), ("value", self.v))
        )
        key_shape = (self.batch, self.keys, self.groups, self.depth)
        if not all(map(are_equal, self.swap_layout(self.k.shape), key_shape)) or not are_equal(
            self.v.shape[0], self.batch
        ):
            raise refuse(OP, operands_text, f"pass a key of shape {shape_text(self.swap_layout(key_shape))}")
        share = exact_quotient([self.heads], [self.groups])
        if share is None:
            problem = f"{operands_text}: {self.heads} heads of queries for {self.groups} of keys"
            raise refuse(OP, problem, "use a number of key heads that divides the heads of the query")
        if not isinstance(self.depth, int):
            raise refuse(OP, f"{operands_text}: the last axis is symbolic", "use a number, and pass scale")
        return share, self.depth

    def _checked_bias(self, bias: te.Tensor) -> te.Tensor:
        operand = tensor(OP, "bias", bias)
        score_shape = (self.batch, self.heads, self.queries, self.keys)
        if operand.dtype not in ("bool", self.dtype, self.wide):
            raise refuse(
                OP, f"{describe_tensor('bias', operand)} for {self.dtype}", f'cast it: astype(bias, "{self.dtype}")'
            )
        if operand.ndim > 4 or not all(map(are_equal, broadcast_shape(OP, operand.shape, score_shape), score_shape)):
            problem = (
                f"{describe_tensor('bias', operand)} does not broadcast to (b, h, sq, sk) = {shape_text(score_shape)}"
            )
            raise refuse(OP, problem, "expand or reshape it")
        return operand

    def result(self) -> te.Tensor:
        """The blocks: scores, scaled and masked scores, their maxima, exponentials and sums, the result."""
        (b, g, r, s), e = (self.batch, self.groups, self.rows, self.read), self.width
        q, d, n, m, t = self._queries(), *(te.reduce_axis((0, x)) for x in (self.depth, s, s, s))
        key = lambda b, g, j, d: self._element(self.k, b, j, g, d)  # noqa: E731
        scores = te.compute(
            (b, g, r, s), lambda b, g, i, j: te.sum(q(b, g, i, d) * key(b, g, j, d), axis=d), name="T_attention_scores"
        )
        masked = te.compute(
            (b, g, r, s), lambda b, g, i, j: self._mask_score(scores(b, g, i, j), b, g, i, j), name="T_attention_masked"
        )
        top = te.compute((b, g, r), lambda b, g, i: te.max(masked(b, g, i, n), axis=n), name="T_attention_max")
        power = te.compute(
            (b, g, r, s),
            lambda b, g, i, j: self._hide_weight(te.exp(masked(b, g, i, j) - top(b, g, i)), i, j),
            name="T_attention_exp",
        )
        total = te.compute((b, g, r), lambda b, g, i: te.sum(power(b, g, i, m), axis=m), name="T_attention_sum")
        value = lambda b, g, j, c: self._element(self.v, b, j, g, c)  # noqa: E731
        weight = self._short_weights(power)
        product = te.compute(
            (b, g, r, e), lambda b, g, i, c: te.sum(weight(b, g, i, t) * value(b, g, t, c), axis=t), name="T_attention"
        )
        return self._normalize_sums(product, total)

    def _short_weights(self, power: te.Tensor) -> Elements:
        """The terms of the weighted sums, rounded to the type that they are to have."""
        if self.short == self.wide:
            return power
        rounded = te.compute(
            power.shape, lambda *i: as_type(power(*i), self.wide, self.short), name="T_attention_weights"
        )
        return lambda *i: as_type(rounded(*i), self.short, self.wide)

    def _element(self, x: te.Tensor, b: te.Expr, s: te.Expr, h: te.Expr, d: te.Expr) -> te.Expr:
        return as_type(x(*self.swap_layout((b, s, h, d))), self.dtype, self.wide)

    def _queries(self) -> te.Tensor | Elements:
        """The queries by batch, key head and row."""
        if self.share == 1:
            return lambda b, g, r, d: self._element(self.q, b, r, g, d)
        head, query = self._head_and_query()
        shape = (self.batch, self.groups, self.rows, self.depth)
        return te.compute(
            shape, lambda b, g, r, d: self._element(self.q, b, query(r), head(g, r), d), name="T_attention_query"
        )

    def _head_and_query(self) -> tuple[Elements, Elements]:
        """The head and the query of a row."""
        if self.share == 1:
            return (lambda g, r: g), (lambda r: r)
        return (lambda g, r: g * self.share + r // self.queries), (lambda r: r % self.queries)

    def _mask_score(self, score: te.Expr, b: te.Expr, g: te.Expr, r: te.Expr, j: te.Expr) -> te.Expr:
        head, query = self._head_and_query()
        value, least = score * self.scale, te.min_value(self.wide)
        if self.bias is not None:
            shape = (self.batch, self.heads, self.queries, self.keys)
            bias = read(self.bias, (b, head(g, r), query(r), j), shape)
            seen = self.bias.dtype == "bool"
            value = te.if_then_else(bias, value, least) if seen else value + as_type(bias, self.bias.dtype, self.wide)
        if self.mask is not None:
            value = te.if_then_else(self._is_seen(r, j), value, least)
        return value

    def _is_seen(self, r: te.Expr, j: te.Expr) -> te.Expr:
        """Whether the query of a row sees a key, by the causal mask."""
        return j <= self._head_and_query()[1](r) + self.ahead

    def _hide_weight(self, weight: te.Expr, r: te.Expr, j: te.Expr) -> te.Expr:
        """The weight of a key, exactly 0 if a causal mask alone hides it and each query sees a key: schedules may then
        leave it out."""
        sees_one = (isinstance(self.ahead, int) and self.ahead >= 0) or isinstance(self.ahead, te.Var)
        if self.mask is None or self.bias is not None or not sees_one:
            return weight
        return te.if_then_else(self._is_seen(r, j), weight, constant(0.0, self.wide))

    def _normalize_sums(self, product: te.Tensor, total: te.Tensor) -> te.Tensor:
        """The weighted sums divided by the sums of weights, in the layout of the query; rows of several heads first in
        their own order, so that the division is that of the rows that were summed."""
        shape = self.swap_layout((self.batch, self.queries, self.heads, self.width))

        def quotient(b: te.Expr, g: te.Expr, r: te.Expr, c: te.Expr) -> te.Expr:
            return as_type(product(b, g, r, c) / total(b, g, r), self.wide, self.dtype)

        def ungrouped_element(*i: te.Expr) -> te.Expr:
            b, s, h, c = self.swap_layout(i)
            return quotient(b, h, s, c)

        if self.share == 1:
            return te.compute(shape, ungrouped_element, name="T_attention_norm")
        rows = te.compute(product.shape, quotient, name="T_attention_norm")

        def element(*i: te.Expr) -> te.Expr:
            b, s, h, c = self.swap_layout(i)
            return rows(b, h // self.share, h % self.share * self.queries + s, c)

        return te.compute(shape, element, name="T_attention_heads")


def rotary_embedding(x: te.Tensor, cos: te.Tensor, sin: te.Tensor, interleaved: bool = False) -> te.Tensor:
    """Pairs of elements of the last axis turned by angles: (a, b) -> (a * cos - b * sin, b * cos + a * sin).

    The pairs are elements i and i + d / 2, or 2 * i and 2 * i + 1 if interleaved. cos, sin: of the angles; broadcast to
    x with d / 2 elements in the last axis: for x (b, s, h, d), (s, 1, d / 2).
    """
    name = "nn.rotary_embedding"
    operand = floats(name, "x", x)
    angles = [tensor(name, "cos", cos), tensor(name, "sin", sin)]
    one_type(name, x=operand, cos=angles[0], sin=angles[1])
    size = operand.shape[-1] if operand.ndim else None
    if not isinstance(size, int) or size % 2:
        raise refuse(name, describe_tensor("x", operand), "the last axis has an even number of elements")
    half, wide = size // 2, wide_type(operand.dtype)
    shape = (*operand.shape[:-1], half)
    for what, t in zip(("cos", "sin"), angles, strict=True):
        if t.ndim > operand.ndim or not all(map(are_equal, broadcast_shape(name, t.shape, shape), shape)):
            raise refuse(
                name,
                f"{describe_tensor(what, t)} for {describe_tensor('x', operand)}",
                f"pass it so as to broadcast to {shape_text(shape)}",
            )

    def element(*i: te.Expr) -> te.Expr:
        outer, j = i[:-1], i[-1]
        pair = j // 2 if interleaved else j % half
        first = j % 2 < 1 if interleaved else j < half
        partner = j - j % 2 * 2 + 1 if interleaved else (j + half) % size
        c, s = (as_type(read(t, (*outer, pair), shape), t.dtype, wide) for t in angles)
        mine, its = (as_type(operand(*outer, v), operand.dtype, wide) for v in (j, partner))
        value = te.Select(first, mine * c - its * s, mine * c + its * s)
        return as_type(value, wide, operand.dtype)

    return te.compute(operand.shape, element, name="T_rotary_embedding")
