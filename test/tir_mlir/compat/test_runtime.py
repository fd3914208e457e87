"""Arrays, devices, targets, tvm.build and the contrib modules."""

import os
from pathlib import Path

import numpy as np
import pytest
from programs.short import each, main

import tir_mlir
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError, LoweringError, TirError

ADD = main("A:16 B:16", each("B:16", "B[vi] = A[vi] + 1.0"))


@pytest.fixture
def add(tvm):
    return tvm.IRModule({"main": tvm.script.from_source(ADD)})


def test_arrays_are_copies(tvm):
    values = np.arange(6, dtype="int32").reshape(2, 3)
    array = tvm.nd.array(values)
    values[:] = 0
    assert array.numpy().sum() == 15
    array.numpy()[:] = 0
    assert array.asnumpy().sum() == 15
    assert (array.shape, array.dtype, array.ndim, len(array), array.device) == ((2, 3), "int32", 2, 2, tvm.cpu())
    assert np.from_dlpack(array).__array_interface__["data"][0] % 64 == 0
    assert tvm.nd.array([1.0, 2.0]).dtype == "float64"
    assert tvm.runtime.tensor(array, tvm.cpu()).numpy().sum() == 15


def test_empty_arrays_of_every_kind(tvm):
    assert tvm.nd.empty((2, 3), dtype="float16", device=tvm.cpu(0)).numpy().dtype == "float16"
    assert tvm.nd.empty(4).shape == (4,)
    assert tvm.nd.empty(()).shape == ()
    assert tvm.nd.empty((0, 4)).numpy().size == 0
    half = tvm.nd.empty((3,), "bfloat16")
    assert (half.dtype, half.numpy().dtype) == ("bfloat16", "uint16")


def test_copies_between_arrays(tvm):
    a, b = tvm.nd.empty((3,)), tvm.nd.empty((3,))
    a[:] = np.array([1, 2, 3])
    assert a.copyto(b) is b
    assert b.copyto(tvm.cpu()).numpy().tolist() == [1, 2, 3]
    with pytest.raises(ArgumentError, match=r"shape \(2,\), the array \(3,\)"):
        a.copyfrom(np.zeros(2))
    with pytest.raises(ArgumentError, match="written as a whole"):
        a[0] = 1.0


def test_devices(tvm):
    assert tvm.cpu() == tvm.device("cpu", 0) == tvm.device("llvm") == tvm.runtime.cpu(0)
    assert tvm.cpu().exist and tvm.cpu().sync() is None
    with pytest.raises(ArgumentError, match="programs run on the CPU"):
        tvm.device("vulkan")
    with pytest.raises(ArgumentError, match=r"tvm\.cpu\(\)"):
        tvm.nd.empty((2,), "float32", "gpu")


def test_build_and_call(tvm, add):
    a, b = tvm.nd.array(np.ones(16, "float32")), tvm.nd.empty((16,))
    lib = tvm.build(add, target="llvm")
    lib["main"](a, b)
    tvm.testing.assert_allclose(b, np.full(16, 2.0))
    tvm.compile(tvm.tir.Schedule(add).mod, tvm.target.Target("llvm -num-cores 4")).entry_func(b, a)
    assert a.numpy()[3] == 3
    tvm.build(add["main"])(a, b)
    assert b.numpy()[3] == 4
    tir_mlir.build(add)["main"](a, b)  # without the shim's build, through DLPack
    assert b.numpy()[3] == 4
    lib.get_function("main")(np.ones(16, "float32"), b)
    assert b.numpy()[3] == 2


def test_time_evaluator(tvm, add):
    a, b = tvm.nd.array(np.ones(16, "float32")), tvm.nd.empty((16,))
    result = tvm.build(add).time_evaluator("main", tvm.cpu(), number=3, repeat=4)(a, b)
    assert len(result.results) == 4
    assert 0 < result.min <= result.median <= result.max < 1
    assert result.min <= result.mean <= result.max and result.std >= 0
    assert b.numpy()[0] == 2


def test_arguments_by_name(tvm, add):
    lib, a, b = tvm.build(add), tvm.nd.array(np.ones(16, "float32")), tvm.nd.empty((16,))
    for call in (lib, lib["main"], lib.time_evaluator("main", number=1)):
        b[:] = np.zeros(16, "float32")
        call(a, B=b)
        assert b.numpy()[0] == 2
        with pytest.raises(ArgumentError, match=r"main has no parameter 'b' \(did you mean 'B'\?\)"):
            call(a, b=b)


def test_sources_of_a_build(tvm, add, tmp_path):
    lib = tvm.build(add)
    assert "define" in lib.get_source() and "affine.for" in lib.get_source("mlir") and "main" in lib.get_source("asm")
    with pytest.raises(BuildError, match="the formats are"):
        lib.get_source("ptx")
    lib.export_library(tmp_path / "add.so")
    assert (tmp_path / "add.so").exists()


def test_targets(tvm, add):
    assert tvm.target.Target({"kind": "llvm", "mcpu": "x"}).kind == "llvm"
    with tvm.target.Target("cuda"), pytest.raises(LoweringError, match=r"nothing is bound|is not bound"):
        tvm.build(add)
    with pytest.raises(BuildError, match="no target"):
        tvm.target.Target.current(allow_none=False)
    with pytest.raises(BuildError, match="unknown GPU 'nvidia/tesla-p10'"):
        tvm.build(add, target="nvidia/tesla-p10")


def test_structural_equality(tvm, add):
    renamed, other = (
        tvm.IRModule.from_expr(tvm.script.from_source(text))
        for text in (ADD.replace("A", "X").replace("vi", "v"), ADD.replace("1.0", "2.0"))
    )
    assert tvm.ir.structural_equal(add, renamed)
    assert tvm.ir.structural_equal(add["main"], renamed["main"])
    assert not tvm.ir.structural_equal(add, other)
    tvm.ir.assert_structural_equal(add, renamed)
    with pytest.raises(tvm.TVMError, match="the programs differ: line"):
        tvm.ir.assert_structural_equal(add, other)
    assert tvm.TVMError is TirError


@pytest.mark.parametrize(
    ("lhs", "rhs", "said"),
    [
        (list(range(90)), [*range(89), 7], r"at \[89\], 89 and 7"),
        ({"a": [1, 2], "b": 3}, {"a": [1, 4], "b": 3}, r"at \['a'\], at \[1\], 2 and 4"),
        ([1], [1, 2], r"\[1\] and \[1, 2\]"),
        ([1], (1,), r"\[1\] and \(1,\)"),
    ],
)
def test_values_that_differ(tvm, lhs, rhs, said):
    """Where they differ first: cut texts of both might look alike."""
    with pytest.raises(tvm.TVMError, match=f"the programs differ: {said}"):
        tvm.ir.assert_structural_equal(lhs, rhs)


def test_tempdir(tvm):
    from tvm.contrib import utils  # type: ignore[import-not-found]

    folder = utils.tempdir()
    Path(folder.relpath("a.txt")).write_text("x")
    assert folder.listdir() == ["a.txt"]
    folder.remove()
    assert not os.path.exists(folder.path)
    with utils.tempdir() as other:
        assert os.path.isdir(other.path)
    assert not os.path.exists(other.path)


def test_create_llvm_writes_its_output(tvm):
    from tvm.contrib import clang, utils  # type: ignore[import-not-found]

    path = utils.tempdir()
    text = clang.create_llvm('extern "C" int one() { return 1; }', output=path.relpath("k.ll"))
    assert "@one" in text and Path(path.relpath("k.ll")).read_text() == text


def test_pointer_to_the_error_class(tvm, add):
    sch = tvm.tir.Schedule(add)
    (i,) = sch.get_loops("B")
    with pytest.raises(tvm.tir.ScheduleError):
        sch.split(i, factors=[3, None, None])
    assert isinstance(i, tvm.tir.schedule.LoopRV)
