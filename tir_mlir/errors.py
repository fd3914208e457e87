"""The exceptions that users catch, under one public name: `from tir_mlir.errors import ScheduleError`."""

from __future__ import annotations

from tir_mlir.dialect.diagnostics.errors import (
    ArgumentError,
    ArithmeticStop,
    AssumptionError,
    BufferNameError,
    BuildError,
    ForkError,
    HandleError,
    IndexMapError,
    InternalError,
    InterpreterError,
    IntrinError,
    LinalgError,
    LoweringError,
    NotAffine,
    NotAffineMapError,
    NotAnAttribute,
    NotChecked,
    NotInterpreted,
    NotProvable,
    OutOfBoundsError,
    RaceError,
    ScheduleError,
    ScheduleWarning,
    ScriptError,
    ScriptWarning,
    StepError,
    StepIndexError,
    StepTypeError,
    StepValueError,
    TirError,
    ToolError,
    TraceError,
    UnwrittenError,
    VerifyError,
)

__all__ = [
    "ArgumentError", "ArithmeticStop", "AssumptionError", "BufferNameError", "BuildError", "ForkError",
    "HandleError", "IndexMapError", "InternalError", "InterpreterError", "IntrinError", "LinalgError",
    "LoweringError", "NotAffine", "NotAffineMapError", "NotAnAttribute", "NotChecked", "NotInterpreted",
    "NotProvable", "OutOfBoundsError", "RaceError", "ScheduleError", "ScheduleWarning", "ScriptError",
    "ScriptWarning", "StepError", "StepIndexError", "StepTypeError", "StepValueError", "TirError", "ToolError",
    "TraceError", "UnwrittenError", "VerifyError",
]  # fmt: skip
