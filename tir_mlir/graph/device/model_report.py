"""What the kernels of a model take, as predicted for a GPU: a row a function."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from tir_mlir.graph.device.graph_program import GraphProgram, slot_shape
from tir_mlir.graph.memory.frames import numpy_type
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.runtime.library import predict_kernels

_HEAD = ("function", "calls", "kernels", "us a call", "share", "limit of the longest kernel")


@dataclass(frozen=True)
class FunctionTime:
    """A function with arguments of some shapes: how often it is called, its kernels, the seconds that a call of it is
    predicted to take, and what limits the longest of them."""

    function: str
    calls: int
    kernels: int
    seconds: float
    limit: str


class ModelReport(list[FunctionTime]):
    """The functions of a model, most time first; prints as a table. The times are predicted, not measured."""

    @property
    def seconds(self) -> float:
        """Of one call of the model, on a GPU that waits for nothing between kernels."""
        return sum(row.calls * row.seconds for row in self)

    @property
    def launches(self) -> int:
        """The kernels that one call starts."""
        return sum(row.calls * row.kernels for row in self)

    def rows(self) -> list[tuple[str, ...]]:
        """The table, as text."""
        table = []
        for row in self:
            share = f"{row.calls * row.seconds / self.seconds:.1%}" if self.seconds else "-"
            each = f"{1e6 * row.seconds:.1f}"
            table.append((row.function, str(row.calls), str(row.calls * row.kernels), each, share, row.limit))
        return table

    def __repr__(self) -> str:
        table = [_HEAD, *self.rows()]
        widths = [max(len(line[n]) for line in table) for n in range(len(_HEAD))]
        lines = [f"{1e6 * self.seconds:.1f} us in {self.launches} kernels, predicted"]
        for first, *numbers, last in table:
            cells = [cell.rjust(width) for cell, width in zip(numbers, widths[1:-1], strict=True)]
            lines.append("  ".join([first.ljust(widths[0]), *cells, last]).rstrip())
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(cell)}</th>" for cell in _HEAD)
        body = "".join("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in row) + "</tr>" for row in self.rows())
        return f"<table><tr>{head}</tr>{body}</table>"


def report_model(program: GraphProgram, sizes: Mapping[str, int], gpu: str | None = None) -> ModelReport:
    """The predicted times of the calls of a model. gpu: see `Library.predict`."""
    calls: dict[tuple[str, tuple[tuple[tuple[int, ...], str], ...]], int] = {}
    functions = {}
    for step in program.steps(sizes):
        key = step.function.name, tuple((slot_shape(slot.type, sizes), slot.type.dtype) for slot in step.slots)
        calls[key] = calls.get(key, 0) + 1
        functions[step.function.name] = step.function
    rows = []
    for (name, arguments), count in calls.items():
        of = functions[name]
        arrays: list[Any] = [np.zeros(shape, numpy_type(dtype)) for shape, dtype in arguments]  # pages are not touched
        launches = predict_kernels(DeviceFunction(of.signature, of.program, of.code), arrays, gpu).launches
        longest = max(launches, key=lambda launch: launch.seconds, default=None)
        seconds = sum(launch.seconds for launch in launches)
        rows.append(FunctionTime(name, count, len(launches), seconds, "" if longest is None else longest.limit))
    return ModelReport(sorted(rows, key=lambda row: -row.calls * row.seconds))
