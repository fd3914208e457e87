"""`relax.transform.FuseOps` and `FuseTIR`."""

from __future__ import annotations

from collections.abc import Callable

from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.expressions import Call
from tir_mlir.graph.expressions.read_graph import CALL_TIR
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.script.module import IRModule


def AnnotateTIROpPattern() -> Pass:  # noqa: N802
    """Nothing to do: which programs can be fused is read off the programs themselves."""
    return Pass(lambda mod, _: mod, PassInfo("AnnotateTIROpPattern"))


def FuseOps(fuse_opt_level: int = -1) -> Pass:  # noqa: N802
    """Programs that are computed together become a private graph. Operators must be programs already (`LegalizeOps`).

    lv = R.call_tir(cls.dense, (x, w), ...)
    gv = R.call_tir(cls.relu, (lv,), ...)      ->  gv = cls.fused_dense_relu(x, w)
    """
    return Pass(lambda mod, _: _each_graph(mod, fuse_ops), PassInfo("FuseOps"))


def FuseTIR() -> Pass:  # noqa: N802
    """Private graphs of programs become one program each. Errors: GraphError for one with something else.

    gv = cls.fused_dense_relu(x, w)  ->  gv = R.call_tir(cls.fused_dense_relu, (x, w), ...)
    """
    return Pass(lambda mod, _: _each_graph(_checked(mod), fuse_tir), PassInfo("FuseTIR"))


def _checked(mod: IRModule) -> IRModule:
    """Errors: GraphError for a private graph with something else than calls of programs."""
    for name, func in mod.graphs.items():
        for binding in func.body.bindings if func.attrs.get("Primitive") else []:
            value = binding.value
            if isinstance(value, Call) and value.op != CALL_TIR:
                raise GraphError(f"{name} has {value!r}, which is no program; fix: LegalizeOps before FuseTIR")
    return mod


def _each_graph(mod: IRModule, transform: Callable[[Graph], Graph]) -> IRModule:
    for name in [n for n, f in mod.graphs.items() if not f.attrs.get("Primitive")]:
        mod = transform(Graph(mod, name=name)).module
    return mod
