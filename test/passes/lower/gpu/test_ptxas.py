"""The PTX of kernels, as NVIDIA's assembler takes it: for two chips, without registers spilled to memory."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from programs import gpu_programs

from tir_mlir import Schedule, build

PROGRAMS: dict[str, Callable[[], Schedule]] = {
    "added": lambda: gpu_programs.added(127),
    "added_symbolic": gpu_programs.added_symbolic,
    "transposed_symbolic": gpu_programs.transposed_symbolic,
    "transposed": lambda: gpu_programs.transposed(64),
    "two_nests": lambda: gpu_programs.two_nests(256),
    "row_sums_by_threads": lambda: gpu_programs.row_sums_by_threads(8, 256),
    "row_sums_by_factors": lambda: gpu_programs.row_sums_by_factors(8, 256),
    "softmax": lambda: gpu_programs.softmax(4, 256),
    "product_by_virtual_threads": lambda: gpu_programs.product_by_virtual_threads(32),
    "convolution": gpu_programs.convolution,
    "product": lambda: gpu_programs.product(4096, 4096, 4096),
}


def assembled(ptx: str, chip: str, folder: Path) -> str:
    """What the assembler says of a text: registers, spills."""
    package = find_spec("nvidia.cuda_nvcc") if find_spec("nvidia") else None
    if package is None or not package.submodule_search_locations:
        pytest.skip("the assembler of NVIDIA (nvidia-cuda-nvcc-cu12) is not installed")
    source = folder / "kernels.ptx"
    source.write_text(ptx)
    tool = Path(next(iter(package.submodule_search_locations)), "bin", "ptxas")
    command = [tool, f"-arch={chip}", "-v", source, "-o", folder / "kernels.cubin"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return run.stderr


@pytest.mark.few(2)
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_assembler_takes_it(name, chip, tmp_path):
    text = assembled(build(PROGRAMS[name](), target=chip).assembly, chip, tmp_path)
    spills = re.findall(r"(\d+) bytes spill (?:stores|loads)", text)
    assert spills and set(spills) == {"0"}


def test_a_product_keeps_its_sums_in_registers(tmp_path):
    lib = build(gpu_programs.product(4096, 4096, 4096), target="sm_80")
    registers = int(re.findall(r"Used (\d+) registers", assembled(lib.assembly, "sm_80", tmp_path))[0])
    assert 64 < registers <= 128  # four blocks of 128 threads a multiprocessor
    counts = [lib.assembly.count(name) for name in ("ld.global.nc.v4.b32", "st.global.v4.b32", "fma.rn.f32")]
    assert counts == [6, 16, 64 * 16]  # the terms of a tile are unrolled
    assert ".local" not in lib.assembly
