"""Parts of tensors, and tensors with parts replaced."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import axis_in, is_number, size_form


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


def _check_length(size: Any, begin: Any, stop: Any, step: int, wanted: Any) -> None:
    """A slice up to a number of an axis whose size is not known may end before it: torch's result has its size."""
    if isinstance(size, int) or equal(size_form(stop), size_form(size)) or step != 1:
        return
    if is_number(begin, 0) and equal(size_form(wanted), size_form(stop)):
        return
    if isinstance(stop, int) and isinstance(begin, int) and is_number(wanted, stop - begin):
        return
    if isinstance(wanted, str):
        return
    raise GraphError(f"elements {begin} to {stop} of an axis of {size}\n  fix: make this dimension static")


@aten("slice.Tensor", "slice_copy")
def take_slice(e: TorchEmitter, x: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(e, x.shape[axis], start, end)
    _check_length(x.shape[axis], begin, stop, step, e.shape[axis])
    return e.slice(x, axis, begin, stop, step)


@aten("narrow")
def narrow(e: TorchEmitter, x: Any, dim: int, start: Any, length: Any) -> Any:
    axis = axis_in(dim, len(x.shape))
    begin = start + x.shape[axis] if isinstance(start, int) and start < 0 else start
    return e.slice(x, axis, begin, _sum(begin, length))


def _sum(a: Any, b: Any) -> Any:
    if isinstance(a, int) and isinstance(b, int):
        return a + b
    return b if is_number(a, 0) else f"{a} + {b}"


@aten("select.int", "select_copy")
def select(e: TorchEmitter, x: Any, dim: int, index: Any) -> Any:
    axis = axis_in(dim, len(x.shape))
    if isinstance(index, int) and index < 0 and not isinstance(x.shape[axis], int):
        return e.builder.call_te(_from_the_end, x, axis, index, name_hint=e.node.name)
    begin = _index(x.shape[axis], index)
    return e.reshape(e.slice(x, axis, begin, _sum(begin, 1)), e.shape)


def _from_the_end(x: Any, axis: int, index: int) -> Any:
    """x[..., size + index, ...] of a symbolic size: zeros if the axis is shorter, which torch refuses."""
    shape, at = [*x.shape[:axis], *x.shape[axis + 1 :]], x.shape[axis] + index

    def element(*i: Any) -> Any:
        return te.if_then_else(at >= 0, x(*i[:axis], at, *i[axis:]), te.cast(0, x.dtype))

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
        return list(e.op("split", x, indices_or_sections=ends, axis=axis))
    return [e.slice(x, axis, b, s) for b, s in zip([0, *ends], [*ends, x.shape[axis]], strict=True)]


@aten("unbind.int")
def unbind(e: TorchEmitter, x: Any, dim: int = 0) -> Any:
    axis = axis_in(dim, len(x.shape))
    return [e.reshape(e.slice(x, axis, n, n + 1), e.shape) for n in range(len(e.results))]


@aten("roll")
def roll(e: TorchEmitter, x: Any, shifts: Any, dims: Any) -> Any:
    """Elements moved along axes, those that leave enter at the other end."""
    shape = x.shape
    if not dims:
        x, dims = e.op("reshape", x, shape=(-1,)), [0]
    return e.reshape(e.op("roll", x, shift=list(shifts), axis=[axis_in(d, len(x.shape)) for d in dims]), shape)


@aten("slice_scatter")
def put_slice(
    e: TorchEmitter, x: Any, src: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1
) -> Any:
    """x with a slice replaced by src."""
    if step != 1:
        raise GraphError(f"a write to every {step}th element is not supported\n  fix: use torch.where")
    axis = axis_in(dim, len(x.shape))
    begin, stop = _bounds(e, x.shape[axis], start, end)
    return _replaced(e, x, e.cast(src, x.dtype), axis, begin, stop)


@aten("select_scatter")
def put_index(e: TorchEmitter, x: Any, src: Any, dim: int, index: Any) -> Any:
    """x with one index of an axis replaced by src."""
    axis = axis_in(dim, len(x.shape))
    begin = _index(x.shape[axis], index)
    part = e.reshape(e.cast(src, x.dtype), (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    return _replaced(e, x, part, axis, begin, _sum(begin, 1))


def _replaced(e: TorchEmitter, x: Any, part: Any, axis: int, begin: Any, stop: Any) -> Any:
    before = [] if is_number(begin, 0) else [e.slice(x, axis, 0, begin)]
    after = [] if equal(size_form(stop), size_form(x.shape[axis])) else [e.slice(x, axis, stop, x.shape[axis])]
    return e.concat([*before, part, *after], axis)


@aten("fill.Scalar", "fill.Tensor")
def fill(e: TorchEmitter, x: Any, value: Any) -> Any:
    return e.broadcast(e.cast(value, e.dtype), e.shape)


@aten("pad")
def pad(e: TorchEmitter, x: Any, pad: Any, mode: str = "constant", value: Any = None) -> Any:
    return _padded(e, x, pad, mode, 0 if value is None else value)


@aten("constant_pad_nd")
def constant_pad(e: TorchEmitter, x: Any, pad: Any, value: Any = 0) -> Any:
    return _padded(e, x, pad, "constant", value)


def _padded(e: TorchEmitter, x: Any, widths: Any, mode: str, value: Any) -> Any:
    """torch names the widths from the last axis: (before, after, before, after, ..); negative ones cut."""
    if not all(isinstance(w, int) for w in widths):
        raise GraphError(f"padding by {list(widths)}, known only when the model runs\n  fix: make it static")
    pairs = [(widths[n], widths[n + 1]) for n in range(0, len(widths), 2)][::-1]
    pairs = [(0, 0)] * (len(x.shape) - len(pairs)) + pairs
    for axis, (before, after) in enumerate(pairs):
        if before < 0 or after < 0:
            size = x.shape[axis]
            stop = _sum(size, min(after, 0)) if isinstance(size, int) else f"{size} - {-min(after, 0)}"
            x = e.slice(x, axis, max(-before, 0), stop)
    flat = [max(w, 0) for pair in pairs for w in pair]
    if not any(flat):
        return x
    if mode not in ("constant", "reflect", "replicate"):
        raise GraphError(f"padding of mode {mode} is not supported")
    if mode == "constant":
        return e.op("nn.pad", x, pad_width=flat, pad_value=value, pad_mode="constant")
    return e.op("nn.pad", x, pad_width=flat, pad_mode={"replicate": "edge"}.get(mode, mode))
