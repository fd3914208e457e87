"""AMX as a machine: its configuration in a model in C, the code of products, and what it costs."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest
from programs.products import widened

from tir_mlir import accel
from tir_mlir.accel import machines
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import tir as T

MODEL = machines.c_model("amx").read_text()


def packed_product(m: int, n: int, k: int):
    """A product whose right operand has four terms of a column beside each other."""

    @T.prim_func
    def main(A: T.Buffer((m, k // 4, 4), "uint8"), B: T.Buffer((k // 4, n, 4), "int8"), C: T.Buffer((m, n), "int32")):
        for i, j, r, s in T.grid(m, n, k // 4, 4):
            with T.block("C"):
                vi, vj, vk, vt = T.axis.remap("SSRR", [i, j, r, s])
                with T.init():
                    C[vi, vj] = 0
                C[vi, vj] += T.Cast("int32", A[vi, vk, vt]) * T.Cast("int32", B[vk, vj, vt])

    return main


def test_the_model_has_the_functions_of_the_header() -> None:
    assert machines.amx().header.removeprefix("#include <immintrin.h>") in MODEL


def test_rows_that_are_not_those_of_tilecfg_are_found() -> None:
    wrong = MODEL.replace("config[48 + tile] = (uint8_t)rows", "config[48 + tile] = (uint8_t)(rows / 2)")
    assert "R[8, 0, 0], row 0 of tiles, column 512, is 0" in str(machines.amx().check(wrong, only=["tileloadd"]))


def test_four_tiles_of_sums_take_a_load_for_each_product() -> None:
    mapping = accel.map(packed_product(64, 64, 256), machines.amx())
    assert mapping.timeline.issued == {
        "ldtilecfg": 1, "tilezero": 16, "tileloadd": 32, "tileloadd_unsigned": 32, "tdpbusd": 64, "tilestored": 16,
    }  # fmt: skip
    loop = mapping.source[mapping.source.index("for (int32_t r_0") :]
    body = re.findall(r"_tile_(\w+)\((\d)(?:, (\d), (\d)\);)?", loop[: loop.index("}")])
    assert [name for name, *_ in body] == ["loadd"] * 4 + ["dpbusd"] * 4
    assert {tuple(map(int, numbers)) for name, *numbers in body if name == "dpbusd"} == {
        (0, 4, 6), (1, 4, 7), (2, 5, 6), (3, 5, 7),
    }  # fmt: skip


def test_loads_are_hidden_behind_products() -> None:
    timeline = accel.map(packed_product(64, 64, 256), machines.amx()).timeline
    assert timeline.utilization("tmul") > 0.9


def test_the_code_computes_the_product(tmp_path: Path) -> None:
    m, n, k = 33, 20, 70
    source = accel.map(widened(m, n, k, "int8", "int32"), machines.amx()).source
    (tmp_path / "product.c").write_text(
        MODEL
        + source.replace("#include <immintrin.h>", "")
        .replace(machines.amx().header.replace("#include <immintrin.h>", "").strip(), "")
        .replace("void main", "void product")
    )
    c_tools.compile_c(tmp_path / "product.c", tmp_path / "product.o", "-w")
    c_tools.link_shared([str(tmp_path / "product.o")], str(tmp_path / "product.so"), [])
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int32)
    ctypes.CDLL(str(tmp_path / "product.so")).product(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c)))
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("k", [1, 3, 64, 66])
def test_terms_are_in_groups_of_four(k: int) -> None:
    mapping = accel.map(widened(16, 16, k, "int8", "int32"), machines.amx())
    assert "vk is in groups of 4, whose terms amx.tdpbssd adds at once" in str(mapping)
    assert mapping.schedule.verify()


def test_a_plain_product_packs_each_operand_once() -> None:
    source = accel.map(widened(33, 20, 70, "int8", "int32"), machines.amx()).source
    assert re.findall(r"on the CPU: (\w+) -> (\w+)", source) == [
        ("A", "A_pad_global_pad"), ("B", "B_pad_global_pad"), ("C_pad", "C"),
    ]  # fmt: skip
