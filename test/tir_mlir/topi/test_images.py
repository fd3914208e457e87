"""Padding and images of other sizes beside torch and NumPy."""

import math
from fractions import Fraction

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir import topi
from tir_mlir.topi import nn

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
interpolate = torch.nn.functional.interpolate


@pytest.mark.parametrize("size", [(14, 18), (3, 4), (10, 5), (1, 1), (7, 9)])
@pytest.mark.parametrize("corners", [False, True])
def test_linear(size, corners):
    x = random(2, 3, 7, 9)
    mode = "align_corners" if corners else "half_pixel"
    wanted = interpolate(torch.tensor(x), size, mode="bilinear", align_corners=corners).numpy()
    got = run(topi.image.resize2d, x, size=size, coordinate_transformation_mode=mode)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("size", [(14, 18), (3, 4), (10, 5)])
def test_nearest(size):
    x = random(1, 2, 7, 9)
    attrs = {"method": "nearest_neighbor", "rounding_method": "floor"}
    got = run(topi.image.resize2d, x, size=size, coordinate_transformation_mode="asymmetric", **attrs)
    np.testing.assert_array_equal(got, interpolate(torch.tensor(x), size, mode="nearest").numpy())
    exact = run(topi.image.resize2d, x, size=size, method="nearest_neighbor")
    np.testing.assert_array_equal(exact, interpolate(torch.tensor(x), size, mode="nearest-exact").numpy())


def _places(n: int, m: int, mode: str) -> list[Fraction]:
    if mode == "align_corners":
        return [Fraction(i * (n - 1), max(m - 1, 1)) for i in range(m)]
    return [Fraction(i * n, m) if mode == "asymmetric" else Fraction((2 * i + 1) * n - m, 2 * m) for i in range(m)]


ROUNDINGS = {
    "round": round,  # Python's: ties to even
    "round_prefer_floor": lambda p: math.ceil(p - Fraction(1, 2)),
    "round_prefer_ceil": lambda p: math.floor(p + Fraction(1, 2)),
    "floor": math.floor,
    "ceil": math.ceil,
}


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("mode", ["asymmetric", "half_pixel", "align_corners"])
def test_each_rounding_of_the_nearest_place(mode, rounding):
    """Sizes with ties: at even and odd places, and where the image is whole times as large."""
    for n, m in ((6, 4), (10, 4), (12, 8), (3, 5), (10, 5), (4, 8), (3, 9), (5, 9)):
        x = np.arange(n * n, dtype="float32").reshape(1, 1, n, n)
        named = "floor" if rounding == "round" and mode == "asymmetric" and m % n == 0 else rounding
        at = [min(max(ROUNDINGS[named](p), 0), n - 1) for p in _places(n, m, mode)]
        attrs = {"method": "nearest_neighbor", "rounding_method": rounding, "coordinate_transformation_mode": mode}
        got = run(topi.image.resize2d, x, size=(m, m), **attrs)
        np.testing.assert_array_equal(got, x[:, :, at][:, :, :, at], err_msg=f"{n} -> {m}")


def test_channels_last():
    x = random(1, 2, 5, 6)
    wanted = interpolate(torch.tensor(x), (9, 3), mode="bilinear").numpy().transpose(0, 2, 3, 1)
    turned = np.ascontiguousarray(x.transpose(0, 2, 3, 1))
    got = run(topi.image.resize2d, turned, size=(9, 3), layout="NHWC")
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=2e-6)


def test_upsampling():
    x = random(2, 3, 4, 5)
    wanted = x.repeat(2, 2).repeat(3, 3)
    got = run(nn.upsampling, x, scale_h=2, scale_w=3, shapes=[(2, 3, "h", "w")], like=wanted)
    np.testing.assert_array_equal(got, wanted)
    smooth = run(nn.upsampling, x, scale_h=2, scale_w=2, method="bilinear")
    np.testing.assert_allclose(
        smooth, interpolate(torch.tensor(x), scale_factor=2, mode="bilinear").numpy(), rtol=1e-5, atol=2e-6
    )


@pytest.mark.parametrize("mode", ["constant", "reflect", "edge"])
def test_pad(mode):
    x = random(2, 5, 4)
    before, after = (0, 2, 1), (0, 1, 3)
    more = {"constant_values": 2.5} if mode == "constant" else {}
    wanted = np.pad(x, list(zip(before, after, strict=True)), mode, **more)
    got = run(nn.pad, x, pad_before=before, pad_after=after, pad_value=2.5, pad_mode=mode)
    np.testing.assert_array_equal(got, wanted)


def test_pad_a_symbolic_size():
    x = random(5, 3)
    wanted = np.pad(x, ((1, 2), (0, 1)))
    got = run(nn.pad, x, pad_before=(1, 0), pad_after=(2, 1), shapes=[("n", 3)], like=wanted)
    np.testing.assert_array_equal(got, wanted)


def test_negative_padding_cuts_off():
    x = random(4, 6)
    got = run(nn.pad, x, pad_before=(-1, 2), pad_after=(1, -3))
    np.testing.assert_array_equal(got, torch.nn.functional.pad(torch.tensor(x), (2, -3, -1, 1)).numpy())
