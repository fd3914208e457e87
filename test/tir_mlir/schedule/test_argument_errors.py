"""Arguments of no sensible kind: an error names them, and nothing else happens."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError, TirError

COPY = main("A:8:int32 C:8:int32; B:8:int32", each("B", "B[vi] = A[vi]"), each("C", "C[vi] = B[vi]"))


def test_arrays_and_half_characters_where_they_do_not_belong():
    sch = Schedule(parse(COPY))
    with pytest.raises(TypeError, match='"seed" has wrong type'):
        sch.seed(np.arange(3))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="func_name"):
        sch.get_block("C", func_name=np.arange(3))  # type: ignore[arg-type]
    with pytest.raises(TirError, match="contains an unpaired surrogate"):
        sch.annotate(sch.get_loops("C")[0], "my.key", [["\ud800"], 0])
    with pytest.raises(TirError, match="without_attr takes the name of an attribute, not ndarray"):
        sch.mod["main"].without_attr(np.arange(3))  # type: ignore[arg-type]


def test_a_list_that_is_too_deep_to_show():
    deep: list = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(ValueError, match=r"undo can undo from 0 to 0 steps, not \[\["):
        Schedule(parse(COPY)).undo(deep)  # type: ignore[arg-type]


def test_no_step_makes_a_buffer_that_cannot_be_counted():
    """MLIR ends the process over its type."""
    sch = Schedule(parse(COPY))
    before = sch.mod.script()
    shape = "7696581394433 x 7696581394433"
    with pytest.raises(ScheduleError, match=f"rule 'sizes': A_global of {shape} has more elements than 64 bits"):
        sch.reindex_cache_read("B", 0, "global", lambda i: (i * 2**40, i * 2**40))
    with pytest.raises(ScheduleError, match="rule 'sizes': C_global of "):
        sch.reindex_cache_write("C", 0, "global", lambda i: (i * 2**40, i * 2**40))
    with pytest.raises(ScheduleError, match="more elements than 64 bits"):
        sch.transform_layout("B", ("write", 0), lambda i: (i * 2**40, i * 2**40), pad_value=0)
    assert sch.mod.script() == before
