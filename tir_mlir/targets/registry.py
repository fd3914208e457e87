"""The back end of each kind of target. Those of GPUs are loaded when one is built for: they load much."""

from __future__ import annotations

from importlib import import_module

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.target import AnyTarget
from tir_mlir.target.predefined import register as register_name
from tir_mlir.targets.cpu.back_end import BACK_END as CPU
from tir_mlir.targets.stages import BackEnd

_GPUS = {"cuda": "cuda", "cuda-emulated": "emulated", "opencl": "opencl", "rocm": "rocm"}
"""The modules of the back ends of GPUs, by kind."""
_REGISTERED: dict[str, BackEnd] = {"cpu": CPU}


def register(name: str, target: AnyTarget, back_end: BackEnd) -> None:
    """Set the back end of the targets of a kind, and the name by which `build(..., target=name)` takes this one."""
    register_name(name, target)
    _REGISTERED[target.kind] = back_end


def register_kind(kind: str, back_end: BackEnd) -> None:
    """Set the back end of the targets of a kind, which have no names."""
    _REGISTERED[kind] = back_end


def back_end_of(target: AnyTarget) -> BackEnd:
    """How programs are compiled for a target. Raises BuildError for a kind that has no back end."""
    if target.kind in _GPUS and target.kind not in _REGISTERED:
        _REGISTERED[target.kind] = import_module(f"tir_mlir.targets.{_GPUS[target.kind]}").BACK_END
    if target.kind not in _REGISTERED:
        raise BuildError(f"{target.chip} has no back end; fix: targets.register({target.kind!r}, target, BackEnd(...))")
    return _REGISTERED[target.kind]
