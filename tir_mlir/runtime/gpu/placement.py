"""Where a call runs: the device and stream of its arrays; the checks of arguments on top of those of CPU calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.call.arrays import Packer
from tir_mlir.runtime.call.signature import BufferParam, CallSignature
from tir_mlir.runtime.drivers.device_driver import DeviceDriver
from tir_mlir.runtime.gpu import tensors


class DevicePacker(Packer):
    """Checks and packs arguments of kernels: arrays on one GPU, in place, and NumPy arrays, to be copied."""

    def __init__(self, signature: CallSignature):
        super().__init__(signature)
        self._buffer_params = [(n, p) for n, p in enumerate(signature.params) if isinstance(p, BufferParam)]

    def device(self, driver: DeviceDriver, args: Sequence[Any]) -> tuple[int, int, bool]:
        """The device and stream of a call, and whether an argument is a NumPy array.

        Raises ArgumentError for an array in main memory that is not a NumPy array, for one on a device of another kind
        or that does not exist, and for arrays on different GPUs.
        """
        first: tuple[BufferParam, int] | None = None
        stream: int | None = None
        copied = False
        for number, param in self._buffer_params[: len(args)]:
            value = args[number]
            if isinstance(value, np.ndarray):
                copied = True
                continue
            device = self._number(param, value, driver)
            if first is None:
                first = param, device
            elif device != first[1]:
                self._fail(param, f"is on cuda:{device}", f"{first[0].name!r} is on cuda:{first[1]}; all on one GPU")
            stream = tensors.current_stream(value, device) if stream is None else stream
        chosen = driver.current_device() if first is None else first[1]
        return chosen, driver.current_stream(chosen) if stream is None else stream, copied

    def _number(self, param: BufferParam, value: Any, driver: DeviceDriver) -> int:
        device = tensors.device_of(value)
        if device is None:
            kind = type(value).__name__
            self._fail(
                param, f"is a {kind}", "an array on a GPU (__dlpack__), or a NumPy array, which is copied, is needed"
            )
        if device[0] not in (tensors.CUDA, tensors.MANAGED):
            ways = {"torch": f'.to("cuda:{driver.current_device()}") moves it, .numpy() has it copied in each call'}
            way = ways.get(tensors.package_of(value), "move it there, or pass it as a NumPy array, which is copied")
            self._fail(param, f"is on {tensors.device_text(device)}", f"the kernels run on a GPU; {way}")
        if device[1] >= len(driver.devices()):
            self._fail(param, f"is on cuda:{device[1]}", f"{driver.name} has {len(driver.devices())} GPUs")
        return device[1]

    def borrow_arguments(self, args: Sequence[Any], stream: int) -> tuple[list[Any], list[Any]]:
        """The arguments with arrays of addresses for the tensors, and what keeps these alive."""
        arrays, owners = list(args), []
        for number, param in self._buffer_params[: len(args)]:
            if not isinstance(args[number], np.ndarray):
                tensor = self._borrow_tensor(param, args[number], stream)
                arrays[number] = tensor.array
                owners.append(tensor.owner)
        return arrays, owners

    def _borrow_tensor(self, param: BufferParam, value: Any, stream: int) -> tensors.DeviceTensor:
        if (negated := getattr(value, "is_neg", None)) is not None and negated():
            self._fail(param, "is a lazily negated view", "its memory has other values; pass value.resolve_neg()")
        try:
            tensor = tensors.borrow_tensor(value, stream)
        except (TypeError, ValueError, RuntimeError, BufferError) as error:
            reason = f"is a {type(value).__name__} that gives no array in place ({error})"
            self._fail(param, reason, "pass a plain array on the GPU")
        if "bfloat16" in (tensor.dtype, param.dtype) and tensor.dtype not in (param.dtype, "uint16"):
            self._fail(param, f"is of type {tensor.dtype}", f"{param.dtype} is needed; convert the array")
        return tensor

    def check_alignment(self, number: int, start: int, alignment: int) -> None:
        """Raise ArgumentError for a buffer that kernels access by vectors and that does not start at a multiple."""
        if start % alignment:
            param = self._buffer_params[[n for n, _ in self._buffer_params].index(number)][1]
            have = f"starts at address {start:#x}"
            self._fail(
                param, have, f"a multiple of {alignment} is needed, as the kernels use vector loads; pass a copy"
            )


def refuse_count(signature: CallSignature, count: int) -> None:
    """Raise ArgumentError for a wrong number of arguments."""
    if count != len(signature.params):
        needed = len(signature.params)
        raise ArgumentError(
            f"{signature.name} takes {needed} argument{'s' * (needed != 1)}, {count} given; it is {signature}"
        )
