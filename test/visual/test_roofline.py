"""The roofline: points and roofs where the logarithms of their numbers say."""

import math

import pytest

from tir_mlir.visual import Point, roofline

SVG = "{http://www.w3.org/2000/svg}"
RUN = ("matmul", 2e9, 1e8, 0.1)  # 20 flop a byte, 20 Gflop/s


def scale(root):
    """A linear map from powers of ten to px, for both axes, from the labels of the drawing."""
    marks = {"x": {}, "y": {}}
    for e in root.iter(SVG + "text"):
        style = e.get("class") or ""
        if "tir-muted" in style and e.get("text-anchor") == "middle" and e.text.replace(".", "").isdigit():
            marks["x"][math.log10(float(e.text))] = float(e.get("x"))
        units = {"k": 3, "M": 6, "G": 9, "T": 12}
        if "tir-muted" in style and e.get("text-anchor") == "end":
            number, unit = e.text.split()
            marks["y"][math.log10(float(number)) + units[unit]] = float(e.get("y")) - 4
    return {axis: _line(sorted(points.items())) for axis, points in marks.items()}


def _line(points):
    (a, p), (b, q) = points[0], points[-1]
    return lambda power: p + (power - a) / (b - a) * (q - p)


def test_a_point_is_at_its_coordinates(parsed, shapes):
    root = parsed(roofline([RUN], peaks={"fma": 1e11}, bandwidths={"DRAM": 1e10}))
    at = scale(root)
    dot = shapes(root, "tir-point")[0]
    assert float(dot.get("cx")) == pytest.approx(at["x"](math.log10(20)), abs=0.1)
    assert float(dot.get("cy")) == pytest.approx(at["y"](math.log10(20e9)), abs=0.1)
    assert root.find(SVG + "desc").text == "matmul: 20 Gflop/s at 20 flop/byte"


def test_roofs_meet_at_the_ridge(parsed, shapes):
    root = parsed(roofline([RUN], peaks={"fma": 1e11, "scalar": 1e10}, bandwidths={"DRAM": 1e10, "L1": 1e12}))
    at = scale(root)
    ends = [[tuple(map(float, p.split(","))) for p in e.get("points").split()] for e in shapes(root, "tir-roof")]
    assert len(ends) == 4
    ridge = at["x"](math.log10(1e11 / 1e10)), at["y"](11)
    assert ends[0][1] == pytest.approx(ridge, abs=0.1)  # DRAM reaches the highest peak at 10 flop a byte
    assert ends[2][0] == pytest.approx((at["x"](-1), at["y"](11)), abs=0.1)  # the peak starts at the steepest slope
    for (x1, y1), (x2, y2) in ends[:2]:  # a slope of one: a decade up for a decade across
        across, up = at["x"](1) - at["x"](0), at["y"](10) - at["y"](9)
        assert (y2 - y1) / (x2 - x1) == pytest.approx(up / across, rel=0.01)


def test_names_do_not_lie_on_one_another(parsed):
    runs = [(f"run {n}", 2e9, 1e8, 0.1 + n / 1e4) for n in range(4)]
    root = parsed(roofline(runs, {"fma": 1e11}, {"DRAM": 1e10}))
    lines = [float(e.get("y")) for e in root.iter(SVG + "text") if e.text.startswith("run ")]
    assert len(lines) == 4 and all(b - a >= 13 for a, b in zip(sorted(lines), sorted(lines)[1:], strict=False))


def test_refused():
    with pytest.raises(ValueError, match="at least one peak"):
        roofline([RUN], {}, {"DRAM": 1e10})
    with pytest.raises(ValueError, match="matmul: seconds must be a positive number, not 0"):
        roofline([("matmul", 2e9, 1e8, 0)], {"fma": 1e11}, {"DRAM": 1e10})
    with pytest.raises(ValueError, match="the bandwidth DRAM must be a positive number"):
        roofline([RUN], {"fma": 1e11}, {"DRAM": -1.0})
    assert Point("p", 10, 5, 2).rate == 5 and Point("p", 10, 5, 2).intensity == 2
