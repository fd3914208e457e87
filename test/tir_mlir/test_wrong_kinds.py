"""Every public function says what it wants when it is given something else: no error of Python's own."""

from __future__ import annotations

import dis
import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from programs.matmul import matmul

import tir_mlir
from tir_mlir import Schedule, graph, intrin, schedules, script, te, tune, visual
from tir_mlir.errors import InternalError, TirError

PROGRAM = matmul(16, 16, 16)
FUNC = next(iter(PROGRAM.functions.values()))
DOORS: dict[str, Callable[..., Any]] = {
    **{name: getattr(tir_mlir, name) for name in tir_mlir._HOME},
    **{f"schedules.{name}": getattr(schedules, name) for name in schedules.__all__},
    **{f"visual.{name}": getattr(visual, name) for name in visual.__all__},
    **{f"tune.{name}": getattr(tune, name) for name in ("tune", "tune_model", "Database", "Best", "Fixed")},
    **{f"graph.{name}": getattr(graph, name) for name in ("Graph", "GraphBuilder", "Model", "compile_graph")},
    **{f"intrin.{name}": getattr(intrin, name) for name in ("built_in_kernel", "emit", "find_kernel")},
    **{f"script.{name}": getattr(script, name) for name in ("parse", "ir_module")},
    **{f"te.{name}": getattr(te, name) for name in ("create_prim_func", "compute", "placeholder", "statements", "sum")},
}
TOLD = {"get_sref": AttributeError, "get_global_var": KeyError}
"""What TVM has and a schedule does not, and a lookup by name, as TVM's: errors of Python with a message of ours."""
HOME = Path(tir_mlir.__file__).parents[1]


def kinds() -> dict[str, Any]:
    sch = Schedule(PROGRAM)
    return {
        "nothing": None, "number": 3, "text": "no such", "list": [1], "object": object(), "array": np.zeros((2, 2)),
        "program": FUNC, "module": PROGRAM, "schedule": sch, "block": sch.get_block("C"), "loop": sch.get_loops("C")[0],
        "tensor": te.placeholder((4,), name="X"),
    }  # fmt: skip


def methods(kind: type) -> list[str]:
    return [name for name in dir(kind) if not name.startswith("_") and inspect.isfunction(getattr(kind, name, None))]


def calls(door: Callable[..., Any], wrong: Any) -> Iterator[tuple[Any, ...]]:
    """Arguments with one of the wrong kind in each place, or in the first one only."""
    try:
        parameters = inspect.signature(door).parameters.values()
    except ValueError:
        return
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    needed = len([p for p in places if p.default is p.empty and p.kind is not p.VAR_POSITIONAL]) or len(places[:1])
    if needed:
        yield (wrong,) * needed
        yield (wrong, *["C"] * (needed - 1))


def is_ours(error: Exception) -> bool:
    """Whether a `raise` statement of the package made an error, with a message."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    assert place is not None
    code = place.tb_frame.f_code
    raised = dis.opname[code.co_code[place.tb_lasti]] == "RAISE_VARARGS"
    return raised and Path(code.co_filename).is_relative_to(HOME) and bool(str(error))


def check(name: str, door: Callable[..., Any], wrong: Any) -> None:
    for arguments in calls(door, wrong):
        try:
            door(*arguments)
        except TirError as error:
            assert not isinstance(error, InternalError), f"{name}: {error}"
        except Exception as error:
            ours = isinstance(error, (TypeError, ValueError, IndexError)) and is_ours(error)
            told = isinstance(error, TOLD.get(name.rpartition(".")[2], ()))
            assert ours or told, f"{name}: {type(error).__name__}: {error}"


@pytest.mark.parametrize("name", DOORS)
def test_functions(name: str) -> None:
    slow = ("program", "module") if name.startswith("tune.") else ()  # a search
    for kind, wrong in kinds().items():
        if kind not in slow:
            check(name, DOORS[name], wrong)


@pytest.mark.parametrize("name", methods(Schedule))
def test_methods_of_a_schedule(name: str) -> None:
    for wrong in kinds().values():
        check(f"Schedule.{name}", getattr(Schedule(PROGRAM), name), wrong)


@pytest.mark.parametrize("name", methods(type(PROGRAM)))
def test_methods_of_a_module(name: str) -> None:
    for wrong in kinds().values():
        check(f"IRModule.{name}", getattr(PROGRAM.clone(), name), wrong)


@pytest.mark.parametrize("name", sorted({*schedules.__all__} - {"WeightPanels"}))
def test_a_schedule_is_asked_for_where_a_program_is_given(name: str) -> None:
    with pytest.raises(TypeError, match=r'In "schedules.\w+", "sch" .* a Schedule, .*sch = Schedule\(program\)'):
        next(getattr(schedules, name)(FUNC, *rest[1:]) for rest in calls(getattr(schedules, name), "C"))
