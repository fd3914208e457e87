"""A launch as the arguments of `launch` describe it, without their contents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tir_mlir.errors import PtxError
from tir_mlir.ptx.launching import MAP_BYTES
from tir_mlir.ptx.memory import WINDOWS
from tir_mlir.ptx.parser import Kernel, KernelParameter
from tir_mlir.ptx.prediction.tracing import TracedLaunch
from tir_mlir.ptx.tensors import TensorMap
from tir_mlir.ptx.types import DTYPES

_FIRST_ADDRESS = 1 << 52
_UNIT = 1 << 12


class _Arguments:
    """The parameters of a launch as bytes, the arrays and tensor maps that they stand for."""

    def __init__(self) -> None:
        self.parameters = bytearray()
        self.arrays: list[tuple[int, int]] = []
        self.maps: dict[int, TensorMap] = {}
        self._next = _FIRST_ADDRESS

    def add(self, p: KernelParameter, argument: object) -> None:
        self.parameters += bytes(-len(self.parameters) % p.alignment)
        value = self._value(p, argument)
        if len(value) != p.bytes:
            raise PtxError(f"parameter {p.name} has {p.bytes} bytes, its argument {len(value)}", "launch")
        self.parameters += value

    def _value(self, p: KernelParameter, argument: object) -> bytes:
        if isinstance(argument, np.ndarray) and argument.ndim and p.bytes == 8:
            return self._place(argument.nbytes).to_bytes(8, "little")
        if isinstance(argument, TensorMap):
            start = self._place(argument.array.nbytes)
            if p.bytes == MAP_BYTES:
                self.maps[WINDOWS["param"] + len(self.parameters)] = argument
                return bytes(MAP_BYTES)
            self.maps[start] = argument
            return start.to_bytes(8, "little")
        if isinstance(argument, bytes | bytearray):
            return bytes(argument)
        return np.array(argument).astype(DTYPES[p.type]).tobytes()

    def _place(self, size: int) -> int:
        start = self._next
        self.arrays.append((start, size))
        self._next += -(-size // _UNIT) * _UNIT + _UNIT
        return start


def describe_launch(
    kernel: Kernel, grid: Sequence[int], block: Sequence[int], args: Sequence[object], shared_bytes: int = 0
) -> TracedLaunch:
    """A launch by the arguments of `ptx.launch`, of whose arrays the sizes matter only. Raises PtxError."""
    if len(args) != len(kernel.parameters):
        raise PtxError(f"kernel {kernel.name} has {len(kernel.parameters)} parameters, not {len(args)}", "launch")
    arguments = _Arguments()
    for p, argument in zip(kernel.parameters, args, strict=True):
        arguments.add(p, argument)
    gx, gy, gz = ([int(n) for n in grid] + [1, 1, 1])[:3]
    bx, by, bz = ([int(n) for n in block] + [1, 1, 1])[:3]
    return TracedLaunch(
        kernel, (gx, gy, gz), (bx, by, bz), shared_bytes, bytes(arguments.parameters), tuple(arguments.arrays),
        arguments.maps,
    )  # fmt: skip
