"""Programs to be drawn, and how a drawing is read back."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable

import pytest

from tir_mlir import Schedule
from tir_mlir.script import tir as T  # noqa: N812
from tir_mlir.visual import Picture

SVG = "{http://www.w3.org/2000/svg}"


@T.prim_func
def matmul(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def scaled(a: T.handle, b: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, 64))
    B = T.match_buffer(b, (n, 64))
    for i, j in T.grid(n, 64):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0


@T.prim_func
def triangle(A: T.Buffer((8, 8), "float32"), B: T.Buffer((8, 8), "float32")):
    for i, j in T.grid(8, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            T.where(j <= i)
            B[vi, vj] = A[vj, vi]


@T.prim_func
def deep(A: T.Buffer((8, 32, 64), "float32"), B: T.Buffer((512,), "float32"), D: T.Buffer((4, 8, 32, 64), "float32")):
    for i, j, k in T.grid(8, 32, 64):
        with T.block("A"):
            vi, vj, vk = T.axis.remap("SSS", [i, j, k])
            A[vi, vj, vk] = B[vi * 64 + vk] + D[1, vi, vj, vk]


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
