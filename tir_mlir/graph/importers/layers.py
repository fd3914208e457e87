"""The layers of networks as operators of a graph, shared by the importers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from mlir import ir

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import free_name, node_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, OperatorEmitter, static_size
from tir_mlir.topi.nn.pooling import max_pool_with_indices

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def linear(e: OperatorEmitter, x: Operand, weight: Value, bias: Operand | None = None) -> Value:
    """x @ weight.T + bias; weight has the axes (out, in), or (in)."""
    y = e.op("matmul" if len(weight.shape) == 1 else "nn.dense", x, weight)
    return y if bias is None else e.op("add", y, bias)


def scaled_sum(e: OperatorEmitter, x: Any, product: Value, alpha: float, beta: float) -> Any:
    """beta * x + alpha * product."""
    if alpha != 1:
        product = e.multiply(product, alpha)
    if beta == 0 or x is None:
        return product
    return e.op("add", product, x if beta == 1 else e.multiply(x, beta))


_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_KERNELS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}


def convolution(
    e: OperatorEmitter, x: Value, weight: Value, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """x (n, c, ..) with weight (o, c / groups, ..), plus bias (o). padding: one an axis, or those before all axes and
    then those after, or "same", "valid"."""
    axes = len(weight.shape) - 2
    if axes not in _LAYOUTS:
        raise GraphError(f"a convolution over {axes} axes\n  fix: convolutions have 1, 2 or 3 axes besides n and c")
    stride, dilation = every_axis(stride, axes), every_axis(dilation, axes)
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    widths = _both_sides(padding, axes, weight, dilation)
    if groups == 1 and (taps := _taps_of_single_window(x, weight, stride, widths, dilation)):
        y = _product_of_single_window(e, x, weight, taps)
    else:
        options = {"strides": stride, "padding": widths, "dilation": dilation, "groups": groups}
        y = e.op(f"nn.conv{axes}d", x, weight, **options)
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def _taps_of_single_window(
    x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[tuple[range, range]]:
    """For each axis of a convolution with one result per image, the taps that lie within the image and the elements
    under them; none where there are more results, or where the window is one element, which is a product already."""
    kernel, sizes = weight.shape[2:], x.shape[2:]
    if not all(isinstance(n, int) for n in (*kernel, *sizes, *x.shape[1:2])) or max(kernel) == 1:
        return []
    found = []
    for k, n, s, d, low, high in zip(
        kernel, sizes, stride, dilation, padding[: len(kernel)], padding[len(kernel) :], strict=True
    ):
        taps = [t for t in range(k) if 0 <= t * d - low < n]
        if (n + low + high - (k - 1) * d - 1) // s != 0 or not taps:
            return []
        first, last = taps[0] * d - low, taps[-1] * d - low
        found.append((range(taps[0], taps[-1] + 1), range(first, last + 1, d)))
    return found


def _product_of_single_window(
    e: OperatorEmitter, x: OnnxValue, weight: OnnxValue, taps: Sequence[tuple[range, range]]
) -> Value:
    """The convolution as the product of a row for each image, (n, o, 1, ..)."""
    for axis, (of_weight, of_image) in enumerate(taps):
        weight = e.slice(weight, 2 + axis, of_weight.start, of_weight.stop)
        x = e.slice(x, 2 + axis, of_image.start, of_image.stop, of_image.step)
    y = e.op("nn.dense", *(e.op("reshape", v, shape=(v.shape[0], math.prod(v.shape[1:]))) for v in (x, weight)))
    return e.reshape(y, (*y.shape, *[1] * len(taps)))


def transposed_convolution(
    e: OperatorEmitter,
    x: Value,
    weight: Value,
    bias: Any,
    stride: Any,
    padding: Any,
    output_padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    """The convolution's gradient: x (n, c, ..) with weight (c, o / groups, ..), plus bias (o)."""
    axes = len(weight.shape) - 2
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    window = every_axis(stride, axes), _both_sides(padding, axes, weight, None), every_axis(output_padding, axes)
    spread = every_axis(dilation, axes)
    if max(window[0]) > 1 and max(spread) == 1 and all(isinstance(n, int) for n in (*x.shape, *weight.shape)):
        result = _transposed_sizes(x, weight, *window)
        y = subpixel_convolution(e, x, weight, window[0], window[1][:axes], result, groups)
    else:
        named = dict(zip(("strides", "padding", "output_padding"), window, strict=True))
        y = e.op(f"nn.conv{axes}d_transpose", x, weight, **named, dilation=spread, groups=groups)
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def _transposed_sizes(
    x: Any, weight: Any, stride: Sequence[int], padding: Sequence[int], more: Sequence[int]
) -> list[int]:
    """The sizes of the result of a transposed convolution."""
    axes = len(stride)
    ends = zip(padding[:axes], padding[axes:], more, strict=True)
    sizes = zip(x.shape[2:], weight.shape[2:], stride, ends, strict=True)
    return [(n - 1) * s + k - low - high + m for n, k, s, (low, high, m) in sizes]


def with_bias(e: OperatorEmitter, x: Operand, bias: Any, axes: int) -> Any:
    """x (n, c, ..) plus bias (c)."""
    return x if bias is None else e.op("add", x, e.reshape(bias, (bias.shape[0], *[1] * axes)))


def every_axis(value: Any, axes: int) -> list[int]:
    """A number for each axis, from one number for all or one for each."""
    numbers = [value] if isinstance(value, int) else list(value)
    return numbers * axes if len(numbers) == 1 else numbers


def _both_sides(padding: Any, axes: int, weight: Any, dilation: Sequence[int] | None) -> list[int]:
    if padding == "valid":
        return [0] * 2 * axes
    if padding == "same" and dilation is not None:
        total = [
            (static_size(k, "the size of a kernel") - 1) * d for k, d in zip(weight.shape[2:], dilation, strict=True)
        ]
        return [*(t // 2 for t in total), *(t - t // 2 for t in total)]
    widths = every_axis(padding, axes)
    return widths if len(widths) == 2 * axes else widths * 2


def pool(
    e: OperatorEmitter,
    kind: str,
    x: Value,
    axes: int,
    size: Sequence[int],
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    count_include_pad: bool | None = None,
) -> Value:
    """The maximum ("max") or mean ("avg") of windows over the last `axes` axes. stride: default the window's size.
    padding: one an axis, or those before all axes and then those after. x may have no batch axis."""
    size, *window = _window(axes, size, stride, padding, dilation)
    named = dict(zip(("strides", "padding", "dilation"), window, strict=True))
    batched, operator = _add_batch_axis(e, x, axes), f"nn.{kind}_pool{axes}d"
    y = e.op(operator, batched, pool_size=size, **named, ceil_mode=ceil_mode, count_include_pad=count_include_pad)
    return y if batched is x else e.reshape(y, y.shape[1:])


def pool_with_indices(
    e: OperatorEmitter,
    x: Any,
    axes: int,
    size: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    ceil_mode: bool,
    **order: Any,
) -> list[Any]:
    """The maxima and their indices. order: `columns` and `of_image` of `max_pool_with_indices`."""
    window, batched = _window(axes, size, stride, padding, dilation), _add_batch_axis(e, x, axes)
    both = e.builder.call_te(max_pool_with_indices, batched, *window, ceil_mode, **order)
    return [y if batched is x else e.reshape(y, y.shape[1:]) for y in both]


def _window(
    axes: int, size: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[list[int], ...]:
    """Size, strides, padding on both sides, and dilation of windows, with a number for each axis."""
    size, padding = every_axis(size, axes), every_axis(padding, axes)
    sides = padding if len(padding) == 2 * axes else [*padding, *padding]
    return size, every_axis(stride, axes) if stride else size, sides, every_axis(dilation, axes)


def _add_batch_axis(e: OperatorEmitter, x: Value, axes: int) -> Value:
    return x if len(x.shape) == axes + 2 else e.reshape(x, (1, *x.shape))


def adaptive_mean(e: OperatorEmitter, x: Value, axes: int, size: Any) -> Value:
    """The means of size[a] equal parts of each of the last axes; None: as many as there are."""
    output_size = [n if s is None else s for s, n in zip(every_axis(size, axes), x.shape[-axes:], strict=True)]
    if all(isinstance(s, int) and s == 1 for s in output_size):
        return e.op("mean", x, axis=list(range(len(x.shape) - axes, len(x.shape))), keepdims=True)
    batched = _add_batch_axis(e, x, axes)
    y = e.op(f"nn.adaptive_avg_pool{axes}d", batched, output_size=output_size)
    return y if batched is x else e.reshape(y, y.shape[1:])


def _vector(e: OperatorEmitter, vector: Operand, like: Value, size: Any, number: float) -> Any:
    return e.broadcast(e.constant(number, like.dtype), (size,)) if vector is None else vector


def batch_norm(
    e: OperatorEmitter, x: Operand, scale: Operand, shift: Operand, mean: Value, variance: Operand, eps: float
) -> Value:
    """(x - mean) / sqrt(variance + eps) * scale + shift for channels at axis 1."""
    scale, shift = _vector(e, scale, mean, mean.shape[0], 1), _vector(e, shift, mean, mean.shape[0], 0)
    y = e.op("nn.batch_norm", x, scale, shift, mean, variance, axis=1, epsilon=eps)
    return y[0] if isinstance(y, (tuple, list)) else y


def layer_norm(e: OperatorEmitter, x: Value, last_axes: int, scale: Operand, shift: Operand, eps: float) -> Any:
    """Mean 0 and variance 1 over the last axes, times scale, plus shift."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    shift = e.broadcast(e.constant(0, x.dtype), shape) if shift is None else shift
    return e.op("nn.layer_norm", x, scale, shift, axis=list(range(-last_axes, 0)), epsilon=eps)


def rms_norm(e: OperatorEmitter, x: Value, last_axes: int, scale: Operand, eps: float) -> Any:
    """x / sqrt(mean(x * x) + eps) over the last axes, times scale."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    return e.op("nn.rms_norm", x, scale, axis=list(range(-last_axes, 0)), epsilon=eps)


def group_norm(e: OperatorEmitter, x: Value, groups: int, scale: Operand, shift: Operand, eps: float) -> Any:
    """Mean 0 and variance 1 over the channels of a group and all axes behind them, then scale and shift by channel."""
    channels = x.shape[1]
    scale, shift = _vector(e, scale, x, channels, 1), _vector(e, shift, x, channels, 0)
    axes = list(range(2, len(x.shape)))
    return e.op("nn.group_norm", x, scale, shift, num_groups=groups, channel_axis=1, axes=axes, epsilon=eps)


def attention(
    e: OperatorEmitter,
    query: Value,
    key: Value,
    value: Any,
    mask: Value | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Any:
    """softmax(query @ key.T * scale + mask) @ value over (batch, heads, tokens, depth), without batch or heads, or
    with several axes of batches.

    mask: added, or of bool: true where a key is seen. causal: query i sees keys 0..i. Fewer heads of keys and values
    than of queries: each is shared by a group of queries.
    """
    shape, rank = query.shape, len(query.shape)
    if rank > 4:
        mask = None if mask is None else _merged_mask(e, mask, shape[:-3])
        query, key, value = (_merge_batch_axes(e, x, shape[:-3]) for x in (query, key, value))
    else:
        query, key, value = (e.reshape(x, (*[1] * (4 - rank), *x.shape)) for x in (query, key, value))
    if mask is not None and mask.dtype != "bool":
        mask = e.cast(mask, query.dtype)
    operands = [query, key, value] if mask is None else [query, key, value, mask]
    blocks = None if causal else blocks_seen(e, query.shape[2], key.shape[2], mask)
    causal_mask = "TopLeft" if causal else None
    y = e.op("nn.attention", *operands, blocks=blocks, scale=scale, causal_mask=causal_mask, layout="BHSD")
    return e.reshape(y, (*shape[:-1], y.shape[-1]))


def _merge_batch_axes(e: OperatorEmitter, x: Value, batches: Any) -> Value:
    """x of several axes of batches, as one."""
    x = e.broadcast(x, (*batches, *x.shape[-3:]))
    return e.reshape(x, (math.prod(batches), *x.shape[-3:]))


def _merged_mask(e: OperatorEmitter, mask: Value, batches: Any) -> Value:
    """A mask over several axes of batches as one over the merged axis; one that does not differ in them remains so."""
    differs = any(size != 1 for size in mask.shape[:-3])
    return _merge_batch_axes(e, mask, batches) if differs else e.reshape(mask, mask.shape[-3:])


def sized_range(e: OperatorEmitter, begin: Any, count: Any, step: int, dtype: str, name: str) -> Value:
    """begin, begin + step, .., `count` of them: numbers or te expressions of sizes.

    A function knows the sizes of its operands only: those inputs of the graph that have them are operands.
    """
    texts = [str(e.builder.sizes.text(v)) for v in (begin, count, step) if isinstance(v, te.Expr)]

    def arange(_: Any) -> te.Tensor:
        return te.compute((count,), lambda i: _cast_expr(begin, dtype) + _cast_expr(i, dtype) * step, name="arange")

    return e.builder.call_te(arange, e.carriers(texts), name_hint=name)


def _cast_expr(value: te.Var, dtype: str) -> te.Expr:
    return value.astype(dtype) if isinstance(value, te.Expr) else value


def subpixel_convolution(
    e: OperatorEmitter,
    x: Any,
    weight: Any,
    stride: Sequence[int],
    before: Sequence[int],
    result: Sequence[int],
    groups: int,
) -> Any:
    """The transposed convolution of x (n, c, ..) with weight (c, o / groups, ..), by strides, of numbers as sizes.

    Element q * s + r of an axis is that of a convolution with the weights r, r + s, ..: its channels are those of all
    r, and a permutation puts them in place. No product is with a zero that is put between the elements of the data.
    before: how many elements are cut off at the begin of each axis; result: the sizes of the result.
    """
    axes = len(stride)
    batch = x.shape[0]
    outs = weight.shape[1]
    taps = [-(-k // s) for k, s in zip(weight.shape[2:], stride, strict=True)]
    kernel = _kernel(e, weight, stride, taps, groups)
    need = [-(-(b + n) // s) for b, n, s in zip(before, result, stride, strict=True)]
    first = [b // s for b, s in zip(before, stride, strict=True)]
    low = [t - 1 - f for t, f in zip(taps, first, strict=True)]
    high = [q - n for q, n in zip(need, x.shape[2:], strict=True)]
    counts = [q - f for q, f in zip(need, first, strict=True)]
    for a, (b, h) in enumerate(zip(low, high, strict=True)):
        x = e.slice(x, 2 + a, max(-b, 0), x.shape[2 + a] + min(h, 0))
    padding = [max(v, 0) for v in (*low, *high)]
    y = e.op(f"nn.conv{axes}d", x, kernel, strides=[1] * axes, padding=padding, dilation=[1] * axes, groups=groups)
    y = e.reshape(y, (batch, groups, *stride, outs, *counts))
    order = [0, 1, 2 + axes, *(p for a in range(axes) for p in (3 + axes + a, 2 + a))]
    y = e.reshape(e.permute(y, order), (batch, groups * outs, *(q * s for q, s in zip(counts, stride, strict=True))))
    for a, (b, f, s, n) in enumerate(zip(before, first, stride, result, strict=True)):
        y = e.slice(y, 2 + a, b - f * s, b - f * s + n)
    return y


def _kernel(e: OperatorEmitter, weight: Any, stride: Sequence[int], taps: Sequence[int], groups: int) -> Any:
    """(c, o, k..) -> (groups * s.. * o, c / groups, taps..): the weights of each remainder, in reverse order."""
    axes, (channels, outs) = len(stride), weight.shape[:2]
    extra = [t * s - k for t, s, k in zip(taps, stride, weight.shape[2:], strict=True)]
    if any(extra):
        weight = e.op("nn.pad", weight, pad_width=[0] * 4 + [w for m in extra for w in (0, m)], pad_value=0)
    parts = e.reshape(
        weight, (groups, channels // groups, outs, *(n for t, s in zip(taps, stride, strict=True) for n in (t, s)))
    )
    order = [0, *(4 + 2 * a for a in range(axes)), 2, 1, *(3 + 2 * a for a in range(axes))]
    parts = e.permute(parts, order)
    for a in range(axes):
        if taps[a] > 1:
            parts = e.op("flip", parts, axis=3 + axes + a)
    remainders = 1
    for s in stride:
        remainders *= s
    return e.reshape(parts, (groups * remainders * outs, channels // groups, *taps))


BLOCK = 64
"""The most keys that are read or left out together: whole vectors, and a microsecond of a head."""
MIN_KEYS = 256
"""The number of keys from which on it pays to count those that are seen."""


def blocks_seen(e: OperatorEmitter, queries: Any, keys: Any, mask: Any) -> Any | None:
    """What makes `nn.attention` read only the keys that a query may see; None where all are few, or no mask tells.

    mask: bool [.., queries or 1, keys], true where a key is seen. The result has the shape (n, m): the first n * m keys
    have all that are seen. A key that is not seen has no weight, but those of a query that sees none, which has the
    mean of all values: then n * m = keys. One mask is counted once, for all layers.
    """
    if mask is None or mask.dtype != "bool" or not all(isinstance(size, int) for size in (*mask.shape, queries, keys)):
        return None
    if keys <= queries or keys < MIN_KEYS or not mask.shape or mask.shape[-1] != keys:
        return None
    size = math.gcd(keys, BLOCK)
    with enter_context():
        source = _source(mask.value)
    return e.get_or_create(("blocks", source, size), partial(_visible_blocks, e, mask, size))


def _source(value: ir.Value) -> ir.Value:
    """What a value was before it was reshaped: a mask gets its axes once for each layer."""
    node = node_of(value)
    return value if node is None or node.operator != "reshape" else _source(node.inputs[0])


def _visible_blocks(e: OperatorEmitter, mask: Any, size: int) -> Value:
    """The first blocks of so many keys, of which a query sees any."""
    whole = mask.shape[-1] // size
    count = e.builder.call_te(partial(_last_block, size=size), mask, name_hint="blocks_seen")
    name = free_name("blocks", e.builder.sizes.variables)
    blocks = e.constant(np.zeros((whole, size)), "int8")
    return e.op("first_rows", blocks, count, rows={"size": name}, least=1)


def _last_block(mask: te.Tensor, size: int) -> te.Tensor:
    """The number of blocks up to the last key that any query sees; all of them where one sees none."""
    *rows, keys = mask.shape
    j, axes = te.reduce_axis((0, keys)), [te.reduce_axis((0, n)) for n in rows]
    last = te.compute(
        rows or (1,),
        lambda *i: te.max(te.if_then_else(mask(*i[: len(rows)], j), (j + 1).astype("int32"), 0), axis=j),
        name="last_seen",
    )
    seen = te.compute(last.shape, lambda *i: te.if_then_else(last(*i) > 0, last(*i), keys), name="seen")
    most = seen if not rows else te.compute((1,), lambda _: te.max(seen(*axes), axis=axes), name="most_seen")
    return te.compute((), lambda: ((most(0) + (size - 1)) // size).astype("int64"), name="blocks_seen")
