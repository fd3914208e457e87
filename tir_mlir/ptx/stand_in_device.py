"""A GPU without a GPU, for all calls in a context: kernels run on the PTX machine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tir_mlir.ptx.program import MachineDriver
from tir_mlir.runtime.drivers.device_driver import using


@contextmanager
def stand_in(chip: str = "sm_90", memory: int | None = None, count: int = 1) -> Iterator[MachineDriver]:
    """Let programs and models that are built for a GPU run on the PTX machine, in NumPy, in this context.

    Each access is checked: races, missing barriers, what lies outside of a buffer and what nobody wrote raise PtxError.
    A kernel takes about a million times as long as on a GPU. chip: of the devices; memory: bytes that they have, None:
    no limit, DeviceError beyond it; count: how many. The driver that is yielded has `reports` of the launches.
    """
    driver = MachineDriver(count, chip, memory=memory)
    with using(driver):
        yield driver
