"""Code is loaded only on a CPU that has what its kernels need, and that the system lets the process use."""

from __future__ import annotations

import ctypes
from pathlib import Path

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import main, sblock

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.drivers import cpu_needs, jit, link_kernels
from tir_mlir.runtime.kernels import emit, needed_by, register_kernel
from tir_mlir.runtime.tools import toolchain
from tir_mlir.target.host import features, has_tiles, machine_features

KERNEL = """
llvm.func @{name}(%a: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %seven = llvm.mlir.constant(7.0 : f32) : f32
  llvm.store %seven, %a : f32, !llvm.ptr
  llvm.return %zero : i32
}}
"""
PROGRAM = main(
    "A:1",
    sblock(
        "root", "", "T.reads()", "T.writes(A[0])", "T.evaluate(T.call_extern('int32', '{name}', A.access_ptr('w')))"
    ),
)


def program(name: str, *needs: str):
    register_kernel(name, lambda: emit(KERNEL.format(name=name)), override=True, needs=needs)
    return parse(PROGRAM.format(name=name))


def test_words_of_linux():
    program("needs_words", "avx512_vnni", "amx_int8", "avx512bf16")
    assert needed_by("needs_words") == ("avx512vnni", "amx-int8", "avx512bf16")


def test_build_names_kernel_and_feature():
    with pytest.raises(BuildError, match="kernel of 'needs_much' uses nosuch, which the target CPU lacks; schedule"):
        build(program("needs_much", "nosuch"))


def test_a_feature_that_is_there():
    a = np.zeros(1, "float32")
    build(program("needs_little", sorted(features())[0]))(a)
    assert a[0] == 7


@pytest.mark.parametrize("cached", [False, True])
def test_cached_code_on_a_cpu_that_lacks_it(monkeypatch, tmp_path, cached):
    """The code of another CPU, in a folder that both share."""
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    mine = program("needs_here", sorted(features())[0])
    if cached:
        build(mine)
    for module in (cpu_needs, link_kernels):
        monkeypatch.setattr(module, "features", lambda: frozenset({"other"}))
    with pytest.raises(BuildError, match=r"kernel of 'needs_here' uses .*, which the target CPU lacks"):
        build(mine)


def test_needs_that_are_added_later():
    """Code in the cache does not know them."""
    build(program("needs_later"))
    with pytest.raises(BuildError, match="kernel of 'needs_later' uses nosuch"):
        build(program("needs_later", "nosuch"))


def test_loading_names_kernel_feature_and_way_out():
    code = jit.Compiled(b"", [], [], False, [], needs=[["some", "amx-tile9"], ["some", "amx-int9"]])
    text = "kernel of 'some' uses amx-tile9, amx-int9, which this CPU lacks, .*; schedule for a target without it"
    with pytest.raises(BuildError, match=text):
        jit.Jit(code, [])


def test_needs_are_in_the_cache_entry():
    code = jit.Compiled(b"x", [1], [], False, [], needs=[["some", "avx2"]])
    assert jit.Compiled.from_bytes(code.to_bytes()) == code


def test_the_system_may_refuse_tiles(monkeypatch):
    monkeypatch.setattr(cpu_needs, "features", lambda: frozenset({"amx-tile"}))
    monkeypatch.setattr(cpu_needs, "tile_refusal", lambda: "Operation not permitted")
    with pytest.raises(BuildError, match=r"Linux does not let this process use .* AMX \(Operation not permitted\)"):
        cpu_needs.require([["some", "amx-tile"]])
    monkeypatch.setattr(cpu_needs, "tile_refusal", lambda: "")
    cpu_needs.require([["some", "amx-tile"]])


@pytest.mark.parametrize("supported", [False, True])
def test_tiles_that_the_system_does_not_support(monkeypatch, supported):
    of_machine = machine_features.__wrapped__
    monkeypatch.setitem(of_machine.__globals__, "cpu_features", lambda: "flags : avx2 amx_tile amx_int8")
    monkeypatch.setitem(of_machine.__globals__, "has_tiles", lambda: supported)
    assert of_machine() == {"avx2", *(["amx-tile", "amx-int8"] if supported else [])}
    assert isinstance(has_tiles(), bool)


def test_asking_for_tiles_is_harmless():
    assert (cpu_needs.tile_refusal() == "") == (cpu_needs.tile_refusal.__wrapped__() == "")
    if "amx-tile" not in machine_features():
        assert cpu_needs.tile_refusal()


def test_exported_code_asks_when_it_is_loaded(tmp_path):
    try:
        toolchain.find("zig")
    except toolchain.MissingTool:
        pytest.skip("no C compiler")
    source = Path(cpu_needs.__file__).with_name("tile_permission.c")
    made = tmp_path / "asks.so"
    toolchain.run("zig", ["cc", "-c", "-O2", "-fPIC", str(source), "-o", str(tmp_path / "asks.o")])
    toolchain.run("zig", ["ld.lld", "-shared", str(tmp_path / "asks.o"), "-o", str(made)])
    ctypes.CDLL(str(made))
