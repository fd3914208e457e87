"""Models as graphs of operators: how they are written, imported, transformed, and compiled to one native function.

Names are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from tir_mlir.extensions import implemented_in

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder as GraphBuilder
    from tir_mlir.graph.compile import STAGES as STAGES
    from tir_mlir.graph.compile import compile_graph as compile_graph
    from tir_mlir.graph.graph import Graph as Graph
    from tir_mlir.graph.model import Model as Model
    from tir_mlir.graph.operators import OPERATORS as OPERATORS
    from tir_mlir.graph.operators import Operator as Operator
    from tir_mlir.graph.operators import OperatorKind as OperatorKind
    from tir_mlir.graph.packed_functions import register_packed as register_packed

_MODULE_OF = {
    "GraphBuilder": "builder",
    "STAGES": "compile",
    "compile_graph": "compile",
    "Graph": "graph",
    "Model": "model",
    "OPERATORS": "operators",
    "Operator": "operators",
    "OperatorKind": "operators",
    "register_packed": "packed_functions",
}

implemented_in(
    {
        "tir_mlir.graph.builder": {
            "GraphBuilder.branch": "tir_mlir.graph.region_builder",
            "GraphBuilder.loop": "tir_mlir.graph.region_builder",
        },
        "tir_mlir.graph.graph": {
            "Graph.build_model": "tir_mlir.graph.build_model",
            "Graph.calibrate": "tir_mlir.graph.precision.calibrate",
            "Graph.compare": "tir_mlir.graph.precision.rounding",
            "Graph.from_linalg": "tir_mlir.graph.importers.linalg_model.graph_from_linalg",
            "Graph.interpret": "tir_mlir.graph.verification.whole_program",
            "Graph.offload": "tir_mlir.accel.offload.offload",
            "Graph.plot": "tir_mlir.graph.profiling.graph_rows",
            "Graph.to_linalg": "tir_mlir.graph.transforms.linalg_bodies",
            "Graph.verify": "tir_mlir.graph.verification.verify_graph",
        },
    }
)


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(
            f"module 'tir_mlir.graph' has no attribute {name!r}; it has {', '.join(sorted(_MODULE_OF))}"
        )
    value = getattr(importlib.import_module(f"tir_mlir.graph.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
