"""Kernels of kinds that other compilers made wrong code of: right on the PTX machine, or refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.reported_kernels import KERNELS, arrays_of, text_of

from fuzzing.kernels.faults import survivors
from fuzzing.kernels.machine import function_of, on_machine
from tir_mlir import Schedule
from tir_mlir.errors import LoweringError, NotProvable


@pytest.mark.parametrize("kernel", KERNELS, ids=[k.name.replace(" ", "-") for k in KERNELS])
def test_right_or_refused(kernel):
    sch = Schedule(parse(text_of(kernel)))
    if isinstance(kernel.reference, str):
        with pytest.raises((LoweringError, NotProvable)) as caught:
            function_of(sch)
        assert kernel.reference in str(caught.value)
        return
    arrays = arrays_of(kernel)
    wanted = kernel.reference(*(a.copy() for a in arrays))
    reports = on_machine(sch, arrays)
    assert np.array_equal(arrays[-1], wanted)
    if kernel.barriers is not None:
        assert sum(report.barriers for report in reports) == kernel.barriers


RIGHT = [kernel for kernel in KERNELS if not isinstance(kernel.reference, str)]


@pytest.mark.few(8)
@pytest.mark.parametrize("kernel", RIGHT, ids=[k.name.replace(" ", "-") for k in RIGHT])
def test_each_barrier_and_each_guard_is_needed(kernel):
    """Without one, the machine or a proof reports a fault, or the result is wrong."""
    wanted = kernel.reference(*arrays_of(kernel))
    assert survivors(Schedule(parse(text_of(kernel))), lambda: arrays_of(kernel), wanted) == []
