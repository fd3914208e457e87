"""`supported`: whether a model can be imported, and all that cannot, at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.refusals import NotTranslated, Refusal

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Support:
    """What of a model cannot be imported: `refusals`, none if all can; true if there are none.

    str() is the report as text, `table()` as a table of Markdown.
    """

    refusals: tuple[Refusal, ...]

    def __bool__(self) -> bool:
        return not self.refusals

    def __str__(self) -> str:
        if not self.refusals:
            return "supported: all operators of the model"
        return "\n".join(["not supported:", *map(str, self.refusals)])

    __repr__ = __str__

    def table(self) -> str:
        """A row for each: operator, node, line of the model, reason, way out."""
        rows = [("operator", "node", "line", "reason", "way out"), ("---",) * 5]
        rows += [(r.operator, r.node, r.location, r.why, r.way_out) for r in self.refusals]
        return "\n".join(
            "| " + " | ".join(c.replace("|", "\\|").replace("\n", " ") for c in row) + " |" for row in rows
        )


def supported(model: Any, example_inputs: torch.Tensor | Sequence[object] | None = None, **options: Any) -> Support:
    """Try to import a model: everything that `from_torch`, or for a file or a protobuf `from_onnx`, refuses, at once.

        report = tir_mlir.supported(model, (torch.randn(1, 3, 224, 224),))
        print(report, report.table())

    example_inputs: as of from_torch; none for ONNX. options: those of the import. Nothing is built or run. What stops
    the import as a whole (a decision on data that torch.export does not follow) is one row without an operator.
    """
    try:
        if isinstance(model, (str, Path)) or type(model).__name__ in ("ModelProto", "bytes"):
            from tir_mlir.graph.importers.onnx_model.from_onnx import from_onnx

            from_onnx(model, **options)
        else:
            from tir_mlir.graph.importers.torch_export.from_torch import from_torch

            from_torch(model, example_inputs, **options)
    except NotTranslated as error:
        return Support(error.refusals)
    except GraphError as error:
        return Support((Refusal("", "", "", str(error)),))
    return Support(())
