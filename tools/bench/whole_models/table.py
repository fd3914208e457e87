"""The rows: models of `tir_mlir.examples.models`, how their weights are stored, and what we want against the best
peer."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.examples import models

F32, BF16, INT8, INT4 = "float32", "bfloat16", "int8", "int4 weights"


@dataclass(frozen=True)
class Line:
    """A model and the type of its weights. bar, aim: the time of the best peer over ours; None: only told.

    loose: the largest relative error allowed, which weights of few bits need."""

    model: str
    weights: str = F32
    bar: float | None = None
    aim: float | None = None
    loose: float = 1e-4

    @property
    def name(self) -> str:
        return self.model if self.weights == F32 else f"{self.model}, {self.weights}"

    @property
    def says(self) -> str:
        return models.row(self.model).says


LINES = (
    Line("mlp", bar=2.0, aim=3.0),
    Line("mlp-64", bar=1.0, aim=1.3),
    Line("lenet"),
    Line("bert-layer", bar=1.0, aim=1.3),
    Line("bert-base", bar=1.0, aim=1.3),
    Line("gpt2-block", bar=1.0, aim=1.3),
    Line("gpt2-prefill"),
    Line("gpt2-decode", bar=1.2, aim=1.5),
    Line("resnet18", bar=0.95, aim=1.1),
    Line("resnet50", bar=0.95, aim=1.1),
    Line("mobilenet-v2", bar=0.95, aim=1.1),
    Line("mobilenet-v3-small"),
    Line("vit-b16", bar=1.0, aim=1.2),
    Line("unet"),
    Line("whisper-encoder"),
    Line("llama-block"),
    Line("llama-decode"),
    Line("bert-base", BF16, bar=1.0, aim=1.3, loose=0.05),
    Line("resnet50", BF16, bar=1.0, aim=1.3, loose=0.05),
    Line("bert-base", INT8, bar=1.1, aim=1.5, loose=0.2),
    Line("resnet50", INT8, bar=1.0, aim=1.2, loose=0.2),
    Line("mobilenet-v2", INT8, bar=1.0, aim=1.2, loose=0.2),
    Line("llama-decode", INT4, bar=1.0, aim=1.3, loose=0.2),
)


def chosen(names: list[str]) -> list[Line]:
    """The lines of some models; all without names. Errors: ValueError for a name that is not there."""
    for name in names:
        if not any(name in (line.model, line.name) for line in LINES):
            raise ValueError(f"no model {name!r}; fix: one of {', '.join(dict.fromkeys(each.model for each in LINES))}")
    return [line for line in LINES if not names or line.model in names or line.name in names]
