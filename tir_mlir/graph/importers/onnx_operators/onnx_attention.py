"""Attention as ONNX Runtime's operators have it: heads in the last axis, masks, caches, rotated positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers import layers
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, Size, static_size
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, microsoft_op
from tir_mlir.graph.size_code import product

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def split_heads(e: OnnxEmitter, x: Value, count: int) -> Value:
    """(batch, tokens, heads * depth) -> (batch, heads, tokens, depth)."""
    batch, tokens, size = x.shape
    depth = static_size(size, "the size of all heads") // count
    return e.permute(e.reshape(x, (batch, tokens, count, depth)), [0, 2, 1, 3])


def merge_heads(e: OnnxEmitter, x: Value) -> Value:
    """(batch, heads, tokens, depth) -> (batch, tokens, heads * depth)."""
    batch, count, tokens, depth = x.shape
    return e.reshape(e.permute(x, [0, 2, 1, 3]), (batch, tokens, product((count, depth))))


def _mask(e: OnnxEmitter, mask: OnnxValue, batch: Size, total: Size, fill: float, dtype: str) -> Value:
    """What is added to scores: (batch, total) or (batch, queries, total) of 0 and 1, the tokens of each row (batch), or
    their ends and then their starts (2 * batch)."""
    mask = e.value(mask)
    if len(mask.shape) == 1:
        ends = e.reshape(e.slice(mask, 0, 0, batch), (batch, 1))
        positions = e.constant(np.arange(static_size(total, "the keys of a mask")), mask.dtype)
        seen = e.op("less", positions, ends)
        if static_size(mask.shape[0], "a mask") == 2 * static_size(batch, "the batch of a mask"):
            starts = e.reshape(e.slice(mask, 0, batch, 2 * batch), (batch, 1))
            seen = e.op("logical_and", seen, e.op("greater_equal", positions, starts))
        elif mask.shape[0] != batch:
            raise GraphError(f"a mask {mask.shape} of {batch} rows\n  fix: the mask itself, (batch, keys)")
        shape = (batch, 1, 1, total)
    elif len(mask.shape) in (2, 3):
        seen = e.binary("not_equal", mask, 0, mask.dtype)
        shape = (mask.shape[0], 1, *([1] if len(mask.shape) == 2 else []), *mask.shape[1:])
    else:
        raise GraphError(f"a mask of {len(mask.shape)} axes\n  fix: (batch, keys) or (batch, queries, keys)")
    added = e.op("where", seen, e.constant(0, dtype), e.constant(fill, dtype))
    return e.reshape(added, shape)


def _biased_attention(
    e: OnnxEmitter,
    q: Value,
    k: Value,
    v: Value,
    biases: Sequence[Value | None],
    causal: int,
    scale: float | None,
    fill: float,
) -> Value:
    """Attention with the sum of biases; causal: a query sees the keys up to its own, counted from the last."""
    bias: Value | None = None
    for term in biases:
        if term is not None:
            bias = term if bias is None else e.op("add", bias, term)
    queries, keys = q.shape[2], k.shape[2]
    if causal and queries != keys:
        rows, columns = static_size(queries, "the queries"), static_size(keys, "the keys")
        seen = np.arange(columns) <= np.arange(rows)[:, None] + columns - rows
        term = e.constant(np.where(seen, 0.0, fill).reshape(1, 1, rows, columns), q.dtype)
        bias, causal = term if bias is None else e.op("add", bias, term), 0
    return merge_heads(e, layers.attention(e, q, k, v, bias, bool(causal), scale))


def _append_to_past(e: OnnxEmitter, past: Input, new: Value) -> Value:
    return new if past is None or past.shape[2] == 0 else e.concat([e.value(past), new], 2)


@microsoft_op("Attention")
def attention(
    e: OnnxEmitter,
    x: Operand,
    weights: Operand,
    bias: Operand | None = None,
    mask: Input = None,
    past: Input = None,
    added: Input = None,
    past_length: Input = None,
    num_heads: int = 1,
    **options: Any,
) -> Value | tuple[Value, Value]:
    """Queries, keys and values of one product with the input; the keys and values of all tokens, (2, batch, ..)."""
    y = e.op("matmul", x, weights)
    y = y if bias is None else e.op("add", y, bias)
    return attention_of_product(e, y, mask, past, added, num_heads, **options)


def attention_of_product(
    e: OnnxEmitter,
    y: Value,
    mask: Input,
    past: Input,
    added: Input,
    num_heads: int,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = -10000.0,
    qkv_hidden_sizes: Sequence[int] | None = None,
    do_rotary: int = 0,
    past_present_share_buffer: int = 0,
    rotary_embedding_dim: int = 0,
) -> Value | tuple[Value, Value]:
    """`attention` of queries, keys and values (batch, tokens, sizes) that lie one after the other in y."""
    if do_rotary or past_present_share_buffer:
        raise GraphError("do_rotary and past_present_share_buffer are not supported\n  fix: export without them")
    sizes = list(qkv_hidden_sizes or [static_size(y.shape[2], "the size of queries, keys and values") // 3] * 3)
    ends = np.cumsum(sizes).tolist()
    q, k, v = (split_heads(e, e.slice(y, 2, end - n, end), num_heads) for n, end in zip(sizes, ends, strict=True))
    if past is not None:
        past = e.value(past)
        parts = [e.reshape(e.slice(past, 0, n, n + 1), past.shape[1:]) for n in (0, 1)]
        k, v = _append_to_past(e, parts[0], k), _append_to_past(e, parts[1], v)
    scores = None if mask is None else _mask(e, mask, k.shape[0], k.shape[2], mask_filter_value, q.dtype)
    added = e.value(added)
    result = _biased_attention(e, q, k, v, [scores, added], unidirectional, scale, mask_filter_value)
    return (result, e.op("stack", k, v, axis=0)) if e.is_output_used(1) else result


@microsoft_op("MultiHeadAttention")
def multi_head_attention(
    e: OnnxEmitter,
    query: OnnxValue,
    key: Input = None,
    value: Input = None,
    bias: Input = None,
    mask: Input = None,
    added: Input = None,
    past_key: Input = None,
    past_value: Input = None,
    past_length: Input = None,
    indirection: Input = None,
    num_heads: int = 1,
    scale: float | None = None,
    unidirectional: int = 0,
    mask_filter_value: float = -10000.0,
) -> tuple[Value, Value, Value]:
    """Queries, keys and values as (batch, tokens, size), keys and values also by heads, or in one packed tensor; then
    all keys and values by heads."""
    if past_length is not None or indirection is not None:
        raise GraphError("a buffer shared by past and present is not supported\n  fix: export without it")
    parts = _unpack_qkv(e, e.value(query), e.value(key), e.value(value))
    if bias is not None:
        ends = np.cumsum([0, *(_width(p) for p in parts)]).tolist()
        terms = [e.slice(e.value(bias), 0, ends[n], ends[n + 1]) for n in range(3)]
        parts = [p if len(p.shape) == 4 else e.op("add", p, t) for p, t in zip(parts, terms, strict=True)]
    q, k, v = (p if len(p.shape) == 4 else split_heads(e, p, num_heads) for p in parts)
    k, v = _append_to_past(e, past_key, k), _append_to_past(e, past_value, v)
    scores = None if mask is None else _mask(e, mask, k.shape[0], k.shape[2], mask_filter_value, q.dtype)
    added = e.value(added)
    return _biased_attention(e, q, k, v, [scores, added], unidirectional, scale, mask_filter_value), k, v


def _width(x: Value) -> int:
    return static_size(product(x.shape[1::2]) if len(x.shape) == 4 else x.shape[2], "the size of all heads")


def _unpack_qkv(e: OnnxEmitter, query: Value, key: Value | None, value: Value | None) -> list[Value]:
    """Queries, keys and values of tensors that hold several: (batch, tokens, heads, 3, depth), keys and values 2."""
    if len(query.shape) == 5:
        return [_packed_part(e, query, n) for n in range(3)]
    if key is not None and len(key.shape) == 5:
        return [query, *(_packed_part(e, key, n) for n in range(2))]
    if key is None or value is None:
        raise GraphError("a MultiHeadAttention without keys or values\n  fix: three tensors, or packed ones")
    return [query, key, value]


def _packed_part(e: OnnxEmitter, x: Value, number: int) -> Value:
    batch, tokens, count, _, depth = x.shape
    return e.reshape(e.slice(x, 3, number, number + 1), (batch, tokens, product((count, depth))))


def apply_rotary(e: OnnxEmitter, x: OnnxValue, cos: OnnxValue, sin: OnnxValue, interleaved: int, dim: int = 0) -> Value:
    """x (batch, heads, tokens, depth) turned by angles (batch, tokens, dim / 2); the rest of the depth remains."""
    depth = x.shape[3]
    angles = [e.reshape(a, (a.shape[0], 1, a.shape[1], a.shape[2])) for a in (cos, sin)]
    if not dim or dim == depth:
        return e.op("nn.rotary_embedding", x, *angles, interleaved=bool(interleaved))
    turned = e.op("nn.rotary_embedding", e.slice(x, 3, 0, dim), *angles, interleaved=bool(interleaved))
    return e.concat([turned, e.slice(e.value(x), 3, dim, depth)], 3)


def _angles(e: OnnxEmitter, cos: Operand, sin: Operand, positions: Operand) -> tuple[Value, Value]:
    """The rows of tables of cosines and sines at positions (batch, tokens)."""
    take = {"axis": 0, "mode": "wrap"}
    return e.op("take", cos, positions, **take), e.op("take", sin, positions, **take)


@microsoft_op("RotaryEmbedding")
def rotary_embedding(
    e: OnnxEmitter,
    x: OnnxValue,
    positions: OnnxValue,
    cos: OnnxValue,
    sin: OnnxValue,
    interleaved: int = 0,
    num_heads: int = 0,
    rotary_embedding_dim: int = 0,
    scale: float = 1.0,
    is_packed_batching: int = 0,
) -> Value:
    """positions: (batch, tokens), or (1), the first one."""
    x, positions = e.value(x), e.value(positions)
    if is_packed_batching or scale != 1.0:
        raise GraphError("is_packed_batching and scale are not supported\n  fix: export without them")
    by_heads = x
    if len(x.shape) != 4:
        half, size = static_size(cos.shape[1], "the angles"), static_size(x.shape[2], "the size of all heads")
        depth = size // max(num_heads, 1) if rotary_embedding_dim else 2 * half
        by_heads = split_heads(e, x, num_heads or size // depth)
    if len(positions.shape) == 1:
        steps = e.constant(
            np.arange(static_size(by_heads.shape[2], "the tokens of a RotaryEmbedding")), positions.dtype
        )
        positions = e.reshape(e.op("add", positions, steps), (1, by_heads.shape[2]))
    y = apply_rotary(e, by_heads, *_angles(e, cos, sin, positions), interleaved, rotary_embedding_dim)
    return y if len(x.shape) == 4 else merge_heads(e, y)


@microsoft_op("GroupQueryAttention")
def group_query_attention(
    e: OnnxEmitter,
    query: OnnxValue,
    key: Input,
    value: Input,
    past_key: Input,
    past_value: Input,
    lengths: OnnxValue,
    total_length: OnnxValue,
    cos: Input = None,
    sin: Input = None,
    positions: Input = None,
    added: Operand | None = None,
    sinks: Input = None,
    num_heads: int = 1,
    kv_num_heads: int = 1,
    scale: float | None = None,
    do_rotary: int = 0,
    rotary_interleaved: int = 0,
    local_window_size: int = -1,
    softcap: float = 0.0,
    smooth_softmax: int = 0,
) -> tuple[Value, Value, Value]:
    """Fewer heads of keys than of queries, with a cache. lengths: of each row its last position, with the new tokens.

    The new keys and values are written behind those of each row; without a past its tokens are the first ones. The
    caches of the result have room for all of the past and the new tokens.
    """
    q, k, v = _split_qkv_heads(e, e.value(query), key, value, num_heads, kv_num_heads)
    batch, tokens = q.shape[0], static_size(q.shape[2], "the new tokens of a GroupQueryAttention")
    room = 0 if past_key is None else static_size(past_key.shape[2], "the past of a GroupQueryAttention")
    ends = e.reshape(e.cast(e.value(lengths), "int64"), (batch, 1))
    before = e.subtract(ends, tokens - 1) if room else e.subtract(ends, ends)
    new_positions = e.op("add", before, e.constant(np.arange(tokens), "int64"))  # (batch, tokens): of the new ones
    if do_rotary:
        if cos is None or sin is None:
            raise GraphError("do_rotary without cosines and sines\n  fix: both tables")
        at = new_positions if positions is None else e.value(positions)
        angles = _angles(e, cos, sin, at)
        dim = 2 * static_size(cos.shape[1], "the angles")
        q, k = (apply_rotary(e, x, *angles, rotary_interleaved, dim) for x in (q, k))
    if room and past_key is not None and past_value is not None:
        k, v = _write_to_past(e, past_key, k, new_positions), _write_to_past(e, past_value, v, new_positions)
    total = room + tokens
    columns, rows = e.constant(np.arange(total), "int64"), e.reshape(new_positions, (batch, 1, tokens, 1))
    seen = e.op("less_equal", columns, rows)
    if local_window_size > 0:
        seen = e.op("logical_and", seen, e.op("greater", columns, e.subtract(rows, local_window_size)))
    if added is not None:
        least = float(np.finfo("float32").min) if q.dtype != "float16" else float(np.finfo("float16").min)
        seen = e.op("where", seen, added, e.constant(least, q.dtype))
    if sinks is None and not smooth_softmax and not softcap:
        return merge_heads(e, layers.attention(e, q, k, v, seen, False, scale or None)), k, v
    if sinks is None and smooth_softmax:
        sinks = e.broadcast(e.constant(0, q.dtype), (num_heads,))
    return merge_heads(e, _attention_with_sinks(e, q, k, v, seen, scale, softcap, sinks)), k, v


def _attention_with_sinks(
    e: OnnxEmitter, q: Value, k: Value, v: Value, seen: OnnxValue, scale: float | None, softcap: float, sinks: Input
) -> Value:
    """Attention whose scores are limited to (-softcap, softcap); sinks (heads,): the score of one more key of each
    head, whose value is 0. seen: a bias, or which keys a query sees."""
    batch, count, queries, depth = (static_size(n, "a size of queries") for n in q.shape)
    groups, keys = (static_size(n, "a size of keys") for n in k.shape[1:3])
    each = count // groups
    grouped = e.reshape(e.multiply(q, scale or depth**-0.5), (batch, groups, each * queries, depth))
    scores = e.reshape(e.op("matmul", grouped, e.permute(k, [0, 1, 3, 2])), (batch, count, queries, keys))
    if softcap:
        scores = e.multiply(e.op("tanh", e.multiply(scores, 1 / softcap)), softcap)
    if seen.dtype == "bool":
        scores = e.op("where", seen, scores, e.constant(float(np.finfo("float16").min), q.dtype))
    else:
        scores = e.op("add", scores, seen)
    if sinks is not None:
        column = e.broadcast(e.reshape(e.value(sinks), (1, count, 1, 1)), (batch, count, queries, 1))
        scores = e.concat([scores, e.cast(column, q.dtype)], 3)
    parts = e.slice(e.op("nn.softmax", scores, axis=-1), 3, 0, keys)
    parts = e.reshape(parts, (batch, groups, each * queries, keys))
    return e.reshape(e.op("matmul", parts, v), (batch, count, queries, depth))


def _split_qkv_heads(e: OnnxEmitter, query: Value, key: Input, value: Input, count: int, groups: int) -> list[Value]:
    """Queries, keys and values by heads; of one packed tensor where there are no keys."""
    if (key is None) != (value is None):
        raise GraphError("keys without values, or values without keys\n  fix: both, or one packed tensor")
    if key is not None and value is not None:
        return [
            split_heads(e, query, count),
            split_heads(e, e.value(key), groups),
            split_heads(e, e.value(value), groups),
        ]
    depth = static_size(query.shape[2], "the size of all heads") // (count + 2 * groups)
    ends = np.cumsum([0, count, groups, groups]).tolist()
    return [
        split_heads(e, e.slice(query, 2, ends[n] * depth, ends[n + 1] * depth), (count, groups, groups)[n])
        for n in range(3)
    ]


def _write_to_past(e: OnnxEmitter, past: OnnxValue, new: Value, positions: OnnxValue) -> Value:
    """The past with room for the new rows, which are written at positions (batch, tokens)."""
    past = e.value(past)
    batch, count, tokens, depth = new.shape
    empty = e.broadcast(e.constant(0, new.dtype), new.shape)
    indices = e.broadcast(e.reshape(positions, (batch, 1, tokens, 1)), (batch, count, tokens, depth))
    return e.op("scatter_elements", e.concat([past, empty], 2), indices, new, axis=2)
