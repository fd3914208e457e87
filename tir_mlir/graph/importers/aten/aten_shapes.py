"""The same elements in another shape or order; parts of tensors, indices, and tensors made of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal, parse, size_of
from tir_mlir.graph.importers.aten.aten_data_sizes import select_by_mask
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import Term, TorchEmitter
from tir_mlir.graph.importers.data_sizes import data_dependent_names, row_by_data, slice_by_data
from tir_mlir.graph.importers.emitter import (
    OneOrEach,
    OperatorEmitter,
    axis_in,
    is_number,
    known_sizes,
    size_form,
    static_size,
)
from tir_mlir.graph.importers.layers import sized_range
from tir_mlir.te.expr import t_call
from tir_mlir.topi.sizes import simple

if TYPE_CHECKING:
    import torch

    from tir_mlir.graph.builder import Value
    from tir_mlir.graph.size_code import Size


@aten("view.default", "reshape", "_unsafe_view", "flatten.using_ints", "unflatten.int", "view_as", "reshape_as")
def reshape(e: TorchEmitter, x: Value, **_: object) -> Value:
    """The shape is that of torch's result: no -1 is left in it."""
    return e.reshape(x, e.shape)


@aten("unsqueeze", "squeeze.default", "squeeze.dim", "squeeze.dims")
def add_or_drop_ones(e: TorchEmitter, x: Value, **_: object) -> Value:
    return e.reshape(x, e.shape)


@aten("view.dtype")
def bits(e: TorchEmitter, x: Value, dtype: str | None) -> Value:
    """The same bits as another type of the same width."""
    width = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "bool": 8}
    source, target = (width.get(t) or int(t.lstrip("uint")) for t in (x.dtype, e.dtype))
    if source != target:
        raise GraphError(f"the bits of {x.dtype} as {e.dtype}, of another width\n  fix: convert with .to(dtype)")
    return e.builder.call_te(_reinterpret_bits, x, e.dtype, name_hint=e.node.name)


def _reinterpret_bits(x: te.Tensor, dtype: str) -> te.Tensor:
    """The bits of each element as another type."""
    return te.compute(x.shape, lambda *i: t_call("reinterpret", dtype, x(*i)), name="T_bits")


@aten("transpose.int", "swapaxes", "swapdims")
def exchange(
    e: TorchEmitter, x: Value, dim0: int = 0, dim1: int = 0, axis0: int | None = None, axis1: int = 0
) -> Value:
    first, second = (dim0, dim1) if axis0 is None else (axis0, axis1)
    order = list(range(len(x.shape)))
    if order:
        order[first], order[second] = order[second], order[first]
    return e.permute(x, order)


@aten("t", "numpy_T", "mT", "adjoint")
def transpose(e: TorchEmitter, x: Value) -> Value:
    """The last two axes exchanged."""
    rank = len(x.shape)
    return x if rank < 2 else e.permute(x, [*range(rank - 2), rank - 1, rank - 2])


@aten("permute")
def permute(e: TorchEmitter, x: Value, dims: Sequence[int]) -> Value:
    return e.permute(x, [axis_in(d, len(x.shape)) for d in dims])


@aten("movedim.int", "movedim.intlist", "moveaxis.int")
def move(e: TorchEmitter, x: Value, source: OneOrEach, destination: OneOrEach) -> Value:
    rank = len(x.shape)
    sources = [axis_in(s, rank) for s in ([source] if isinstance(source, int) else source)]
    targets = [axis_in(d, rank) for d in ([destination] if isinstance(destination, int) else destination)]
    unmoved = iter(a for a in range(rank) if a not in sources)
    placed = dict(zip(targets, sources, strict=True))
    return e.permute(x, [placed[a] if a in placed else next(unmoved) for a in range(rank)])


@aten("expand", "expand_as", "broadcast_to")
def expand(e: TorchEmitter, x: Value, **_: object) -> Value:
    return e.broadcast(x, e.shape)


@aten("cat", "concat", "concatenate")
def concatenate(e: TorchEmitter, tensors: Sequence[Value], dim: int = 0) -> Value:
    """torch leaves out tensors of shape (0,), whatever the rank of the others."""
    parts = [e.cast(t, e.dtype) for t in tensors if not (len(t.shape) == 1 and is_number(t.shape[0], 0))]
    if not parts:
        return e.cast(tensors[0], e.dtype)
    return e.concat(parts, axis_in(dim, len(parts[0].shape)))


@aten("stack")
def stack(e: TorchEmitter, tensors: Sequence[Value], dim: int = 0) -> Value:
    axis = axis_in(dim, len(tensors[0].shape) + 1)
    return e.concat([e.reshape(e.cast(t, e.dtype), (*t.shape[:axis], 1, *t.shape[axis:])) for t in tensors], axis)


@aten("tile")
def tile(e: TorchEmitter, x: Value, dims: Sequence[Size]) -> Value:
    return repeat(e, x, [*[1] * (len(x.shape) - len(dims)), *dims])


@aten("repeat")
def repeat(e: TorchEmitter, x: Value, repeats: Sequence[Size]) -> Value:
    if all(is_number(r, 1) for r in repeats):
        return e.reshape(x, e.shape)
    if all(isinstance(r, int) for r in repeats):
        return e.op("tile", x, repeats=list(repeats))
    sizes = [*[1] * (len(repeats) - len(x.shape)), *x.shape]
    before: list[Size] = []
    after: list[Size] = []
    for count, size in zip(repeats, sizes, strict=True):
        copied, kept = not is_number(count, 1), not is_number(size, 1) or is_number(count, 1)
        before += [1] * copied + [size] * kept
        after += [count] * copied + [size] * kept
    return e.reshape(e.broadcast(e.reshape(x, before), after), e.shape)


@aten("repeat_interleave.self_int")
def repeat_each(
    e: TorchEmitter, x: Value, repeats: int, dim: int | None = None, output_size: Size | None = None
) -> Value:
    if dim is None:
        x, dim = e.op("reshape", x, shape=(-1,)), 0
    return e.op("repeat", x, repeats=repeats, axis=axis_in(dim, len(x.shape)))


@aten("flip")
def flip(e: TorchEmitter, x: Value, dims: Sequence[int]) -> Value:
    for dim in dims:
        x = e.op("flip", x, axis=axis_in(dim, len(x.shape)))
    return x


def _quotient(size: Size, divisor: int) -> Size:
    return size_of(parse(size) // divisor) if isinstance(size, str) else size // divisor


@aten("pixel_shuffle")
def pixel_shuffle(e: TorchEmitter, x: Value, upscale_factor: int) -> Value:
    """(.., c * r * r, h, w) -> (.., c, h * r, w * r)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), upscale_factor
    x = e.reshape(x, (*outer, _quotient(channels, r**2), r, r, high, wide))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 3, 1, 4, 2))])
    return e.reshape(x, e.shape)


@aten("pixel_unshuffle")
def pixel_unshuffle(e: TorchEmitter, x: Value, downscale_factor: int) -> Value:
    """(.., c, h * r, w * r) -> (.., c * r * r, h, w)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), downscale_factor
    x = e.reshape(x, (*outer, channels, _quotient(high, r), r, _quotient(wide, r), r))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 2, 4, 1, 3))])
    return e.reshape(x, e.shape)


@aten("channel_shuffle")
def channel_shuffle(e: TorchEmitter, x: Value, groups: int) -> Value:
    """Channels of groups taken one after the other."""
    batch, channels, *spatial = x.shape
    y = e.reshape(x, (batch, groups, _quotient(channels, groups), *spatial))
    return e.reshape(e.permute(y, [0, 2, 1, *range(3, 3 + len(spatial))]), e.shape)


def _bounds(size: Size, start: Size | None, end: Size | None) -> tuple[Size, Size]:
    """Python's bounds of a slice as numbers in 0..size."""
    begin = 0 if start is None else start
    stop = size if end is None else end
    if isinstance(begin, int) and begin < 0:
        begin = max(begin + size, 0) if isinstance(size, int) else f"{size} - {-begin}"
    if isinstance(stop, int) and stop < 0:
        stop = max(stop + size, 0) if isinstance(size, int) else f"{size} - {-stop}"
    if isinstance(stop, int) and stop >= 2**62:
        stop = size
    if isinstance(size, int):
        begin = min(begin, size) if isinstance(begin, int) else begin
        stop = min(stop, size) if isinstance(stop, int) else stop
    if isinstance(begin, int) and isinstance(stop, int):
        stop = max(begin, stop)
    return begin, stop


def _check_length(size: Size, begin: Size, stop: Size, step: int, length: Size) -> None:
    """A slice up to a number of an axis whose size is not known may end before it: torch's result has its size."""
    if isinstance(size, int) or equal(size_form(stop), size_form(size)) or step != 1:
        return
    if is_number(begin, 0) and equal(size_form(length), size_form(stop)):
        return
    if isinstance(stop, int) and isinstance(begin, int) and is_number(length, stop - begin):
        return
    if isinstance(length, str):
        return
    raise GraphError(f"elements {begin} to {stop} of an axis of {size}\n  fix: make this dimension static")


@aten("slice.Tensor", "slice_copy")
def take_slice(
    e: TorchEmitter, x: Value, dim: int = 0, start: Size | None = None, end: Size | None = None, step: int = 1
) -> Value:
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(x.shape[axis], start, end)
    cut = slice_by_data(e, x, axis, begin, stop, e.shape[axis], e.numbers) if step == 1 else None
    if cut is not None:
        return cut
    _check_length(x.shape[axis], begin, stop, step, e.shape[axis])
    return e.slice(x, axis, begin, stop, step)


@aten("narrow")
def narrow(e: TorchEmitter, x: Value, dim: int, start: Size, length: Size) -> Value:
    axis = axis_in(dim, len(x.shape))
    begin = _index(x.shape[axis], start)
    end = _sum(begin, length)
    cut = slice_by_data(e, x, axis, begin, end, e.shape[axis], e.numbers)
    return e.slice(x, axis, begin, end) if cut is None else cut


def _sum(a: Size, b: Size) -> Size:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if is_number(a, 0) else f"{a} + {b}"


@aten("select.int", "select_copy")
def select(e: TorchEmitter, x: Value, dim: int, index: Size) -> Value:
    axis = axis_in(dim, len(x.shape))
    if data_dependent_names(index, e.numbers):
        return row_by_data(e, x, axis, index, e.numbers)
    if isinstance(index, int) and not isinstance(x.shape[axis], int):
        return e.builder.call_te(_select_row, x, axis, index, name_hint=e.node.name)
    begin = _index(x.shape[axis], index)
    return e.reshape(e.slice(x, axis, begin, _sum(begin, 1)), e.shape)


def _select_row(x: te.Tensor, axis: int, index: int) -> te.Tensor:
    """x[..., index, ...] of a symbolic size: zeros if the axis is shorter, which torch refuses."""
    shape, size = [*x.shape[:axis], *x.shape[axis + 1 :]], x.shape[axis]
    position, inside = (size + index, size + index >= 0) if index < 0 else (index, size > index)

    def element(*i: te.Var) -> te.Expr:
        return te.if_then_else(inside, x(*i[:axis], position, *i[axis:]), te.cast(0, x.dtype))

    return te.compute(shape, element, name="select")


def _index(size: Size, index: Size) -> Size:
    if isinstance(index, int) and index < 0:
        return index + size if isinstance(size, int) else f"{size} - {-index}"
    return index


@aten("split.Tensor", "split.sizes", "split_with_sizes", "chunk", "tensor_split.sections", "unsafe_chunk")
def split(e: TorchEmitter, x: Value, dim: int = 0, **_: object) -> list[Value]:
    """The parts have the sizes of torch's results."""
    axis = axis_in(dim, len(x.shape))
    parts = [e.sizes.size(r.shape[axis]) for r in e.results]
    ends = list(accumulate(parts[:-1], _sum))
    if len(parts) == 1:
        return [x]
    if all(isinstance(p, int) for p in parts):
        return list(e.op_results("split", x, indices_or_sections=ends, axis=axis))
    return [e.slice(x, axis, b, s) for b, s in zip([0, *ends], [*ends, x.shape[axis]], strict=True)]


@aten("unbind.int")
def unbind(e: TorchEmitter, x: Value, dim: int = 0) -> list[Value]:
    axis = axis_in(dim, len(x.shape))
    return [e.reshape(e.slice(x, axis, n, n + 1), e.shape) for n in range(len(e.results))]


@aten("roll")
def roll(e: TorchEmitter, x: Value, shifts: Sequence[int], dims: Sequence[int]) -> Value:
    """Elements moved along axes, those that leave enter at the other end."""
    shape = x.shape
    if not dims:
        x, dims = e.op("reshape", x, shape=(-1,)), [0]
    return e.reshape(e.op("roll", x, shift=list(shifts), axis=[axis_in(d, len(x.shape)) for d in dims]), shape)


@aten("diagonal")
def diagonal(e: TorchEmitter, x: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    return e.op("diagonal", x, offset=offset, axis1=dim1, axis2=dim2)


@aten("trace")
def trace(e: TorchEmitter, x: Value) -> Value:
    return e.op("sum", e.cast(e.op("diagonal", x), e.dtype))


@aten("as_strided", "as_strided_copy")
def as_strided(
    e: TorchEmitter, x: Value, size: Sequence[Size], stride: Sequence[int], storage_offset: int | None = None
) -> Value:
    """Elements by strides, of a tensor whose elements torch has in row-major order."""
    operand: torch.Tensor = e.node.all_input_nodes[0].meta["val"]
    if not operand.is_contiguous() or (storage_offset is None and operand.storage_offset()):
        raise GraphError("strides of a tensor that is itself a view\n  fix: call .contiguous() before")
    return e.op("as_strided", x, shape=list(size), strides=list(stride), offset=storage_offset or 0)


@aten("as_strided_scatter")
def put_strided(
    e: TorchEmitter, x: Value, src: Value, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> Value:
    """x with the elements of such a view replaced."""
    count = math.prod(static_size(n, "a size of a tensor that is written by strides") for n in e.shape)
    every = np.arange(count, dtype=np.int64)
    positions = np.lib.stride_tricks.as_strided(
        every[storage_offset or 0 :], tuple(size), tuple(8 * s for s in stride), writeable=False
    )
    flat = [e.op("reshape", part, shape=(-1,)) for part in (x, src)]
    return e.reshape(e.op("index_put", flat[0], e.constant(positions.ravel(), "int64"), flat[1]), e.shape)


@aten("diagonal_scatter")
def put_diagonal(e: TorchEmitter, x: Value, src: Value, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    """x with a diagonal replaced."""
    rank = len(x.shape)
    first, second = axis_in(dim1, rank), axis_in(dim2, rank)
    order = [first, second, *(a for a in range(rank) if a not in (first, second))]
    steps = np.arange(static_size(src.shape[-1], "the size of a diagonal"))
    rows, columns = e.constant(steps + max(-offset, 0), "int64"), e.constant(steps + max(offset, 0), "int64")
    parts = e.permute(src, [len(src.shape) - 1, *range(len(src.shape) - 1)])
    written = e.op("index_put", e.permute(x, order), rows, columns, parts)
    return e.permute(written, [order.index(a) for a in range(rank)])


@aten("slice_scatter")
def put_slice(
    e: TorchEmitter,
    x: Value,
    src: Value,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: int = 1,
) -> Value:
    """x with a slice replaced by src."""
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(x.shape[axis], start, end)
    if step != 1:
        return e.op("slice_scatter", x, e.cast(src, x.dtype), start=begin, end=stop, step=step, axis=axis)
    return _replace_slice(e, x, e.cast(src, x.dtype), axis, begin, stop)


@aten("select_scatter")
def put_index(e: TorchEmitter, x: Value, src: Value, dim: int, index: Size) -> Value:
    """x with one index of an axis replaced by src."""
    axis = axis_in(dim, len(x.shape))
    begin = _index(x.shape[axis], index)
    part = e.reshape(e.cast(src, x.dtype), (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return _replace_slice(e, x, part, axis, begin, _sum(begin, 1))


def _replace_slice(e: TorchEmitter, x: Value, part: Value, axis: int, begin: Size, stop: Size) -> Value:
    head = [] if is_number(begin, 0) else [e.slice(x, axis, 0, begin)]
    tail = [] if equal(size_form(stop), size_form(x.shape[axis])) else [e.slice(x, axis, stop, x.shape[axis])]
    return e.concat([*head, part, *tail], axis)


@aten("fill.Scalar", "fill.Tensor")
def fill(e: TorchEmitter, x: Value, value: Value | float) -> Value:
    return e.broadcast(e.cast(value, e.dtype), e.shape)


@aten("pad", "constant_pad_nd")
def pad(e: TorchEmitter, x: Value, pad: Sequence[Size], mode: str = "constant", value: float | None = None) -> Value:
    """torch names the widths from the last axis: (before, after, before, after, ..); negative ones cut."""
    pairs = [(pad[n], pad[n + 1]) for n in range(0, len(pad), 2)][::-1]
    pairs = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs
    value = 0 if value is None else value
    mode = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    if (flat := known_sizes([width for pair in pairs for width in pair])) is None:
        return pad_by_sizes(e, x, pairs, mode, value, e.node.name)
    for axis, (low, high) in enumerate(zip(flat[::2], flat[1::2], strict=True)):
        if low < 0 or high < 0:
            size = x.shape[axis]
            stop = size + min(high, 0) if isinstance(size, int) else f"{size} - {-min(high, 0)}"
            x = e.slice(x, axis, max(-low, 0), stop)
    flat = [max(width, 0) for width in flat]
    if not any(flat):
        return x
    if mode == "constant":
        return e.op("nn.pad", x, pad_width=flat, pad_value=value, pad_mode="constant")
    return e.op("nn.pad", x, pad_width=flat, pad_mode=mode)


@aten("embedding")
def embedding(e: TorchEmitter, weight: Value, indices: Value) -> Value:
    """Rows of a table."""
    return e.op("take", weight, indices, axis=0)


@aten("index_select")
def index_select(e: TorchEmitter, x: Value, dim: int, index: Value) -> Value:
    return e.op("take", x, index, axis=axis_in(dim, len(x.shape)))


@aten("gather")
def gather(e: TorchEmitter, x: Value, dim: int, index: Value) -> Value:
    return e.op("gather_elements", x, index, axis=axis_in(dim, len(x.shape)))


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(e: TorchEmitter, x: Value, indices: Sequence[Value | None]) -> Value:
    """x[i, j, ..]: tensors of indices, which broadcast. Their axes replace those they index, if these are
    neighbours, else they are the first."""
    indexed = [axis for axis, tensor in enumerate(indices) if tensor is not None]
    tensors = [tensor for tensor in indices if tensor is not None]
    if any(tensor.dtype in ("bool", "uint8") for tensor in tensors):
        return select_by_mask(e, x, indices)
    if len(indexed) == 1:
        return e.op("take", x, tensors[0], axis=indexed[0], mode="wrap")  # negative ones count from the end
    unindexed = [axis for axis in range(len(x.shape)) if axis not in indexed]
    chosen = e.op("index_tensor", e.permute(x, [*indexed, *unindexed]), *tensors)
    position = indexed[0] if indexed == list(range(indexed[0], indexed[0] + len(indexed))) else 0
    new = len(chosen.shape) - len(unindexed)
    return e.permute(chosen, [*range(new, new + position), *range(new), *range(new + position, len(chosen.shape))])


@aten("one_hot")
def one_hot(e: TorchEmitter, x: Value, num_classes: int = -1) -> Value:
    if num_classes < 0:
        raise GraphError("the number of classes is that of the data\n  fix: one_hot(x, num_classes=..)")
    return e.op("one_hot", x, depth=num_classes, axis=-1, dtype="int64")


@aten("full", "full_like", "new_full")
def full(e: TorchEmitter, fill_value: Term, **_: object) -> Value:
    """A tensor of the shape and type of torch's result, of one number."""
    return e.broadcast(e.cast(fill_value, e.dtype), e.shape)


@aten("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty")
def zeros(e: TorchEmitter, **_: object) -> Value:
    """Uninitialized tensors are zero, too."""
    return full(e, 0)


@aten("ones", "ones_like", "new_ones")
def ones(e: TorchEmitter, **_: object) -> Value:
    return full(e, 1)


@aten("scalar_tensor")
def number(e: TorchEmitter, s: Term, dtype: str | None = None) -> Value:
    return e.cast(s, e.dtype)


@aten("arange.default", "arange.start", "arange.start_step")
def arange(
    e: TorchEmitter, end: Size | float, start: Size | float = 0, step: Size | float = 1, dtype: str | None = None
) -> Value:
    """start, start + step, .., as many as torch says. A function knows the sizes of its operands and its result: others
    need an operand that has them."""
    (count,) = e.shape
    if isinstance(count, int) and isinstance(start, (int, float)) and isinstance(step, (int, float)):
        return e.constant(start + step * np.arange(count), e.dtype)
    if start == 0 and step == 1 and end == count and str(count).isidentifier():
        return e.op("arange", end={"size": str(end)}, dtype=e.dtype)
    read = e.builder.sizes.expression
    begin, by = (read(v) if isinstance(v, str) else v for v in (start, step))
    return sized_range(e, begin, read(count), by, e.dtype, e.node.name)


@aten("linspace")
def linspace(e: TorchEmitter, start: float, end: float, steps: int, dtype: str | None = None) -> Value:
    return e.constant(np.linspace(start, end, steps), e.dtype)


@aten("tril_indices", "triu_indices")
def triangle_indices(e: TorchEmitter, row: int, col: int, offset: int = 0) -> Value:
    """Rows and columns of the elements of a triangle."""
    find = np.tril_indices if "tril" in str(e.node.target) else np.triu_indices
    return e.constant(np.stack(find(row, offset, col)), e.dtype)


@aten("eye.default", "eye.m")
def eye(e: TorchEmitter, n: int, m: int | None = None, dtype: str | None = None) -> Value:
    return e.constant(np.eye(n, m), e.dtype)


for _kind in ("tril", "triu"):
    aten(_kind)(lambda e, x, diagonal=0, kind=_kind: e.op(kind, x, k=diagonal))


MODES = ("constant", "edge", "reflect", "wrap")


def pad_by_sizes(
    e: OperatorEmitter, x: Value, pairs: Sequence[tuple[Size, Size]], mode: str, value: float, name: str
) -> Value:
    """x with elements before and after each axis, a pair for each: numbers, or expressions of named sizes as text.

    mode: "constant" (`value`), "edge", "reflect" or "wrap", as of `nn.pad`. Negative widths cut off. Errors: GraphError
    for another mode, and for a size that no input has.
    """
    if mode not in MODES:
        raise GraphError(f"padding of mode {mode!r} by widths of named sizes\n  fix: one of {', '.join(MODES)}")
    widths = [[e.builder.sizes.expression(width) for width in pair] for pair in pairs]
    carriers = e.carriers([width for pair in pairs for width in pair if isinstance(width, str)])

    def pad_tensor(tensor: te.Tensor, *_: te.Tensor) -> te.Tensor:
        sizes = tensor.shape
        shape = tuple(simple(n + low + high) for n, (low, high) in zip(sizes, widths, strict=True))

        def element(*index: te.Var) -> te.Expr:
            positions = [i - low for i, (low, _) in zip(index, widths, strict=True)]
            wide = [axis for axis, pair in enumerate(pairs) if tuple(pair) != (0, 0)]
            if mode != "constant":
                return tensor(*(_source(p, sizes[a], mode) if a in wide else p for a, p in enumerate(positions)))
            inside = [test for axis in wide for test in (positions[axis] >= 0, positions[axis] < sizes[axis])]
            return te.if_then_else(te.all(*inside), tensor(*positions), te.cast(value, tensor.dtype))

        return te.compute(shape, element, name="PadInput")

    return e.builder.call_te(pad_tensor, x, *carriers, name_hint=name)


def _source(position: te.Expr, size: te.Expr | int, mode: str) -> te.Expr:
    """The element that stands at a position outside of 0..size - 1."""
    if mode == "wrap":
        return position % size
    if mode == "reflect":
        position = te.Select(position < 0, 0 - position, position)
        position = te.Select(position > size - 1, (size - 1) * 2 - position, position)
    return te.max(te.min(position, size - 1), 0)
