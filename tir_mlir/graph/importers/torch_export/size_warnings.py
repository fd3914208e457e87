"""Warnings of sizes that an import narrows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from tir_mlir.dialect.ir import enter_context, warn_at_user
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.importers.torch_export.dynamic_sizes import Dimensions

_MULTIPLE = re.compile(r"(\d+) \* \w+")


def warn_of_multiples(graph: Graph, model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic: Any) -> None:
    """Warn of each size that the caller leaves open and the graph has as a multiple, or a sum, of another: forward
    needs it so for the example, and calls take no others."""
    args = (args,) if hasattr(args, "shape") else tuple(args or ())
    sizes = Dimensions(model, args, dict(kwargs or {}), dynamic)
    leaves = [leaf for leaf in sizes.leaves() if hasattr(leaf[0], "shape")]
    with enter_context():
        func = graph.func
        inputs = [n for n in range(len(func.inputs)) if func.weight(n) is None]
        types = [(func.input_name(n), func.input_type(n)) for n in inputs]
    for (value, spec), (name, type_) in zip(leaves, types, strict=False):
        for axis in _open_axes(spec):
            size = type_.shape[axis]
            if isinstance(size, str) and not size.isidentifier():
                multiple = _MULTIPLE.fullmatch(size)
                taken = f"multiples of {multiple[1]}" if multiple else f"sizes {size}"
                said = f'{multiple[1]} * torch.export.Dim("n")' if multiple else "a Dim of that form"
                warn_at_user(
                    f"from_torch: axis {axis} of {name} is imported as {size}, as forward computes with it for the "
                    f"example, which has {value.shape[axis]}: calls take {taken} only; fix: if forward takes other "
                    f"sizes, an example of one; else {said} in dynamic_shapes, which says so",
                    UserWarning,
                )


def _open_axes(spec: Any) -> Iterator[int]:
    """The axes that vary, of which the caller does not say how: by a name, a Dim or Dim.AUTO, no multiple of one."""
    axes = dict(enumerate(spec)) if isinstance(spec, (tuple, list)) else spec
    for axis, dim in axes.items() if isinstance(axes, Mapping) else ():
        if dim is not None and not isinstance(dim, int) and not hasattr(dim, "root"):
            yield axis
