"""The layers of networks as operators of a graph, shared by the importers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from mlir import ir

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import free_name, node_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.importers.emitter import OneOrEach, OnnxValue, OperatorEmitter, Size, known_sizes, static_size
from tir_mlir.graph.size_code import product
from tir_mlir.topi.nn.pooling import max_pool_with_indices

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value

SizeT = TypeVar("SizeT")


def linear(e: OperatorEmitter, x: OnnxValue, weight: OnnxValue, bias: OnnxValue | None = None) -> Value:
    """x @ weight.T + bias; weight has the axes (out, in), or (in)."""
    y = e.op("matmul" if len(weight.shape) == 1 else "nn.dense", x, weight)
    return y if bias is None else e.op("add", y, bias)


def scaled_sum(e: OperatorEmitter, x: OnnxValue | None, y: Value, alpha: float, beta: float) -> Value:
    """beta * x + alpha * y."""
    if alpha != 1:
        y = e.multiply(y, alpha)
    if beta == 0 or x is None:
        return y
    return e.op("add", y, x if beta == 1 else e.multiply(x, beta))


_LAYOUTS = {1: "NCW", 2: "NCHW", 3: "NCDHW"}
_KERNELS = {1: "OIW", 2: "OIHW", 3: "OIDHW"}


def convolution(
    e: OperatorEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    bias: OnnxValue | None,
    stride: OneOrEach,
    padding: OneOrEach | str,
    dilation: OneOrEach,
    groups: int,
) -> Value:
    """x (n, c, ..) with weight (o, c / groups, ..), plus bias (o). padding: one an axis, or those before all axes and
    then those after, or "same", "valid"."""
    axes = len(weight.shape) - 2
    if axes not in _LAYOUTS:
        raise GraphError(f"a convolution over {axes} axes\n  fix: convolutions have 1, 2 or 3 axes besides n and c")
    strides, spread = every_axis(stride, axes), every_axis(dilation, axes)
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    widths = _both_sides(padding, axes, weight, spread)
    if groups == 1 and (taps := _taps_of_single_window(x, weight, strides, widths, spread)):
        y = _product_of_single_window(e, x, weight, taps)
    else:
        options = {"strides": strides, "padding": widths, "dilation": spread, "groups": groups}
        y = e.op(f"nn.conv{axes}d", x, weight, **options)
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def _taps_of_single_window(
    x: OnnxValue, weight: OnnxValue, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> list[tuple[range, range]]:
    """For each axis of a convolution with one result per image, the taps that lie within the image and the elements
    under them; none where there are more results, or where the window is one element, which is a product already."""
    kernel, sizes = known_sizes(weight.shape[2:]), known_sizes(x.shape[1:])
    if kernel is None or sizes is None or max(kernel) == 1:
        return []
    found = []
    for k, n, s, d, low, high in zip(
        kernel, sizes[1:], stride, dilation, padding[: len(kernel)], padding[len(kernel) :], strict=True
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
    y = e.op("nn.dense", *(e.op("reshape", v, shape=(v.shape[0], product(v.shape[1:]))) for v in (x, weight)))
    return e.reshape(y, (*y.shape, *[1] * len(taps)))


def transposed_convolution(
    e: OperatorEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    bias: OnnxValue | None,
    stride: OneOrEach,
    padding: OneOrEach,
    output_padding: OneOrEach,
    dilation: OneOrEach,
    groups: int,
) -> Value:
    """The convolution's gradient: x (n, c, ..) with weight (c, o / groups, ..), plus bias (o)."""
    axes = len(weight.shape) - 2
    batched = len(x.shape) == axes + 2
    if not batched:
        x = e.reshape(x, (1, *x.shape))
    spread, sizes, kernel = every_axis(dilation, axes), known_sizes(x.shape), known_sizes(weight.shape)
    window = every_axis(stride, axes), _both_sides(padding, axes, weight, spread), every_axis(output_padding, axes)
    if max(window[0]) > 1 and max(spread) == 1 and sizes is not None and kernel is not None:
        result = _transposed_sizes(sizes[2:], kernel[2:], *window)
        y = subpixel_convolution(e, x, weight, window[0], window[1][:axes], result, groups)
    else:
        named = dict(zip(("strides", "padding", "output_padding"), window, strict=True))
        y = e.op(f"nn.conv{axes}d_transpose", x, weight, **named, dilation=spread, groups=groups)
    y = with_bias(e, y, bias, axes)
    return y if batched else e.reshape(y, y.shape[1:])


def _transposed_sizes(
    sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], more: Sequence[int]
) -> list[int]:
    """The sizes of the result of a transposed convolution."""
    axes = len(stride)
    ends = zip(padding[:axes], padding[axes:], more, strict=True)
    each = zip(sizes, kernel, stride, ends, strict=True)
    return [(n - 1) * s + k - low - high + m for n, k, s, (low, high, m) in each]


def with_bias(e: OperatorEmitter, x: Value, bias: OnnxValue | None, axes: int) -> Value:
    """x (n, c, ..) plus bias (c)."""
    return x if bias is None else e.op("add", x, e.reshape(bias, (bias.shape[0], *[1] * axes)))


def every_axis(value: int | Sequence[SizeT], axes: int) -> list[int | SizeT]:
    """A number for each axis, from one number for all or one for each."""
    numbers: list[int | SizeT] = [value] if isinstance(value, int) else list(value)
    return numbers * axes if len(numbers) == 1 else numbers


def _both_sides(padding: OneOrEach | str, axes: int, weight: OnnxValue, dilation: Sequence[int]) -> list[int]:
    if padding == "valid":
        return [0] * 2 * axes
    if isinstance(padding, str):
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
    size: OneOrEach,
    stride: OneOrEach | None = None,
    padding: OneOrEach = 0,
    dilation: OneOrEach = 1,
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
    x: Value,
    axes: int,
    size: OneOrEach,
    stride: OneOrEach | None,
    padding: OneOrEach,
    dilation: OneOrEach,
    ceil_mode: bool,
    columns: bool = False,
    of_image: bool = False,
) -> list[Value]:
    """The maxima and their indices. columns, of_image: see `max_pool_with_indices`."""
    window, batched = _window(axes, size, stride, padding, dilation), _add_batch_axis(e, x, axes)
    both = e.builder.call_te(max_pool_with_indices, batched, *window, ceil_mode, columns=columns, of_image=of_image)
    return [y if batched is x else e.reshape(y, y.shape[1:]) for y in both]


def _window(
    axes: int, window: OneOrEach, stride: OneOrEach | None, padding: OneOrEach, dilation: OneOrEach
) -> tuple[list[int], ...]:
    """Size, strides, padding on both sides, and dilation of windows, with a number for each axis."""
    size, sides = every_axis(window, axes), every_axis(padding, axes)
    sides = sides if len(sides) == 2 * axes else sides * 2
    return size, every_axis(stride, axes) if stride else size, sides, every_axis(dilation, axes)


def _add_batch_axis(e: OperatorEmitter, x: Value, axes: int) -> Value:
    return x if len(x.shape) == axes + 2 else e.reshape(x, (1, *x.shape))


def adaptive_mean(e: OperatorEmitter, x: Value, axes: int, size: int | Sequence[Size | None]) -> Value:
    """The means of size[a] equal parts of each of the last axes; None: as many as there are."""
    output_size = [n if s is None else s for s, n in zip(every_axis(size, axes), x.shape[-axes:], strict=True)]
    if all(isinstance(s, int) and s == 1 for s in output_size):
        return e.op("mean", x, axis=list(range(len(x.shape) - axes, len(x.shape))), keepdims=True)
    batched = _add_batch_axis(e, x, axes)
    y = e.op(f"nn.adaptive_avg_pool{axes}d", batched, output_size=output_size)
    return y if batched is x else e.reshape(y, y.shape[1:])


def _vector(e: OperatorEmitter, vector: OnnxValue | None, like: OnnxValue, size: Size, number: float) -> OnnxValue:
    return e.broadcast(e.constant(number, str(like.dtype)), (size,)) if vector is None else vector


def batch_norm(
    e: OperatorEmitter,
    x: OnnxValue,
    scale: OnnxValue | None,
    shift: OnnxValue | None,
    mean: OnnxValue,
    variance: OnnxValue,
    eps: float,
) -> Value:
    """(x - mean) / sqrt(variance + eps) * scale + shift for channels at axis 1."""
    scale, shift = _vector(e, scale, mean, mean.shape[0], 1), _vector(e, shift, mean, mean.shape[0], 0)
    return e.op_results("nn.batch_norm", x, scale, shift, mean, variance, axis=1, epsilon=eps)[0]


def layer_norm(
    e: OperatorEmitter, x: Value, last_axes: int, scale: OnnxValue | None, shift: OnnxValue | None, eps: float
) -> Value:
    """Mean 0 and variance 1 over the last axes, times scale, plus shift."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    shift = e.broadcast(e.constant(0, x.dtype), shape) if shift is None else shift
    return e.op("nn.layer_norm", x, scale, shift, axis=list(range(-last_axes, 0)), epsilon=eps)


def rms_norm(e: OperatorEmitter, x: Value, last_axes: int, scale: OnnxValue | None, eps: float) -> Value:
    """x / sqrt(mean(x * x) + eps) over the last axes, times scale."""
    shape = tuple(x.shape[len(x.shape) - last_axes :])
    scale = e.broadcast(e.constant(1, x.dtype), shape) if scale is None else scale
    return e.op("nn.rms_norm", x, scale, axis=list(range(-last_axes, 0)), epsilon=eps)


def group_norm(
    e: OperatorEmitter, x: Value, groups: Size, scale: OnnxValue | None, shift: OnnxValue | None, eps: float
) -> Value:
    """Mean 0 and variance 1 over the channels of a group and all axes behind them, then scale and shift by channel."""
    channels = x.shape[1]
    scale, shift = _vector(e, scale, x, channels, 1), _vector(e, shift, x, channels, 0)
    axes = list(range(2, len(x.shape)))
    return e.op("nn.group_norm", x, scale, shift, num_groups=groups, channel_axis=1, axes=axes, epsilon=eps)


def attention(
    e: OperatorEmitter,
    query: Value,
    key: Value,
    value: Value,
    mask: Value | None = None,
    causal: bool = False,
    scale: float | None = None,
) -> Value:
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


def _merge_batch_axes(e: OperatorEmitter, x: Value, batches: Sequence[int | str]) -> Value:
    """x of several axes of batches, as one."""
    x = e.broadcast(x, (*batches, *x.shape[-3:]))
    return e.reshape(x, (product(batches), *x.shape[-3:]))


def _merged_mask(e: OperatorEmitter, mask: Value, batches: Sequence[int | str]) -> Value:
    """A mask over several axes of batches as one over the merged axis; one that does not differ in them remains so."""
    differs = any(size != 1 for size in mask.shape[:-3])
    return _merge_batch_axes(e, mask, batches) if differs else e.reshape(mask, mask.shape[-3:])


def sized_range(
    e: OperatorEmitter, begin: te.Expr | float, count: te.Expr | int, step: te.Expr | float, dtype: str, name: str
) -> Value:
    """begin, begin + step, .., `count` of them: numbers or te expressions of sizes.

    A function knows the sizes of its operands only: those inputs of the graph that have them are operands.
    """
    texts = [str(e.builder.sizes.text(v)) for v in (begin, count, step) if isinstance(v, te.Expr)]

    def arange(_: Sequence[te.Tensor]) -> te.Tensor:
        return te.compute((count,), lambda i: _cast_expr(begin, dtype) + _cast_expr(i, dtype) * step, name="arange")

    return e.builder.call_te(arange, e.carriers(texts), name_hint=name)


def _cast_expr(value: te.Expr | float, dtype: str) -> te.Expr | float:
    return value.astype(dtype) if isinstance(value, te.Expr) else value


def subpixel_convolution(
    e: OperatorEmitter,
    x: OnnxValue,
    weight: OnnxValue,
    stride: Sequence[int],
    before: Sequence[int],
    result: Sequence[int],
    groups: int,
) -> Value:
    """The transposed convolution of x (n, c, ..) with weight (c, o / groups, ..), by strides, of numbers as sizes.

    Element q * s + r of an axis is that of a convolution with the weights r, r + s, ..: its channels are those of all
    r, and a permutation puts them in place. No product is with a zero that is put between the elements of the data.
    before: how many elements are cut off at the begin of each axis; result: the sizes of the result.
    """
    axes = len(stride)
    (batch, _, *sizes), (channels, outs, *window) = ([static_size(n, "a size") for n in v.shape] for v in (x, weight))
    taps = [-(-k // s) for k, s in zip(window, stride, strict=True)]
    kernel = _kernel(e, weight, (channels, outs, *window), stride, taps, groups)
    need = [-(-(b + n) // s) for b, n, s in zip(before, result, stride, strict=True)]
    first = [b // s for b, s in zip(before, stride, strict=True)]
    low = [t - 1 - f for t, f in zip(taps, first, strict=True)]
    high = [q - n for q, n in zip(need, sizes, strict=True)]
    counts = [q - f for q, f in zip(need, first, strict=True)]
    for a, (b, h, n) in enumerate(zip(low, high, sizes, strict=True)):
        x = e.slice(x, 2 + a, max(-b, 0), n + min(h, 0))
    padding = [max(v, 0) for v in (*low, *high)]
    y = e.op(f"nn.conv{axes}d", x, kernel, strides=[1] * axes, padding=padding, dilation=[1] * axes, groups=groups)
    y = e.reshape(y, (batch, groups, *stride, outs, *counts))
    order = [0, 1, 2 + axes, *(p for a in range(axes) for p in (3 + axes + a, 2 + a))]
    y = e.reshape(e.permute(y, order), (batch, groups * outs, *(q * s for q, s in zip(counts, stride, strict=True))))
    for a, (b, f, s, n) in enumerate(zip(before, first, stride, result, strict=True)):
        y = e.slice(y, 2 + a, b - f * s, b - f * s + n)
    return y


def _kernel(
    e: OperatorEmitter, weight: OnnxValue, shape: Sequence[int], stride: Sequence[int], taps: Sequence[int], groups: int
) -> OnnxValue:
    """(c, o, k..) -> (groups * s.. * o, c / groups, taps..): the weights of each remainder, in reverse order."""
    axes, (channels, outs, *window) = len(stride), shape
    extra = [t * s - k for t, s, k in zip(taps, stride, window, strict=True)]
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
    return e.reshape(parts, (groups * math.prod(stride) * outs, channels // groups, *taps))


BLOCK = 64
"""The most keys that are read or left out together: whole vectors, and a microsecond of a head."""
MIN_KEYS = 256
"""The number of keys from which on it pays to count those that are seen."""


def blocks_seen(e: OperatorEmitter, queries: Size, keys: Size, mask: Value | None) -> Value | None:
    """What makes `nn.attention` read only the keys that a query may see; None where all are few, or no mask tells.

    mask: bool [.., queries or 1, keys], true where a key is seen. The result has the shape (n, m): the first n * m keys
    have all that are seen. A key that is not seen has no weight, but those of a query that sees none, which has the
    mean of all values: then n * m = keys. One mask is counted once, for all layers.
    """
    if mask is None or mask.dtype != "bool" or (sizes := known_sizes((*mask.shape, queries, keys))) is None:
        return None
    *shape, queries, keys = sizes
    if keys <= queries or keys < MIN_KEYS or not shape or shape[-1] != keys:
        return None
    size = math.gcd(keys, BLOCK)
    with enter_context():
        source = _source(mask.value)
    return e.get_or_create(("blocks", source, size), partial(_visible_blocks, e, mask, keys // size, size))


def _source(value: ir.Value) -> ir.Value:
    """What a value was before it was reshaped: a mask gets its axes once for each layer."""
    node = node_of(value)
    return value if node is None or node.operator != "reshape" else _source(node.inputs[0])


def _visible_blocks(e: OperatorEmitter, mask: Value, number: int, size: int) -> Value:
    """The first blocks of so many keys, of which a query sees any."""
    count = e.builder.call_te(partial(_last_block, size=size), mask, name_hint="blocks_seen")
    name = free_name("blocks", e.builder.sizes.variables)
    blocks = e.constant(np.zeros((number, size)), "int8")
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
