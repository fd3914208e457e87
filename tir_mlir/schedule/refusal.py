"""The diagnostic of a refused step: the call, the reason, the user's line, and the program with the culprit marked."""

from __future__ import annotations

import linecache
from dis import opname
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import (
    ForkError,
    InternalError,
    LateText,
    NotAffine,
    NotProvable,
    ScheduleError,
    StepIndexError,
    StepTypeError,
    StepValueError,
    TirError,
    VerifyError,
    color_uncaught,
)
from tir_mlir.dialect.incremental import Version
from tir_mlir.dialect.ir import attrs, enter_context, parents, user_line


def refusal(
    call: str, reason: str, version: Version, culprit: Any, detail: str, provable: bool = True, fix: str = ""
) -> str | LateText:
    """The diagnostic as text. `detail`: "detail" (with the program, which is printed when the text is read), "fast"
    (one line) or "none" (the verdict only). `version`: of the program; its module may be another one by then."""
    word = "refused" if provable else "not provable"
    head = f"{call}: {word}: {reason}"
    color_uncaught(TirError)
    if detail != "detail":
        return (f"{head}; {fix}" if fix else head) if detail == "fast" else f"{call}: {word}"
    lines = [head]
    source_line = user_line()
    if source_line is not None:
        source = linecache.getline(*source_line).strip()
        lines.append(f"  at {source_line[0]}:{source_line[1]}" + (f"\n     {source}" if source else ""))
    op_id = culprit_id(culprit)
    return LateText(lambda: "\n".join([*lines, *_in_program(version, op_id), *([f"  fix: {fix}"] if fix else [])]))


def _in_program(version: Version, op_id: int | None) -> list[str]:
    try:
        with enter_context():
            program = _program(version.module, op_id)
    except ForkError as error:  # the text is read in a process forked after the refusal
        return [f"  the program before the step cannot be printed: {error}"]
    return ["  in the program before the step:", *(f"  | {text}" for text in program)] if program else []


def culprit_id(culprit: Any) -> int | None:
    """The id of an op, or of its nearest ancestor that has one."""
    if isinstance(culprit, int) or culprit is None:
        return culprit
    for op in [culprit, *parents(culprit)]:
        if attrs.ID in op.attributes:
            return attrs.get(op, attrs.ID)
    return None


def _program(module: ir.Module, op_id: int | None) -> list[str]:
    """The lines of the printed program; of a long one, those around the mark."""
    from tir_mlir.script.printer import script

    text = script(module, mark={op_id: "here"} if op_id is not None else {}).splitlines()
    marks = [n for n, line in enumerate(text) if set(line.replace("here", "").strip(" #")) == {"^"}]
    if not marks or len(text) <= 40:
        return text
    low, high = max(0, marks[0] - 15), marks[0] + 12
    return [*(["..."] if low else []), *text[low:high], *(["..."] if high < len(text) else [])]


def step_error(error: Exception) -> type[ScheduleError]:
    """The class under which an error of a primitive reaches the user: always a ScheduleError."""
    if isinstance(error, ScheduleError):
        return type(error)
    if isinstance(error, (VerifyError, NotProvable, NotAffine)):
        return ScheduleError
    if not _is_raised(error):
        return _error_type(error)
    kinds = ((IndexError, StepIndexError), (ValueError, StepValueError), (TypeError, StepTypeError))
    return next((step for kind, step in kinds if isinstance(error, kind)), _error_type(error))


def _is_raised(error: Exception) -> bool:
    """Whether a `raise` statement speaks to the user; an error of Python or of the bindings is a fault of ours."""
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame is None or opname[frame.tb_frame.f_code.co_code[frame.tb_lasti]] == "RAISE_VARARGS"


def _error_type(error: Exception) -> type[ScheduleError]:
    return ScheduleError if isinstance(error, TirError) else InternalError
