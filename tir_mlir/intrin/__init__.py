"""Tensor intrinsics: what an instruction computes, the program that stands for it, and the kernels behind it."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.intrinsics import TensorIntrin, check_with, provide, try_with

__all__ = ["TensorIntrin"]


@provide
def _built_in(name: str) -> None:
    """Register an intrinsic of the project when somebody asks for it: a trace may name one."""
    if name.startswith("dot_"):
        from tir_mlir.intrin import dots

        dots.register(name)


@check_with
def _check(intrinsic: TensorIntrin, seed: int) -> Any:
    from tir_mlir.check.intrinsic import check_intrinsic

    return check_intrinsic(intrinsic, seed)


@try_with
def _try(intrinsic: TensorIntrin) -> str | None:
    from tir_mlir.interpreter.trial import fault

    return fault(intrinsic)
