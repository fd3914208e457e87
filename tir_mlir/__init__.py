"""TensorIR on upstream MLIR: write a tensor program, schedule it, build it, run it on arrays.

    from tir_mlir.script import ir as I, tir as T
    from tir_mlir import Schedule, TensorIntrin, build

Names are loaded when first used: importing the package makes no MLIR context.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tir_mlir import sources
from tir_mlir.extensions import implemented_in

if TYPE_CHECKING:
    from tir_mlir import accel as accel
    from tir_mlir import cache as cache
    from tir_mlir import errors as errors
    from tir_mlir import graph as graph
    from tir_mlir import intrin as intrin
    from tir_mlir import prediction as prediction
    from tir_mlir import schedules as schedules
    from tir_mlir import script as script
    from tir_mlir import target as target
    from tir_mlir import te as te
    from tir_mlir import topi as topi
    from tir_mlir import visual as visual
    from tir_mlir.build import build as build
    from tir_mlir.dialect.index_maps import IndexMap as IndexMap
    from tir_mlir.dialect.ir.memo import budget as budget
    from tir_mlir.graph.importers.onnx_model.from_onnx import from_onnx as from_onnx
    from tir_mlir.graph.importers.support import supported as supported
    from tir_mlir.graph.importers.torch_export.from_torch import from_torch as from_torch
    from tir_mlir.graph.precision.calibrate import calibrate as calibrate
    from tir_mlir.graph.precision.quantize_weights import quantize_weights as quantize_weights
    from tir_mlir.interpreter.interpret import interpret as interpret
    from tir_mlir.intrin import TensorIntrin as TensorIntrin
    from tir_mlir.prediction.explain import explain_speed as explain_speed
    from tir_mlir.runtime.aligned_arrays import empty as empty
    from tir_mlir.runtime.drivers.clang import create_llvm as create_llvm
    from tir_mlir.schedule import Schedule as Schedule
    from tir_mlir.script.linalg import from_linalg as from_linalg
    from tir_mlir.script.linalg import to_linalg as to_linalg

__version__ = "0.2.0"

_HOME = {
    "IndexMap": "tir_mlir.dialect.index_maps.index_map",
    "Schedule": "tir_mlir.schedule",
    "TensorIntrin": "tir_mlir.intrin",
    "budget": "tir_mlir.dialect.ir.memo",
    "build": "tir_mlir.build",
    "calibrate": "tir_mlir.graph.precision.calibrate",
    "create_llvm": "tir_mlir.runtime.drivers.clang",
    "empty": "tir_mlir.runtime.aligned_arrays",
    "explain_speed": "tir_mlir.prediction.explain",
    "from_linalg": "tir_mlir.script.linalg",
    "from_onnx": "tir_mlir.graph.importers.onnx_model.from_onnx",
    "from_torch": "tir_mlir.graph.importers.torch_export.from_torch",
    "interpret": "tir_mlir.interpreter",
    "quantize_weights": "tir_mlir.graph.precision.quantize_weights",
    "supported": "tir_mlir.graph.importers.support",
    "to_linalg": "tir_mlir.script.linalg",
}

_PACKAGES = (
    "accel",
    "cache",
    "errors",
    "graph",
    "intrin",
    "prediction",
    "schedules",
    "script",
    "target",
    "te",
    "topi",
    "tune",
    "visual",
)


__path__ = sources.SEARCHED
implemented_in(
    {
        "tir_mlir.accel.machine": {
            "Machine.check": "tir_mlir.accel.checks.check_instructions",
            "Machine.interpret": "tir_mlir.accel.interpreted_run",
        },
        "tir_mlir.accel.mapping.mapping": {"search_mapping": "tir_mlir.tune.search.mappings"},
        "tir_mlir.build": {"check_machine_code": "tir_mlir.interpreter.machine_code"},
        "tir_mlir.dialect.computation.intrinsics": {
            "TensorIntrin.check": "tir_mlir.intrin.check",
            "find_fault": "tir_mlir.intrin.check",
            "register_built_in": "tir_mlir.intrin",
        },
        "tir_mlir.runtime.cache.store": {"maker_of": "tir_mlir.runtime.cache.fingerprint"},
        "tir_mlir.runtime.drivers.device_driver": {"default_driver": "tir_mlir.runtime.drivers.cuda"},
        "tir_mlir.runtime.library": {
            "report_kernels": "tir_mlir.ptx.program",
            "predict_kernels": "tir_mlir.ptx.program",
        },
        "tir_mlir.script.module": {
            "IRModule.from_linalg": "tir_mlir.script.linalg",
            "graph_function": "tir_mlir.graph.expressions.graph_function",
            "write_graphs": "tir_mlir.graph.expressions.write_graph",
        },
        "tir_mlir.script.parser": {
            "graph_namespace": "tir_mlir.graph.script.reader",
            "read_graphs": "tir_mlir.graph.script.reader",
        },
        "tir_mlir.script.printer.graphs": {"show_operands": "tir_mlir.graph.operators"},
        "tir_mlir.te.expr": {"dtypes_of": "tir_mlir.te.prim_func"},
        "tir_mlir.tune.records.database": {
            "enter": "tir_mlir.tune.records.build_context",
            "leave": "tir_mlir.tune.records.build_context",
        },
    }
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"tir_mlir.{name}")
    if name not in _HOME:
        has = ", ".join(sorted((*_HOME, *_PACKAGES)))
        raise AttributeError(f"module 'tir_mlir' has no attribute {name!r}; it has {has}")
    value = getattr(importlib.import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME, *_PACKAGES})
