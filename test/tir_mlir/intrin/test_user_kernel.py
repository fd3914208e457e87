"""A kernel of the user's: a built-in one in its place gives a warning; `TensorIntrin.check(kernel=)` checks it."""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tir_mlir import TensorIntrin, build, create_llvm
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.examples.matmul import schedule_matmul, tmm16_desc, tmm16_impl
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.runtime.drivers.link_kernels import import_llvm
from tir_mlir.runtime.kernels.outer_product import outer_product
from tir_mlir.runtime.kernels.registry import built_in_kernel, emit, replaced_kernels
from tir_mlir.target.host import host

SOURCE = """
extern "C" int NAME(float *cc, float *aa, float *bb, int stride_a, int stride_b, int stride_c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 16; ++k)
        cc[i * stride_c + j] += aa[i * stride_a + k] * bb[j * stride_b + k] EXTRA;
  return 0;
}
"""


def source(name: str = "tmm16", extra: str = "") -> str:
    return SOURCE.replace("NAME", name).replace("EXTRA", extra)


def warned(kernel: str | None, build: Callable[..., Any] = build) -> list[str]:
    """The texts of the warnings of a build of the chapter's program; all are at the line of the build."""
    sch = schedule_matmul(32, 32, 32, kernel)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        build(sch)
    assert all(w.category is LoweringWarning and w.filename == __file__ for w in found)
    return [str(w.message) for w in found]


def test_the_kernel_of_the_user_runs_without_a_warning():
    assert warned(create_llvm(source())) == []


@pytest.mark.parametrize("_", ["built", "from the cache"])
@pytest.mark.parametrize("call", [build, importlib.import_module("tir_mlir.build")], ids=["function", "module"])
def test_a_misspelt_kernel_is_named(call, _: str):
    (text,) = warned(create_llvm(source("tmm_16")), call)
    assert "calls 'tmm16'" in text and "defines 'tmm_16'" in text and "built-in kernel 'tmm16' runs" in text
    assert text.endswith("rename the function of the source to tmm16")


def test_a_name_of_cpp_is_explained():
    code = 'extern "C" int other(void) { return 1; }\n' + source().replace('extern "C" ', "")
    (text,) = warned(create_llvm(code))
    assert "'other'" in text and 'declare it extern "C": _Z5tmm16' in text


def test_a_program_that_imports_no_kernel():
    (text,) = warned(None)
    assert "calls 'tmm16' and brings no code for it: the built-in kernel 'tmm16' runs instead of it" in text
    assert "pragma_import_llvm" in text


def test_a_registered_kernel_is_the_choice_of_the_user():
    own = partial(emit, outer_product("tmm16", 16, 16, 16, host()))
    with replaced_kernels({"tmm16": own}):
        assert warned(None) == []
    with built_in_kernel("tmm16"):
        assert warned(None) == []
    assert len(warned(None)) == 1


@pytest.fixture
def intrinsic() -> None:
    TensorIntrin.register("tmm16", tmm16_desc, tmm16_impl, override=True)


def as_mlir(code: str) -> str:
    with enter_context():
        return str(import_llvm(create_llvm(code)))


@pytest.mark.parametrize("form", [str, create_llvm, as_mlir])
def test_the_kernel_of_the_user_is_checked(intrinsic: None, form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert TensorIntrin.check("tmm16", kernel=form(source()))
        wrong = TensorIntrin.check("tmm16", kernel=form(source(extra="+ 1.0f")))
        assert not wrong and "the description gives" in str(wrong) and "with the given kernel" in str(wrong)
        assert TensorIntrin.check("tmm16")  # of the built-in kernel, as before


def test_a_kernel_in_a_file_is_checked(intrinsic: None, tmp_path):
    path = tmp_path / "kernel.cc"
    path.write_text(source(extra="* 2.0f"))
    assert not TensorIntrin.check("tmm16", kernel=str(path))


@pytest.mark.parametrize("form", [str, create_llvm, as_mlir])
def test_a_kernel_of_another_name_is_not_checked(intrinsic: None, form):
    with pytest.raises(BuildError, match="the kernel defines tmm_16, and the implementation calls tmm16"):
        TensorIntrin.check("tmm16", kernel=form(source("tmm_16")))
