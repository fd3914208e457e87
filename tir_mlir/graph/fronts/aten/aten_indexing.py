"""Elements chosen by tensors of indices."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.fronts.emitter import axis_in


@aten("embedding")
def embedding(e: TorchEmitter, weight: Any, indices: Any) -> Any:
    """Rows of a table."""
    return e.op("take", weight, indices, axis=0)


@aten("index_select")
def index_select(e: TorchEmitter, x: Any, dim: int, index: Any) -> Any:
    return e.op("take", x, _counted(e, index, x.shape[axis_in(dim, len(x.shape))]), axis=axis_in(dim, len(x.shape)))


@aten("gather")
def gather(e: TorchEmitter, x: Any, dim: int, index: Any) -> Any:
    return e.op("gather_elements", x, index, axis=axis_in(dim, len(x.shape)))


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(e: TorchEmitter, x: Any, indices: Any) -> Any:
    """x[i, j, ..]: tensors of indices, which broadcast, for the first axes or for neighbouring ones."""
    used = [axis for axis, given in enumerate(indices) if given is not None]
    if any(indices[a].dtype in ("bool", "uint8") for a in used):
        raise GraphError(
            "a mask chooses a number of elements that is known only when the model runs\n  fix: use torch.where"
        )
    if used != list(range(used[0], used[0] + len(used))):
        raise GraphError(f"indices for the axes {used}, which are not neighbours\n  fix: permute the tensor first")
    if len(used) == 1:
        axis = used[0]
        return e.op("take", x, _counted(e, indices[axis], x.shape[axis]), axis=axis)
    return _joint(e, x, indices, used)


def _joint(e: TorchEmitter, x: Any, indices: Any, used: list[int]) -> Any:
    """The axes merged into one, and their indices too."""
    sizes = [x.shape[a] for a in used]
    if not all(isinstance(s, int) for s in sizes):
        raise GraphError(f"indices for axes of sizes {sizes}\n  fix: make these dimensions static")
    flat: Any = None
    for axis, size in zip(used, sizes, strict=True):
        own = _counted(e, e.cast(indices[axis], "int64"), size)
        flat = own if flat is None else e.op("add", e.multiply(flat, size), own)
    count = 1
    for size in sizes:
        count *= size
    merged = e.reshape(x, (*x.shape[: used[0]], count, *x.shape[used[-1] + 1 :]))
    return e.op("take", merged, flat, axis=used[0])


def _counted(e: TorchEmitter, index: Any, size: Any) -> Any:
    """Indices counted from the end made positive."""
    if not isinstance(size, int):
        raise GraphError(f"indices for an axis of {size} elements\n  fix: make this dimension static")
    negative = e.binary("less", index, 0, index.dtype)
    return e.op("where", negative, e.add(index, size), index)


@aten("scatter.src", "scatter.value", "scatter_add")
def scatter(e: TorchEmitter, x: Any, dim: int, index: Any, src: Any = None, value: Any = None) -> Any:
    if src is None:
        src = e.broadcast(e.constant(value, x.dtype), index.shape)
    kind = "add" if "scatter_add" in str(e.node.target) else "update"
    return e.op("scatter_elements", x, index, src, axis=axis_in(dim, len(x.shape)), reduction=kind)


@aten("one_hot")
def one_hot(e: TorchEmitter, x: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        raise GraphError("the number of classes is that of the data\n  fix: one_hot(x, num_classes=..)")
    return e.op("one_hot", x, e.constant(1, "int64"), e.constant(0, "int64"), depth=num_classes, axis=-1)


@aten("argsort.default", "argsort.stable")
def argsort(e: TorchEmitter, x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
    return e.op("argsort", x, axis=dim, descending=descending, dtype="int64")
