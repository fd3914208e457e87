"""Code objects for GPUs of AMD, checked by their assembly and their file: nothing here runs them."""

from __future__ import annotations

import re

import pytest
from programs.bound import BOUND, elementwise, matmul

from tir_mlir import build, target
from tir_mlir.dialect.diagnostics import BuildError


@pytest.mark.parametrize(("chip", "fma"), [("gfx942", r"v_(pk_)?fma"), ("gfx1100", r"v_(dual_)?fma")])
def test_a_product(chip, fma):
    text = build(matmul(128, 64, 16, 4, 4), target=chip).assembly
    assert f'.amdgcn_target "amdgcn-amd-amdhsa--{chip}"' in text
    assert re.search(fma, text)
    assert "s_barrier" in text or "s_waitcnt" in text
    assert ".group_segment_fixed_size: 8192" in text  # two tiles of 64 x 16 floats
    assert ".vgpr_spill_count: 0" in text
    assert ".max_flat_workgroup_size: 256" in text


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BOUND)
def test_all_kernels_have_code(name):
    assert ".amdhsa_kernel main_kernel" in build(BOUND[name].schedule(), target="gfx942").assembly


def test_the_code_object(tmp_path):
    (path,) = build(elementwise(), target=target.ROCM("gfx1100")).export(tmp_path / "f.hsaco")
    data = path.read_bytes()
    assert data[:4] == b"\x7fELF"
    assert int.from_bytes(data[18:20], "little") == 224  # EM_AMDGPU
    assert b"main_kernel.kd" in data


def test_what_cannot_be_asked():
    with pytest.raises(BuildError, match="unknown GPU of AMD 'gfx1'; known: 'gfx90a', "):
        target.ROCM("gfx1")
    lib = build(elementwise(), target="gfx942")
    with pytest.raises(BuildError, match=r'experimental, and not called from here; fix: lib.export."f.hsaco"'):
        lib()
    with pytest.raises(BuildError, match=r"a file \.so is not for a GPU of AMD"):
        lib.export("f.so")
