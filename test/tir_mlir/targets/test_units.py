"""Functions that a program calls are compiled in modules of their own, by their content."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.build import build_by_function
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.passes.lower import LoweringWarning, lower_to_llvm
from tir_mlir.runtime import workers
from tir_mlir.target import named, native
from tir_mlir.targets import BuildOptions
from tir_mlir.targets.cpu import code_by_function
from tir_mlir.targets.cpu.code_by_function import divide

FUNCTION = """
func.func private @{name}(%X: memref<{size}xf32> {{tir.name = "X"}}, %Y: memref<{size}xf32> {{tir.name = "Y"}})
    attributes {{tir.attrs = {{global_symbol = "{name}", tir.noalias = true}}, tir.id = {id} : i64}} {{
  affine.for %i = 0 to 4 {{
    %x = affine.load %X[%i{shift}] : memref<{size}xf32>
    %y = arith.addf %x, %x : f32
    affine.store %y, %Y[%i] : memref<{size}xf32>
  }} {{tir.loop = "i"{more}, tir.id = {inner} : i64}}
  return
}}"""
MAIN = """
func.func @main(%A: memref<4xf32> {tir.name = "A"}, %B: memref<4xf32> {tir.name = "B"},
                %C: memref<4xf32> {tir.name = "C"}) {
  func.call @tir.one(%A, %B) : (memref<4xf32>, memref<4xf32>) -> ()
  func.call @tir.two(%B, %C) : (memref<4xf32>, memref<4xf32>) -> ()
  return
}"""


def function(name, first=0, shift="", more=""):
    return FUNCTION.format(name=name, size=4, shift=shift, more=more, id=first, inner=first + 1)


def program(parse, **more):
    """Two functions that double, but for what `more` is: a change of the second."""
    return parse(function("tir.one") + function("tir.two", 7, **more) + MAIN)


def quadrupled(library):
    arrays = [np.arange(4, dtype="float32"), *(np.zeros(4, "float32") for _ in range(2))]
    library(*arrays)
    return np.array_equal(arrays[2], 4 * arrays[0])


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "code"


def test_equal_functions_are_one_unit(parse):
    with enter_context():
        units = divide(program(parse))
    assert len(units) == 1 and units[0].name == "tir.one" and "tir.one" not in units[0].text


def test_the_host_has_calls_only(parse):
    module = program(parse)
    with enter_context():
        (unit,) = divide(module)
        text = str(module)
    assert text.count(f"call @{unit.symbol}") == 2 and "affine" not in text


def test_buffers_of_constant_shape_are_bare_pointers(parse):
    module = program(parse)
    with enter_context():
        (unit,) = divide(module)
        alone = parse(unit.text)
        lower_to_llvm(alone)
        lower_to_llvm(module)
        assert f"llvm.func @{unit.symbol}(%arg0: !llvm.ptr {{llvm.noalias}}, %arg1: !llvm.ptr {{llvm.noalias}})" in str(
            alone
        )
        assert f"llvm.func @{unit.symbol}(!llvm.ptr, !llvm.ptr)" in str(module)


def test_a_function_of_another_program_is_not_compiled_again(parse, monkeypatch):
    done = []
    run = workers.run
    monkeypatch.setattr(
        "tir_mlir.targets.cpu.code_by_function.run",
        lambda tasks, cache: run(tasks, cache=cache, progress=done.append),
    )
    assert quadrupled(build_by_function(program(parse)))
    build_by_function(program(parse, shift=" * 0"))
    assert [(each.label, each.cached) for each in done] == [("one", False), ("one", True), ("two", False)]


def test_entries_that_are_cut_short_are_compiled_again(parse, folder):
    assert quadrupled(build_by_function(program(parse)))
    for entry in folder.iterdir():
        entry.write_bytes(entry.read_bytes()[:-7])
    assert quadrupled(build_by_function(program(parse)))


def test_without_the_cache_nothing_is_stored(parse, folder):
    assert quadrupled(build_by_function(program(parse), BuildOptions(cache=False))) and not folder.exists()


def test_code_for_a_named_cpu_is_apart(parse):
    with enter_context():
        (unit,) = divide(program(parse))
        assert code_by_function.task(unit, [], native()).key != code_by_function.task(unit, [], named("avx2")).key


def test_a_warning_names_the_function_and_is_repeated(parse):
    for _ in range(2):
        with pytest.warns(LoweringWarning, match="annotation") as told:
            build_by_function(program(parse, more=", tir.annotations = {async_scope = 0}"))
        assert not any("unit." in str(each.message) for each in told)


def test_an_error_names_the_function(parse):
    call = "  func.call @nobody_has_this(%X) : (memref<4xf32>) -> ()\n  return"
    text = function("tir.one").replace("  return", call)
    with pytest.raises(BuildError, match="nobody_has_this"):
        build_by_function(
            parse("func.func private @nobody_has_this(memref<4xf32>)" + text + function("tir.two") + MAIN)
        )


def test_the_whole_program_is_lowered_on_demand(parse):
    library = build_by_function(program(parse))
    assert "@tir.one" in library.lowered and library.lowered == build(program(parse)).lowered


def test_the_assembly_has_the_names_of_the_program(parse):
    assembly = build_by_function(program(parse)).assembly
    assert "<tir.one>:" in assembly and "unit." not in assembly
