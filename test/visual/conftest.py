"""Programs to be drawn, and how a drawing is read back."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest
from programs.short import each, program

from tir_mlir import Schedule
from tir_mlir.visual import Picture

SVG = "{http://www.w3.org/2000/svg}"


matmul = program(
    "A:64x64 B:64x64 C:64x64", each("C i:64 j:64 k:64R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
)
scaled = program("A:nx64 B:nx64", each("B i:n j:64", "B[vi, vj] = A[vi, vj] * 2.0"))
triangle = program("A:8x8 B:8x8", each("B:8x8", "B[vi, vj] = A[vj, vi]", where="j <= i"))
deep = program("A:8x32x64 B:512 D:4x8x32x64", each("A:8x32x64", "A[vi, vj, vk] = B[vi * 64 + vk] + D[1, vi, vj, vk]"))


@pytest.fixture
def programs() -> dict[str, object]:
    return {"matmul": matmul, "scaled": scaled, "triangle": triangle, "deep": deep}


@pytest.fixture
def tiled() -> Schedule:
    """A product in tiles of 16 x 16, parallel over rows of tiles, vectors along columns."""
    sch = Schedule(matmul)
    i, j, k = sch.get_loops("C")
    i_0, i_1 = sch.split(i, [None, 16])
    j_0, j_1 = sch.split(j, [None, 16])
    sch.reorder(i_0, j_0, k, i_1, j_1)
    sch.parallel(i_0)
    sch.vectorize(j_1)
    return sch


@pytest.fixture
def parsed() -> Callable[[Picture], ET.Element]:
    """The root of a picture's SVG, which must be well-formed, stand by itself and say its size."""

    def parse(picture: Picture) -> ET.Element:
        root = ET.fromstring(picture.svg)
        assert root.tag == SVG + "svg" and root.get("role") == "img" and root.find(SVG + "title") is not None
        width, height = float(root.get("width", 0)), float(root.get("height", 0))
        assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}" and width > 0 and height > 0
        assert "http" not in picture.svg.replace("http://www.w3.org/2000/svg", "")
        return root

    return parse


@pytest.fixture
def texts() -> Callable[[ET.Element], list[str]]:
    """The texts of a drawing in order."""
    return lambda root: [e.text or "" for e in root.iter(SVG + "text")]


@pytest.fixture
def shapes() -> Callable[[ET.Element, str], list[ET.Element]]:
    """The shapes that have a class."""
    return lambda root, name: [e for e in root.iter() if name in (e.get("class") or "").split()]
