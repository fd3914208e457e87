"""`Graph`: a model as a module of functions on tensors and of TensorIR, and the arrays of its weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, overload

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError, check_type
from tir_mlir.dialect.graph import TensorFunc, graph_bodies, graphs, tensor_func
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import extension_point
from tir_mlir.script.module import IRModule

if TYPE_CHECKING:
    from tir_mlir.equivalence import Result
    from tir_mlir.graph.memory.frames import Array
    from tir_mlir.graph.model import Model
    from tir_mlir.graph.precision.quantize_weights import Choice
    from tir_mlir.graph.precision.rounding import Calibration, OutputErrors, Rounding
    from tir_mlir.interpreter import Report
    from tir_mlir.ptx.program import ProgramReport
    from tir_mlir.target import AnyTarget
    from tir_mlir.visual.svg import Picture


class Offloaded(Protocol):
    """A graph of which a machine computes some nodes: `tir_mlir.accel.offload.OffloadedGraph`."""

    @property
    def cycles(self) -> int: ...

    def verify(self, seed: int = 0) -> Result: ...

    def build(self, *, threads: int | None = None, optimize: str = "full") -> Model: ...


class Graph:
    """A model: `module` has its functions, `name` is that of its graph, `weights` are arrays by name.

    A transform returns a new Graph and does not modify this one; weights that it leaves alone are shared. from_text:
    the names of weights that were constants in the text of the module. rounding: the errors of
    the weights that `quantize_weights` rounded; calibration: the errors of the layers that `calibrate` rounded.
    """

    def __init__(self, module: IRModule, weights: Mapping[str, np.ndarray] | None = None, name: str | None = None):
        check_type(module, IRModule, "Graph", "module", "an IRModule with a graph (parse(text), or GraphBuilder)")
        self.module = module
        self.weights = dict(weights or {})
        self.from_text: frozenset[str] = frozenset()
        self.rounding: Rounding | None = None
        self.calibration: Calibration | None = None
        with enter_context():
            names = [f.name for f in graphs(module.mlir)]
            body_names = [f.name for f in graph_bodies(module.mlir)] if name not in names else names
        if not names:
            raise GraphError("the module has no graph; fix: GraphBuilder, from_torch or @R.function make one")
        if name is not None and name not in body_names:
            raise GraphError(f"the module has no graph {name}; it has {', '.join(names)}")
        if name is None and len(names) > 1 and "main" not in names:
            raise GraphError(
                f"the module has the graphs {', '.join(names)}; fix: name one of them, Graph(module, name=...)"
            )
        self.name = name or ("main" if "main" in names else names[0])

    @staticmethod
    @extension_point
    def from_linalg(source: str, func: str | None = None) -> Graph:
        """A graph of a function of linalg ops on tensors, as compilers of models write them. source: MLIR text, or the
        path of a `.mlir` file; func: its name (default: main, or the only one). Constant tensors become weights.

        Errors: ScriptError with the line for what is not supported.
        """
        ...

    @property
    def func(self) -> TensorFunc:
        """The graph as a view; valid until the module is rewritten, inside `entered()` only."""
        return tensor_func(self.module.mlir, self.name)

    def clone(self) -> Graph:
        """A copy of the module; the arrays of weights are shared."""
        copy = Graph(self.module.clone(), self.weights, self.name)
        copy.from_text, copy.rounding, copy.calibration = self.from_text, self.rounding, self.calibration
        return copy

    def select_function(self, name: str) -> Graph:
        """The same module and weights, as the graph of another function of it: of a region, too."""
        graph = Graph(self.module, self.weights, name)
        graph.from_text, graph.rounding = self.from_text, self.rounding
        return graph

    @extension_point
    def build_model(
        self,
        target: AnyTarget | str = "llvm",
        *,
        weights: str | None = None,
        threads: int | None = None,
        optimize: str = "full",
        cache: bool = True,
        libs: Sequence[str | Path] = (),
        dump: str | Path | None = None,
    ) -> Model:
        """Compile to a Model; `tir_mlir.build(graph)` is the same."""
        ...

    @extension_point
    def verify(self, before: Graph, seed: int = 0) -> Result:
        """Check that this graph computes what another one does, as before a transform: exactly, over a prime field.

        The result is truthy if they agree, else it tells the first element that differs. Errors: GraphError for graphs
        with packed functions, and for two graphs of which one has rounded weights, see `compare`; NotChecked for
        operations without exact semantics.
        """
        ...

    @extension_point
    def compare(self, before: Graph, *inputs: Array, threads: int | None = None) -> OutputErrors:
        """The errors of the outputs beside those of another graph, on given inputs: what rounding weights costs. Builds
        and runs both. The result prints as a table."""
        ...

    @extension_point
    def calibrate(
        self,
        batches: Iterable[Array | Sequence[Array]],
        method: str = "min-max",
        *,
        percentile: float = 99.99,
        keep: Choice = (),
        activations: str = "uint8",
        symmetric: bool = False,
        per_channel: bool = True,
        bias: str = "float32",
        threads: int | None = None,
    ) -> Graph:
        """This graph with weights and activations of its layers in 8 bits, by the numbers that they see in batches of
        inputs: `tir_mlir.calibrate(graph, batches)` is the same, and tells the options."""
        ...

    @extension_point
    def offload(self, machine: AnyTarget) -> Offloaded:
        """This graph with its products and convolutions on a machine (`tir_mlir.accel.Machine`), as far as that has
        instructions for them. The result tells what is where, and why; `build()` makes a model of it."""
        ...

    @overload
    def interpret(
        self, *inputs: np.ndarray, target: None = None, **options: Any
    ) -> tuple[list[np.ndarray], Report]: ...

    @overload
    def interpret(
        self, *inputs: np.ndarray, target: str | AnyTarget, **options: Any
    ) -> tuple[list[np.ndarray], ProgramReport]: ...

    @extension_point
    def interpret(
        self, *inputs: np.ndarray, target: str | AnyTarget | None = None, **options: Any
    ) -> tuple[list[np.ndarray], Report | ProgramReport]:
        """Run the graph in Python with every access checked: (outputs, counts). Options of `tir_mlir.interpret`."""
        ...

    @extension_point
    def to_linalg(self) -> Graph:
        """The graph with bodies of linalg ops on tensors for the operators that it calls: `.text()` is a program that
        any MLIR tool lowers and runs. Errors: GraphError for a size of a result that no operand has.
        """
        ...

    @extension_point
    def plot(self) -> Picture:
        """Draw the graph: one row a node with its type, functions of TensorIR with the names of their blocks."""
        ...

    def text(self) -> str:
        """The module as MLIR text."""
        return self.module.text()

    def script(self, **options: Any) -> str:
        """The module as TVMScript."""
        return self.module.script(**options)

    def show(self, **options: Any) -> None:
        """Print the module as TVMScript, colored in terminals and notebooks."""
        self.module.show(**options)

    def __repr__(self) -> str:
        with enter_context():
            func = self.func
            return f"<graph {self.name}: {len(func.nodes)} nodes, {len(self.weights)} weights>"
