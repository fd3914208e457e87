"""ZA of SME as a machine: edges by predicates, the code of a product."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs.products import widened

from tir_mlir import accel
from tir_mlir.accel import machines


def map_product(m: int, n: int, k: int, svl: int = 512) -> accel.Mapping:
    return accel.map(widened(m, n, k, "float32", "float32"), machines.sme(svl))


@pytest.mark.parametrize("svl", [128, 512])
def test_all_four_tiles_take_a_load_for_each_outer_product(svl: int) -> None:
    side = svl // 32
    mapping = map_product(4 * side, 4 * side, 32, svl)
    issued = mapping.timeline.issued
    assert (issued["fmopa"], issued["ld1w"]) == (16 * 32, 16 * 32)
    loop = mapping.source[mapping.source.rindex("for (int32_t k_") :]
    assert re.findall(r"mopa_za32_f32_m\((\d), .*, (z\d), (z\d)\)", loop[: loop.index("}")])[::3] == [
        ("0", "z0", "z2"), ("3", "z1", "z3"),
    ]  # fmt: skip


@pytest.mark.parametrize("shape", [(17, 5, 3), (1, 33, 4)])
def test_predicates_end_vectors_at_edges(shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    mapping = map_product(*shape)
    rng = np.random.default_rng(0)
    a, b = rng.integers(-9, 10, (m, k)).astype("float32"), rng.integers(-9, 10, (k, n)).astype("float32")
    c = np.zeros((m, n), "float32")
    mapping.build()(a, b, c)
    np.testing.assert_array_equal(c, a @ b)
    assert mapping.schedule.verify()
    assert mapping.function.verify()
    assert "(C_pad" not in mapping.source  # the CPU takes nothing out


@pytest.mark.slow
def test_clang_takes_the_code(tmp_path: Path) -> None:
    ziglang = pytest.importorskip("ziglang")
    zig = Path(ziglang.__file__).parent / "zig"
    (tmp_path / "product.c").write_text(map_product(64, 64, 32).source.replace("void main", "void product"))
    options = "-target aarch64-linux -mcpu=generic+sme2 -O2 -std=c99 -ffreestanding -Wall -Wextra -g0 -S -o product.s"
    subprocess.run([str(zig), "cc", *options.split(), "product.c"], cwd=tmp_path, check=True)
    loop = (tmp_path / "product.s").read_text().split("fmopa")
    assert len(loop) == 5
