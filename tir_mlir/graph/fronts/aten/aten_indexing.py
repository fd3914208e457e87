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
    return e.op("take", x, index, axis=axis_in(dim, len(x.shape)))


@aten("gather")
def gather(e: TorchEmitter, x: Any, dim: int, index: Any) -> Any:
    return e.op("gather_elements", x, index, axis=axis_in(dim, len(x.shape)))


@aten("index.Tensor", "_unsafe_index.Tensor")
def index(e: TorchEmitter, x: Any, indices: Any) -> Any:
    """x[i, j, ..]: tensors of indices, which broadcast. Their axes take the place of those they index, if these are
    neighbours, else they are the first."""
    used = [axis for axis, given in enumerate(indices) if given is not None]
    if any(indices[a].dtype in ("bool", "uint8") for a in used):
        raise GraphError(
            "a mask chooses a number of elements that is known only when the model runs\n  fix: use torch.where"
        )
    if len(used) == 1:
        return e.op("take", x, indices[used[0]], axis=used[0], mode="wrap")  # negative ones count from the end
    rest = [axis for axis in range(len(x.shape)) if axis not in used]
    chosen = e.op("index_tensor", e.permute(x, [*used, *rest]), *(indices[a] for a in used))
    before = used[0] if used == list(range(used[0], used[0] + len(used))) else 0
    new = len(chosen.shape) - len(rest)
    return e.permute(chosen, [*range(new, new + before), *range(new), *range(new + before, len(chosen.shape))])


@aten("one_hot")
def one_hot(e: TorchEmitter, x: Any, num_classes: int = -1) -> Any:
    if num_classes < 0:
        raise GraphError("the number of classes is that of the data\n  fix: one_hot(x, num_classes=..)")
    return e.op("one_hot", x, depth=num_classes, axis=-1, dtype="int64")
