"""The same elements in another shape or order; repeated, joined."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import axis_in, is_number


@aten("view.default", "reshape", "_unsafe_view", "flatten.using_ints", "unflatten.int", "view_as", "reshape_as")
def reshape(e: TorchEmitter, x: Any, **_: Any) -> Any:
    """The shape is that of torch's result: no -1 is left in it."""
    return e.reshape(x, e.shape)


@aten("unsqueeze", "squeeze.default", "squeeze.dim", "squeeze.dims")
def add_or_drop_ones(e: TorchEmitter, x: Any, **_: Any) -> Any:
    return e.reshape(x, e.shape)


@aten("view.dtype")
def bits(e: TorchEmitter, x: Any) -> Any:
    raise GraphError("the bits of a tensor as another type are not supported\n  fix: convert with .to(dtype)")


@aten("transpose.int", "swapaxes", "swapdims")
def exchange(e: TorchEmitter, x: Any, dim0: Any = None, dim1: Any = None, axis0: Any = None, axis1: Any = None) -> Any:
    first, second = (dim0, dim1) if axis0 is None else (axis0, axis1)
    order = list(range(len(x.shape)))
    if order:
        order[first], order[second] = order[second], order[first]
    return e.permute(x, order)


@aten("t", "numpy_T", "mT", "adjoint")
def transpose(e: TorchEmitter, x: Any) -> Any:
    """The last two axes exchanged."""
    rank = len(x.shape)
    return x if rank < 2 else e.permute(x, [*range(rank - 2), rank - 1, rank - 2])


@aten("permute")
def permute(e: TorchEmitter, x: Any, dims: Any) -> Any:
    return e.permute(x, [axis_in(d, len(x.shape)) for d in dims])


@aten("movedim.int", "movedim.intlist", "moveaxis.int")
def move(e: TorchEmitter, x: Any, source: Any, destination: Any) -> Any:
    rank = len(x.shape)
    sources = [axis_in(s, rank) for s in (source if isinstance(source, list) else [source])]
    targets = [axis_in(d, rank) for d in (destination if isinstance(destination, list) else [destination])]
    rest = iter(a for a in range(rank) if a not in sources)
    placed = dict(zip(targets, sources, strict=True))
    return e.permute(x, [placed[a] if a in placed else next(rest) for a in range(rank)])


@aten("expand", "expand_as", "broadcast_to")
def expand(e: TorchEmitter, x: Any, **_: Any) -> Any:
    return e.broadcast(x, e.shape)


@aten("cat", "concat", "concatenate")
def concatenate(e: TorchEmitter, tensors: Any, dim: int = 0) -> Any:
    """torch leaves out tensors of shape (0,), whatever the rank of the others."""
    parts = [e.cast(t, e.dtype) for t in tensors if not (len(t.shape) == 1 and is_number(t.shape[0], 0))]
    return e.concat(parts, axis_in(dim, len(parts[0].shape)))


@aten("stack")
def stack(e: TorchEmitter, tensors: Any, dim: int = 0) -> Any:
    axis = axis_in(dim, len(tensors[0].shape) + 1)
    return e.concat([e.reshape(e.cast(t, e.dtype), (*t.shape[:axis], 1, *t.shape[axis:])) for t in tensors], axis)


@aten("repeat")
def repeat(e: TorchEmitter, x: Any, repeats: Any) -> Any:
    return _tiled(e, x, repeats)


@aten("tile")
def tile(e: TorchEmitter, x: Any, dims: Any) -> Any:
    return _tiled(e, x, [1] * (len(x.shape) - len(dims)) + list(dims))


def _tiled(e: TorchEmitter, x: Any, repeats: Any) -> Any:
    if all(is_number(r, 1) for r in repeats):
        return e.reshape(x, e.shape)
    return e.op("tile", x, repeats=list(repeats))


@aten("repeat_interleave.self_int")
def repeat_each(e: TorchEmitter, x: Any, repeats: int, dim: Any = None, output_size: Any = None) -> Any:
    if dim is None:
        x, dim = e.op("reshape", x, shape=(-1,)), 0
    return e.op("repeat", x, repeats=repeats, axis=axis_in(dim, len(x.shape)))


@aten("flip")
def flip(e: TorchEmitter, x: Any, dims: Any) -> Any:
    for dim in dims:
        x = e.op("flip", x, axis=axis_in(dim, len(x.shape)))
    return x


@aten("pixel_shuffle")
def pixel_shuffle(e: TorchEmitter, x: Any, upscale_factor: int) -> Any:
    """(.., c * r * r, h, w) -> (.., c, h * r, w * r)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), upscale_factor
    x = e.reshape(x, (*outer, channels // r**2, r, r, high, wide))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 3, 1, 4, 2))])
    return e.reshape(x, e.shape)


@aten("pixel_unshuffle")
def pixel_unshuffle(e: TorchEmitter, x: Any, downscale_factor: int) -> Any:
    """(.., c, h * r, w * r) -> (.., c * r * r, h, w)."""
    *outer, channels, high, wide = x.shape
    rank, r = len(outer), downscale_factor
    x = e.reshape(x, (*outer, channels, high // r, r, wide // r, r))
    x = e.permute(x, [*range(rank), *(rank + a for a in (0, 2, 4, 1, 3))])
    return e.reshape(x, e.shape)


@aten("channel_shuffle")
def channel_shuffle(e: TorchEmitter, x: Any, groups: int) -> Any:
    """Channels of groups taken in turn."""
    batch, channels, *rest = x.shape
    y = e.reshape(x, (batch, groups, channels // groups, *rest))
    return e.reshape(e.permute(y, [0, 2, 1, *range(3, 3 + len(rest))]), e.shape)
