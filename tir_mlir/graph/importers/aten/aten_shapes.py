"""The same elements in another shape or order; parts of tensors, indices, and tensors made of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.importers.aten.aten_data_sizes import select_by_mask
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.data_sizes import data_dependent_names, row_by_data, slice_by_data
from tir_mlir.graph.importers.emitter import Operand, OperatorEmitter, axis_in, is_number, size_form, static_size
from tir_mlir.graph.importers.layers import sized_range
from tir_mlir.te.expr import t_call
from tir_mlir.topi.sizes import simple

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@aten("view.default", "reshape", "_unsafe_view", "flatten.using_ints", "unflatten.int", "view_as", "reshape_as")
def reshape(e: TorchEmitter, x: Value, **_: Any) -> Any:
    """The shape is that of torch's result: no -1 is left in it."""
    return e.reshape(x, e.shape)


@aten("unsqueeze", "squeeze.default", "squeeze.dim", "squeeze.dims")
def add_or_drop_ones(e: TorchEmitter, x: Value, **_: Any) -> Value:
    return e.reshape(x, e.shape)


@aten("view.dtype")
def bits(e: TorchEmitter, x: Value, dtype: Any) -> Any:
    """The same bits as another type of the same width."""
    width = {"float64": 64, "float32": 32, "float16": 16, "bfloat16": 16, "bool": 8}
    source, target = (width.get(t) or int(t.lstrip("uint")) for t in (x.dtype, e.dtype))
    if source != target:
        raise GraphError(f"the bits of {x.dtype} as {e.dtype}, of another width\n  fix: convert with .to(dtype)")
    return e.builder.call_te(_reinterpret_bits, x, e.dtype, name_hint=e.node.name)


def _reinterpret_bits(x: Any, dtype: str) -> Any:
    """The bits of each element as another type."""
    return te.compute(x.shape, lambda *i: t_call("reinterpret", dtype, x(*i)), name="T_bits")


@aten("transpose.int", "swapaxes", "swapdims")
def exchange(
    e: TorchEmitter, x: Value, dim0: Any = None, dim1: Any = None, axis0: Any = None, axis1: Any = None
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
def permute(e: TorchEmitter, x: Value, dims: Any) -> Any:
    return e.permute(x, [axis_in(d, len(x.shape)) for d in dims])


@aten("movedim.int", "movedim.intlist", "moveaxis.int")
def move(e: TorchEmitter, x: Value, source: Any, destination: Any) -> Value:
    rank = len(x.shape)
    sources = [axis_in(s, rank) for s in (source if isinstance(source, list) else [source])]
    targets = [axis_in(d, rank) for d in (destination if isinstance(destination, list) else [destination])]
    unmoved = iter(a for a in range(rank) if a not in sources)
    placed = dict(zip(targets, sources, strict=True))
    return e.permute(x, [placed[a] if a in placed else next(unmoved) for a in range(rank)])


@aten("expand", "expand_as", "broadcast_to")
def expand(e: TorchEmitter, x: Value, **_: Any) -> Any:
    return e.broadcast(x, e.shape)


@aten("cat", "concat", "concatenate")
def concatenate(e: TorchEmitter, tensors: Any, dim: int = 0) -> Value:
    """torch leaves out tensors of shape (0,), whatever the rank of the others."""
    parts = [e.cast(t, e.dtype) for t in tensors if not (len(t.shape) == 1 and is_number(t.shape[0], 0))]
    if not parts:
        return e.cast(tensors[0], e.dtype)
    return e.concat(parts, axis_in(dim, len(parts[0].shape)))


@aten("stack")
def stack(e: TorchEmitter, tensors: Any, dim: int = 0) -> Value:
    axis = axis_in(dim, len(tensors[0].shape) + 1)
    return e.concat([e.reshape(e.cast(t, e.dtype), (*t.shape[:axis], 1, *t.shape[axis:])) for t in tensors], axis)


@aten("repeat")
def repeat(e: TorchEmitter, x: Any, repeats: Any) -> Value:
    return _tile_axes(e, x, repeats)


@aten("tile")
def tile(e: TorchEmitter, x: Value, dims: Any) -> Any:
    return _tile_axes(e, x, [1] * (len(x.shape) - len(dims)) + list(dims))


def _tile_axes(e: TorchEmitter, x: Value, repeats: Any) -> Value:
    if all(is_number(r, 1) for r in repeats):
        return e.reshape(x, e.shape)
    if all(isinstance(r, int) for r in repeats):
        return e.op("tile", x, repeats=list(repeats))
    sizes = [*[1] * (len(repeats) - len(x.shape)), *x.shape]
    before: list[Any] = []
    after: list[Any] = []
    for count, size in zip(repeats, sizes, strict=True):
        copied, kept = not is_number(count, 1), not is_number(size, 1) or is_number(count, 1)
        before += [1] * copied + [size] * kept
        after += [count] * copied + [size] * kept
    return e.reshape(e.broadcast(e.reshape(x, before), after), e.shape)


@aten("repeat_interleave.self_int")
def repeat_each(e: TorchEmitter, x: Value, repeats: int, dim: Any = None, output_size: Any = None) -> Value:
    if dim is None:
        x, dim = e.op("reshape", x, shape=(-1,)), 0
    return e.op("repeat", x, repeats=repeats, axis=axis_in(dim, len(x.shape)))


@aten("flip")
def flip(e: TorchEmitter, x: Value, dims: Sequence[int]) -> Value:
    for dim in dims:
        x = e.op("flip", x, axis=axis_in(dim, len(x.shape)))
    return x


@aten("pixel_shuffle")
def pixel_shuffle(e: TorchEmitter, x: Any, upscale_factor: int) -> Value:
    """(.., c * r * r, h, w) -> (.., c, h * r, w * r)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), upscale_factor
    x = e.reshape(x, (*outer, channels // r**2, r, r, high, wide))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 3, 1, 4, 2))])
    return e.reshape(x, e.shape)


@aten("pixel_unshuffle")
def pixel_unshuffle(e: TorchEmitter, x: Any, downscale_factor: int) -> Value:
    """(.., c, h * r, w * r) -> (.., c * r * r, h, w)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), downscale_factor
    x = e.reshape(x, (*outer, channels, high // r, r, wide // r, r))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 2, 4, 1, 3))])
    return e.reshape(x, e.shape)


@aten("channel_shuffle")
def channel_shuffle(e: TorchEmitter, x: Any, groups: int) -> Value:
    """Channels of groups taken one after the other."""
    batch, channels, *spatial = x.shape
    y = e.reshape(x, (batch, groups, channels // groups, *spatial))
    return e.reshape(e.permute(y, [0, 2, 1, *range(3, 3 + len(spatial))]), e.shape)


def _bounds(e: TorchEmitter, size: Any, start: Any, end: Any) -> tuple[Any, Any]:
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


def _check_length(size: Any, begin: Any, stop: Any, step: int, length: Any) -> None:
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
def take_slice(e: TorchEmitter, x: Value, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(e, x.shape[axis], start, end)
    cut = slice_by_data(e, x, axis, begin, stop, e.shape[axis], e.numbers) if step == 1 else None
    if cut is not None:
        return cut
    _check_length(x.shape[axis], begin, stop, step, e.shape[axis])
    return e.slice(x, axis, begin, stop, step)


@aten("narrow")
def narrow(e: TorchEmitter, x: Any, dim: int, start: Any, length: Any) -> Any:
    axis = axis_in(dim, len(x.shape))
    begin = start + x.shape[axis] if isinstance(start, int) and start < 0 else start
    end = _sum(begin, length)
    cut = slice_by_data(e, x, axis, begin, end, e.shape[axis], e.numbers)
    return e.slice(x, axis, begin, end) if cut is None else cut


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if is_number(a, 0) else f"{a} + {b}"


@aten("select.int", "select_copy")
def select(e: TorchEmitter, x: Value, dim: int, index: Any) -> Any:
    axis = axis_in(dim, len(x.shape))
    if data_dependent_names(index, e.numbers):
        return row_by_data(e, x, axis, index, e.numbers)
    if isinstance(index, int) and index < 0 and not isinstance(x.shape[axis], int):
        return e.builder.call_te(_select_from_end, x, axis, index, name_hint=e.node.name)
    if isinstance(index, int) and not isinstance(x.shape[axis], int):
        return e.builder.call_te(_select_from_start, x, axis, index, name_hint=e.node.name)
    begin = _index(x.shape[axis], index)
    return e.reshape(e.slice(x, axis, begin, _sum(begin, 1)), e.shape)


def _select_from_start(x: Any, axis: int, index: int) -> Any:
    """x[..., index, ...] of a symbolic size: zeros if the axis is shorter, which torch refuses."""
    shape = [*x.shape[:axis], *x.shape[axis + 1 :]]

    def element(*i: Any) -> Any:
        inside = x.shape[axis] > index
        return te.if_then_else(inside, x(*i[:axis], index, *i[axis:]), te.cast(0, x.dtype))

    return te.compute(shape, element, name="select")


def _select_from_end(x: Any, axis: int, index: int) -> Any:
    """x[..., size + index, ...] of a symbolic size: zeros if the axis is shorter, which torch refuses."""
    shape, position = [*x.shape[:axis], *x.shape[axis + 1 :]], x.shape[axis] + index

    def element(*i: Any) -> Any:
        return te.if_then_else(position >= 0, x(*i[:axis], position, *i[axis:]), te.cast(0, x.dtype))

    return te.compute(shape, element, name="select")


def _index(size: Any, index: Any) -> Any:
    if isinstance(index, int) and index < 0:
        return index + size if isinstance(size, int) else f"{size} - {-index}"
    return index


@aten("split.Tensor", "split.sizes", "split_with_sizes", "chunk", "tensor_split.sections", "unsafe_chunk")
def split(e: TorchEmitter, x: Any, dim: int = 0, **_: Any) -> Any:
    """The parts have the sizes of torch's results."""
    axis = axis_in(dim, len(x.shape))
    ends, parts = [], [e.sizes.size(r.shape[axis]) for r in e.results]
    for part in parts[:-1]:
        ends.append(_sum(ends[-1] if ends else 0, part))
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
def roll(e: TorchEmitter, x: Value, shifts: Any, dims: Any) -> Value:
    """Elements moved along axes, those that leave enter at the other end."""
    shape = x.shape
    if not dims:
        x, dims = e.op("reshape", x, shape=(-1,)), [0]
    return e.reshape(e.op("roll", x, shift=list(shifts), axis=[axis_in(d, len(x.shape)) for d in dims]), shape)


@aten("diagonal")
def diagonal(e: TorchEmitter, x: Operand, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Value:
    return e.op("diagonal", x, offset=offset, axis1=dim1, axis2=dim2)


@aten("trace")
def trace(e: TorchEmitter, x: Operand) -> Value:
    return e.op("sum", e.cast(e.op("diagonal", x), e.dtype))


@aten("as_strided", "as_strided_copy")
def as_strided(e: TorchEmitter, x: Operand, size: Any, stride: Any, storage_offset: Any = None) -> Value:
    """Elements by strides, of a tensor whose elements torch has in row-major order."""
    if not e.operand(0).is_contiguous() or (storage_offset is None and e.operand(0).storage_offset()):
        raise GraphError("strides of a tensor that is itself a view\n  fix: call .contiguous() before")
    return e.op("as_strided", x, shape=list(size), strides=list(stride), offset=storage_offset or 0)


@aten("as_strided_scatter")
def put_strided(e: TorchEmitter, x: Any, src: Any, size: Any, stride: Any, storage_offset: Any = None) -> Value:
    """x with the elements of such a view replaced."""
    count = 1
    for n in e.shape:
        count *= static_size(n, "a size of a tensor that is written by strides")
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
    e: TorchEmitter, x: Value, src: Operand, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Value:
    """x with a slice replaced by src."""
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(e, x.shape[axis], start, end)
    if step != 1:
        return e.op("slice_scatter", x, e.cast(src, x.dtype), start=begin, end=stop, step=step, axis=axis)
    return _replace_slice(e, x, e.cast(src, x.dtype), axis, begin, stop)


@aten("select_scatter")
def put_index(e: TorchEmitter, x: Value, src: Operand, dim: int, index: Any) -> Value:
    """x with one index of an axis replaced by src."""
    axis = axis_in(dim, len(x.shape))
    begin = _index(x.shape[axis], index)
    part = e.reshape(e.cast(src, x.dtype), (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return _replace_slice(e, x, part, axis, begin, _sum(begin, 1))


def _replace_slice(e: TorchEmitter, x: Value, part: Any, axis: int, begin: Any, stop: Any) -> Value:
    head = [] if is_number(begin, 0) else [e.slice(x, axis, 0, begin)]
    tail = [] if equal(size_form(stop), size_form(x.shape[axis])) else [e.slice(x, axis, stop, x.shape[axis])]
    return e.concat([*head, part, *tail], axis)


@aten("fill.Scalar", "fill.Tensor")
def fill(e: TorchEmitter, x: Any, value: Value | float) -> Value:
    return e.broadcast(e.cast(value, e.dtype), e.shape)


@aten("pad")
def pad(e: TorchEmitter, x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return _pad_axes(e, x, pad, mode, 0 if value is None else value)


@aten("constant_pad_nd")
def constant_pad(e: TorchEmitter, x: Any, pad: Any, value: int = 0) -> Any:
    return _pad_axes(e, x, pad, "constant", value)


def _pad_axes(e: TorchEmitter, x: Value, widths: Any, mode: str, value: Any) -> Any:
    """torch names the widths from the last axis: (before, after, before, after, ..); negative ones cut."""
    pairs = [(widths[n], widths[n + 1]) for n in range(0, len(widths), 2)][::-1]
    pairs = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs
    mode = {"replicate": "edge", "circular": "wrap"}.get(mode, mode)
    if not all(isinstance(w, int) for w in widths):
        return pad_by_sizes(e, x, pairs, mode, value, e.node.name)
    for axis, (low, high) in enumerate(pairs):
        if low < 0 or high < 0:
            size = x.shape[axis]
            stop = _sum(size, min(high, 0)) if isinstance(size, int) else f"{size} - {-min(high, 0)}"
            x = e.slice(x, axis, max(-low, 0), stop)
    flat = [max(w, 0) for pair in pairs for w in pair]
    if not any(flat):
        return x
    if mode == "constant":
        return e.op("nn.pad", x, pad_width=flat, pad_value=value, pad_mode="constant")
    return e.op("nn.pad", x, pad_width=flat, pad_mode=mode)


@aten("embedding")
def embedding(e: TorchEmitter, weight: Operand, indices: Operand) -> Value:
    """Rows of a table."""
    return e.op("take", weight, indices, axis=0)


@aten("index_select")
def index_select(e: TorchEmitter, x: Value, dim: int, index: Operand) -> Value:
    return e.op("take", x, index, axis=axis_in(dim, len(x.shape)))


@aten("gather")
def gather(e: TorchEmitter, x: Value, dim: int, index: Operand) -> Any:
    return e.op("gather_elements", x, index, axis=axis_in(dim, len(x.shape)))


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(e: TorchEmitter, x: Value, indices: Any) -> Value:
    """x[i, j, ..]: tensors of indices, which broadcast. Their axes replace those they index, if these are
    neighbours, else they are the first."""
    indexed = [axis for axis, tensor in enumerate(indices) if tensor is not None]
    if any(indices[a].dtype in ("bool", "uint8") for a in indexed):
        return select_by_mask(e, x, indices)
    if len(indexed) == 1:
        return e.op("take", x, indices[indexed[0]], axis=indexed[0], mode="wrap")  # negative ones count from the end
    unindexed = [axis for axis in range(len(x.shape)) if axis not in indexed]
    chosen = e.op("index_tensor", e.permute(x, [*indexed, *unindexed]), *(indices[a] for a in indexed))
    position = indexed[0] if indexed == list(range(indexed[0], indexed[0] + len(indexed))) else 0
    new = len(chosen.shape) - len(unindexed)
    return e.permute(chosen, [*range(new, new + position), *range(new), *range(new + position, len(chosen.shape))])


@aten("one_hot")
def one_hot(e: TorchEmitter, x: Operand, num_classes: int = -1) -> Any:
    if num_classes < 0:
        raise GraphError("the number of classes is that of the data\n  fix: one_hot(x, num_classes=..)")
    return e.op("one_hot", x, depth=num_classes, axis=-1, dtype="int64")


def filled_tensor(e: TorchEmitter, value: Value | float) -> Value:
    """A tensor of the shape and type of torch's result, of one number."""
    return e.broadcast(e.cast(value, e.dtype), e.shape)


@aten("full", "full_like", "new_full")
def full(e: TorchEmitter, fill_value: Any, **_: Any) -> Value:
    return filled_tensor(e, fill_value)


@aten("zeros", "zeros_like", "new_zeros", "empty.memory_format", "empty_like", "new_empty")
def zeros(e: TorchEmitter, **_: Any) -> Value:
    """Uninitialized tensors are zero, too."""
    return filled_tensor(e, 0)


@aten("ones", "ones_like", "new_ones")
def ones(e: TorchEmitter, **_: Any) -> Value:
    return filled_tensor(e, 1)


@aten("scalar_tensor")
def number(e: TorchEmitter, s: Operand, dtype: Any = None) -> Any:
    return e.cast(s, e.dtype)


@aten("arange.default", "arange.start", "arange.start_step")
def arange(e: TorchEmitter, end: Any, start: int = 0, step: int = 1, dtype: Any = None) -> Any:
    if all(isinstance(v, (int, float)) for v in (start, end, step)):
        (count,) = e.shape
        values = start + step * np.arange(count)
        return e.constant(values, e.dtype)
    return _symbolic_range(e, start, end, step)


def _symbolic_range(e: TorchEmitter, start: Any, end: Any, step: Any) -> Any:
    """start, start + step, .., as many as torch says. A function knows the sizes of its operands and its result: others
    need an operand that has them."""
    (count,) = e.shape
    if is_number(start, 0) and is_number(step, 1) and end == count and str(count).isidentifier():
        return e.op("arange", end={"size": end}, dtype=e.dtype)
    read = e.builder.sizes.expression
    begin, extent, by = (read(v) if isinstance(v, str) else v for v in (start, count, step))
    return sized_range(e, begin, extent, by, e.dtype, e.node.name)


@aten("linspace")
def linspace(e: TorchEmitter, start: Any, end: Any, steps: int, dtype: Any = None) -> Value:
    return e.constant(np.linspace(start, end, steps), e.dtype)


@aten("tril_indices", "triu_indices")
def triangle_indices(e: TorchEmitter, row: int, col: int, offset: int = 0) -> Value:
    """Rows and columns of the elements of a triangle."""
    find = np.tril_indices if "tril" in str(e.node.target) else np.triu_indices
    return e.constant(np.stack(find(row, offset, col)), e.dtype)


@aten("eye.default", "eye.m")
def eye(e: TorchEmitter, n: int, m: Any = None, dtype: Any = None) -> Value:
    return e.constant(np.eye(n, m), e.dtype)


@aten("tril")
def lower_triangle(e: TorchEmitter, x: Any, diagonal: int = 0) -> Any:
    return _triangle(e, "tril", x, diagonal)


@aten("triu")
def upper_triangle(e: TorchEmitter, x: Any, diagonal: int = 0) -> Any:
    return _triangle(e, "triu", x, diagonal)


def _triangle(e: TorchEmitter, kind: str, x: Operand, diagonal: int) -> Any:
    return e.op(kind, x, k=diagonal)


MODES = ("constant", "edge", "reflect", "wrap")


def pad_by_sizes(e: OperatorEmitter, x: Any, pairs: Sequence[tuple[Any, Any]], mode: str, value: Any, name: str) -> Any:
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

        def element(*index: Any) -> Any:
            positions = [i - low for i, (low, _) in zip(index, widths, strict=True)]
            wide = [axis for axis, pair in enumerate(pairs) if tuple(pair) != (0, 0)]
            if mode != "constant":
                return tensor(*(_source(p, sizes[a], mode) if a in wide else p for a, p in enumerate(positions)))
            inside = [test for axis in wide for test in (positions[axis] >= 0, positions[axis] < sizes[axis])]
            return te.if_then_else(te.all(*inside), tensor(*positions), te.cast(value, tensor.dtype))

        return te.compute(shape, element, name="PadInput")

    return e.builder.call_te(pad_tensor, x, *carriers, name_hint=name)


def _source(position: Any, size: Any, mode: str) -> Any:
    """The element that stands at a position outside of 0..size - 1."""
    if mode == "wrap":
        return position % size
    if mode == "reflect":
        position = te.Select(position < 0, 0 - position, position)
        position = te.Select(position > size - 1, (size - 1) * 2 - position, position)
    return te.max(te.min(position, size - 1), 0)
