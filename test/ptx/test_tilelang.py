"""What TileLang compiles runs on the machine, and computes what NumPy does."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from harness import ROOT

from tir_mlir import ptx

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(
        not (find_spec("tilelang") and find_spec("nvidia")),
        reason="needs TileLang, nvidia-cuda-nvrtc, -runtime, -cccl",
    ),
]


def compile_product(n: int, depth: int, arch: str) -> str:
    """The PTX of a product, compiled by a process of its own: TileLang and tir_mlir.compat each have a `tvm`."""
    command = [sys.executable, "-m", "programs.tilelang_kernels", str(n), str(depth), arch]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT / "test").stdout


def product(arch: str, depth: int) -> tuple[np.ndarray, np.ndarray, ptx.Report]:
    """What a product gives, what it should, and the report."""
    n = 256
    (kernel,) = (module := ptx.parse(compile_product(n, depth, arch))).kernels.values()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, (n, n)).astype(np.float16) for _ in range(2))
    c = np.zeros((n, n), np.float32)
    by_maps = kernel.parameters[0].bytes == 128
    operands = [ptx.TensorMap(a, (128, 64), 128), ptx.TensorMap(b, (64, 64), 128)] if by_maps else [a, b]
    shared = 3 * 2 * 128 * depth * 2
    report = ptx.launch(module, kernel.name, (2, 2), kernel.block, [*operands, c], shared, unwritten=[2])
    return c, a.astype(np.float32) @ b.astype(np.float32), report


def test_a_pipeline_of_cp_async():
    c, expected, report = product("sm_80", 32)
    np.testing.assert_array_equal(c, expected)
    assert report.bank_conflicts == 0


def test_tensor_copies_by_warps_of_their_own():
    c, expected, report = product("sm_90a", 64)
    np.testing.assert_array_equal(c, expected)
    assert any(kind.startswith("wgmma.mma_async") for kind in report.instructions)
