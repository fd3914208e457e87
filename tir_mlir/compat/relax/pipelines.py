"""`relax.get_pipeline`: passes in a row, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.compat.relax.passes import Pass, Sequential
from tir_mlir.compat.relax.transforms import AnnotateTIROpPattern, FuseOps, FuseTIR, LegalizeOps
from tir_mlir.compat.relax.tuning import MetaScheduleApplyDatabase, MetaScheduleTuneIRMod
from tir_mlir.dialect.diagnostics import GraphError, short_repr


def zero_pipeline(*, enable_warning: bool = False) -> Pass:
    """Operators become programs, and programs that are computed together one."""
    return Sequential([LegalizeOps(enable_warning=enable_warning), AnnotateTIROpPattern(), FuseOps(), FuseTIR()])


def static_shape_tuning_pipeline(
    total_trials: int, target: Any = None, work_dir: str = "tuning_logs", **_: Any
) -> Pass:
    """`zero_pipeline`, a search over the programs, and the best schedules that it found. target: of `with target:`."""
    return Sequential(
        [
            zero_pipeline(),
            MetaScheduleTuneIRMod({}, work_dir, total_trials, target=target),
            MetaScheduleApplyDatabase(work_dir, target=target),
        ]
    )


PIPELINES: dict[str, Callable[..., Pass]] = {
    "zero": zero_pipeline,
    "default": zero_pipeline,
    "static_shape_tuning": static_shape_tuning_pipeline,
}


def get_pipeline(name: str = "zero", **options: Any) -> Pass:
    """The passes of a name: "zero", "default", or "static_shape_tuning", with its `total_trials`.

    Errors: GraphError for another name.
    """
    if name not in PIPELINES:
        raise GraphError(f"there is no pipeline {short_repr(name)}; fix: one of {', '.join(PIPELINES)}")
    return PIPELINES[name](**options)
