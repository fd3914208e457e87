"""What rounding weights costs: the error of each weight, and of the outputs on given inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.precision.formats import Format, Rounded

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array


@dataclass(frozen=True)
class WeightError:
    """A rounded weight.

    relative: the norm of the difference over that of the weight.
    largest: the largest difference over the largest weight.
    before, after: bytes.
    """

    name: str
    shape: tuple[int, ...]
    format: str
    relative: float
    largest: float
    before: int
    after: int


@dataclass(frozen=True)
class OutputError:
    """An output of the rounded model beside that of the model. relative, largest: as of a weight."""

    output: int
    shape: tuple[int, ...]
    relative: float
    largest: float


@dataclass(frozen=True)
class Rounding:
    """The weights of a graph that were rounded, and of the weights of products that were not, why."""

    weights: tuple[WeightError, ...] = ()
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def bytes_before(self) -> int:
        """Bytes of the rounded weights before."""
        return sum(w.before for w in self.weights)

    @property
    def bytes_after(self) -> int:
        return sum(w.after for w in self.weights)

    @property
    def worst(self) -> WeightError | None:
        """The weight with the largest relative error."""
        return max(self.weights, key=lambda w: w.relative, default=None)

    def merge(self, later: Rounding) -> Rounding:
        """Both, for a graph that was rounded twice."""
        return Rounding(self.weights + later.weights, {**self.kept, **later.kept})

    def rows(self) -> list[tuple[str, ...]]:
        """The table: name, shape, format, relative error, largest error, bytes."""
        return [
            (w.name, "x".join(map(str, w.shape)), w.format, f"{w.relative:.2e}", f"{w.largest:.2e}", f"{w.after:,}")
            for w in self.weights
        ]

    def __len__(self) -> int:
        return len(self.weights)

    def __repr__(self) -> str:
        lines = [f"{len(self.weights)} weights rounded: {self.bytes_before:,} bytes before, {self.bytes_after:,} after"]
        lines += _table(_HEAD, self.rows(), numbers=(3, 4, 5)) if self.weights else []
        return "\n".join([*lines, *(f"kept: {name}: {why}" for name, why in self.kept.items())])

    def _repr_html_(self) -> str:
        return _html(_HEAD, self.rows())


@dataclass(frozen=True)
class LayerError:
    """A layer in 8 bits, by the name of its weight.

    relative, largest: the errors of its product as those of a weight, the mean over the batches.
    scale, zero: an integer q that it reads stands for (q - zero) * scale.
    """

    name: str
    relative: float
    largest: float
    scale: float
    zero: int


@dataclass(frozen=True)
class Calibration:
    """The layers that `calibrate` rounded, by name, and why others were kept in float32.

    measure: computes the errors, for which a model is built and run.
    """

    names: tuple[str, ...]
    kept: dict[str, str]
    method: str
    measure: Callable[[], Sequence[LayerError]] = field(repr=False)

    @cached_property
    def layers(self) -> tuple[LayerError, ...]:
        """The error of each layer, the largest first; measured when it is first read."""
        return tuple(sorted(self.measure(), key=lambda layer: -layer.relative)) if self.names else ()

    def worst(self, count: int = 1) -> list[str]:
        """The names of the layers with the largest errors, such as `keep` takes."""
        return [layer.name for layer in self.layers[:count]]

    def rows(self) -> list[tuple[str, ...]]:
        """The table: name, relative error, largest error, scale, zero point."""
        return [(x.name, f"{x.relative:.2e}", f"{x.largest:.2e}", f"{x.scale:.3g}", str(x.zero)) for x in self.layers]

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        lines = [f"{len(self)} layers in 8 bits, ranges by {self.method}"]
        lines += _table(_LAYERS, self.rows(), numbers=(1, 2, 3, 4)) if self.layers else []
        return "\n".join([*lines, *(f"kept: {name}: {why}" for name, why in self.kept.items())])

    def _repr_html_(self) -> str:
        return _html(_LAYERS, self.rows())


_LAYERS = ("layer", "relative error", "largest", "scale", "zero")
_HEAD = ("weight", "shape", "stored as", "relative error", "largest", "bytes")


@dataclass(frozen=True)
class OutputErrors:
    """The outputs of a rounded model beside those of the model that it was made of."""

    outputs: tuple[OutputError, ...]

    @property
    def relative(self) -> float:
        """The largest of the relative errors."""
        return max((o.relative for o in self.outputs), default=0.0)

    def rows(self) -> list[tuple[str, ...]]:
        return [
            (str(o.output), "x".join(map(str, o.shape)), f"{o.relative:.2e}", f"{o.largest:.2e}") for o in self.outputs
        ]

    def __repr__(self) -> str:
        return "\n".join(_table(_OUTPUTS, self.rows(), numbers=(2, 3)))

    def _repr_html_(self) -> str:
        return _html(_OUTPUTS, self.rows())


_OUTPUTS = ("output", "shape", "relative error", "largest")


def weight_error(name: str, weight: np.ndarray, rounded_weight: Rounded, how: Format) -> WeightError:
    """The line of a weight."""
    relative, largest = errors(rounded_weight.values, weight)
    return WeightError(name, weight.shape, str(how), relative, largest, weight.nbytes, rounded_weight.nbytes)


@implement(Graph.compare)
def compare_graphs(graph: Graph, before: Graph, *inputs: Array, threads: int | None = None) -> OutputErrors:
    """The errors of the outputs of a graph beside those of another one, on the same inputs."""
    models = [each.build_model(threads=threads) for each in (graph, before)]
    outputs, expected = (output if isinstance(output := model(*inputs), tuple) else (output,) for model in models)
    pairs = [(np.asarray(f), np.asarray(w)) for f, w in zip(outputs, expected, strict=True) if w is not None]
    return OutputErrors(tuple(OutputError(n, w.shape, *errors(f, w)) for n, (f, w) in enumerate(pairs)))


def errors(actual: np.ndarray, expected: np.ndarray) -> tuple[float, float]:
    """The norm of the difference over that of what is wanted, and the same of the largest elements."""
    difference, scale = (actual - expected).ravel().astype(np.float64), expected.ravel().astype(np.float64)
    norms = [float(np.linalg.norm(x)) for x in (difference, scale)]
    tops = [float(np.abs(x).max(initial=0)) for x in (difference, scale)]
    return norms[0] / norms[1] if norms[1] else norms[0], tops[0] / tops[1] if tops[1] else tops[0]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], numbers: Sequence[int]) -> list[str]:
    widths = [max(len(row[n]) for row in (head, *rows)) for n in range(len(head))]
    return [
        "  ".join(
            cell.rjust(w) if n in numbers else cell.ljust(w)
            for n, (cell, w) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in (head, *rows)
    ]


def _html(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><tr>{titles}</tr>{body}</table>"
