"""Kernels as SPIR-V: its words, and what Intel's OpenCL makes of them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

import pytest
from harness import intel_opencl
from programs.bound import BOUND, elementwise, matmul, softmax

from tir_mlir import build
from tir_mlir.errors import BuildError, DeviceError
from tir_mlir.target import OPENCL, OpenCL

ENTRY_POINT, EXECUTION_MODE, CAPABILITY, FUNCTION_END, BARRIER, SHUFFLE = 15, 16, 17, 56, 224, 346
LOCAL_SIZE, SUB_GROUP_SIZE, SUB_GROUPS = 17, 35, 4


def instructions(data: bytes) -> Iterator[tuple[int, tuple[int, ...]]]:
    """(opcode, operands) of a module. Checks its header, and that its lengths fill it."""
    words = struct.unpack(f"<{len(data) // 4}I", data)
    magic, version, _, bound, schema = words[:5]
    assert (magic, version, schema) == (0x07230203, 0x00010400, 0) and bound > 1
    at = 5
    while at < len(words):
        length, opcode = words[at] >> 16, words[at] & 0xFFFF
        assert length and at + length <= len(words)
        yield opcode, words[at + 1 : at + length]
        at += length


def words_of(name: str, target: OpenCL, folder) -> list[tuple[int, tuple[int, ...]]]:
    (path,) = build(BOUND[name].schedule(), target=target).export(folder / "f.spv")
    return list(instructions(path.read_bytes()))


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.few(3)
def test_the_words(name, tmp_path):
    found = words_of(name, OPENCL, tmp_path)
    kernels = [operands for opcode, operands in found if opcode == ENTRY_POINT]
    assert len(kernels) == (2 if name == "two kernels" else 1)
    assert all(struct.pack("<3I", *operands[2:5]).startswith(b"main_kernel") for operands in kernels)
    assert [opcode for opcode, _ in found].count(FUNCTION_END) == len(kernels)


def test_a_kernel_says_its_block_and_its_sub_groups(tmp_path):
    found = words_of("softmax", OpenCL(warp=32), tmp_path)
    modes = {operands[1]: operands[2:] for opcode, operands in found if opcode == EXECUTION_MODE}
    assert modes[LOCAL_SIZE] == (32, 1, 1) and modes[SUB_GROUP_SIZE] == (32,)
    assert {BARRIER, SHUFFLE} <= {opcode for opcode, _ in found}


def test_without_sub_groups_nothing_is_shuffled(tmp_path):
    opcodes = [opcode for opcode, _ in words_of("softmax", OPENCL, tmp_path)]
    assert BARRIER in opcodes and SHUFFLE not in opcodes


def test_the_assembly_is_its_text():
    text = build(matmul(), target="opencl").assembly
    assert re.search(r'OpEntryPoint Kernel %\d+ "main_kernel"', text) and "LocalSize 8 8 1" in text


def test_sub_groups_in_opencl_c():
    text = build(softmax(), target=OpenCL(warp=32)).source
    assert "__attribute__((intel_reqd_sub_group_size(32)))" in text and "sub_group_shuffle_xor(" in text


def test_a_device_without_spirv_is_named():
    pytest.importorskip("pyopencl")
    with pytest.raises(DeviceError, match=r"takes no SPIR-V; fix: target.OPENCL, whose kernels are OpenCL C"):
        BOUND["elementwise"].check(build(elementwise(), target=OpenCL(spirv=True)))


def test_sub_groups_of_other_sizes_are_refused():
    with pytest.raises(BuildError, match="a sub-group of OpenCL has 8, 16, 32 threads, not 48"):
        OpenCL(warp=48)


@pytest.fixture(scope="module")
def by_intel(tmp_path_factory) -> dict[str, str]:
    if not intel_opencl.LIBRARY.exists():
        pytest.skip(intel_opencl.MISSING)
    return intel_opencl.results(tmp_path_factory.mktemp("opencl"))


@pytest.mark.nightly
@pytest.mark.parametrize("spirv", [False, True])
@pytest.mark.parametrize("warp", [1, 32])
@pytest.mark.parametrize("name", BOUND)
def test_intel_runs(by_intel, name, warp, spirv):
    assert by_intel[f"{name} warp {warp} spirv {spirv}"] == ""
