"""Tensor maps as the driver is asked for them."""

import ctypes
from types import SimpleNamespace

import pytest

from tir_mlir.errors import DeviceError
from tir_mlir.runtime.drivers import tensor_maps
from tir_mlir.runtime.drivers.device_driver import TensorMapLayout
from tir_mlir.runtime.drivers.tensor_maps import TensorMaps

LAYOUT = TensorMapLayout("float16", (128, 64, 96), (1, 32, 64), 128)


def asked(status=0):
    """A driver's library, and what it is asked for."""
    calls = []

    def encode(to, *rest):
        type_, rank, array, *numbers = rest
        lists = [list(part._obj) for part in numbers[:4]]
        calls.append((to.value, type_, rank.value, array.value, lists, numbers[4:]))
        return status

    return SimpleNamespace(cuTensorMapEncodeTiled=encode), calls


def test_the_last_dimension_is_the_first_for_the_driver():
    library, calls = asked()
    address = TensorMaps(library).address(4096, LAYOUT)
    ((to, type_, rank, array, lists, rest),) = calls
    assert to == address and address % 64 == 0
    assert (type_, rank, array) == (6, 3, 4096)
    assert lists == [[96, 64, 128], [192, 192 * 64], [64, 32, 1], [1, 1, 1]]
    assert rest == [0, 3, 2, 0]  # no interleave, 128 bytes, 128 bytes of L2, zeros outside


def test_a_map_is_made_once(monkeypatch):
    library, calls = asked()
    maps = TensorMaps(library)
    assert maps.address(4096, LAYOUT) == maps.address(4096, LAYOUT)
    assert len(calls) == 1
    monkeypatch.setattr(tensor_maps, "KEPT", 1)
    maps.address(8192, LAYOUT)
    maps.address(4096, LAYOUT)
    assert len(calls) == 3


def test_a_vector_has_no_strides():
    library, calls = asked()
    TensorMaps(library).address(0, TensorMapLayout("bfloat16", (512,), (64,), 0))
    assert calls[0][1] == 9 and calls[0][4][0] == [512]


def test_what_the_driver_refuses():
    with pytest.raises(DeviceError, match=r"makes no tensor map of an array at 0x8, .*: error 1"):
        TensorMaps(asked(1)[0]).address(8, LAYOUT)
    with pytest.raises(DeviceError, match="no cuTensorMapEncodeTiled: it is too old"):
        TensorMaps(ctypes.CDLL(None)).address(16, LAYOUT)
