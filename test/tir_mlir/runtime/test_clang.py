import pytest

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.runtime.drivers import link_kernels
from tir_mlir.runtime.drivers.clang import create_llvm


def test_c_and_cpp_give_portable_text_that_imports(tmp_path):
    out = tmp_path / "temp.ll"
    text = create_llvm('extern "C" float twice(float x) { return x + x; }', output=str(out))
    assert out.read_text() == text
    assert "define" in text and "@twice" in text and "target-cpu" not in text and "ubsan" not in text
    with enter_context():
        assert "llvm.func" in str(link_kernels.import_llvm(text))
        assert "llvm.func" in str(link_kernels.import_llvm(str(out)))
    assert "@plain(" in create_llvm("int plain(int x) { return -x; }")


def test_options_and_includes():
    source = "#include <math.h>\nfloat f(float x) { return expf(x) * SCALE; }"
    assert "@expf" in create_llvm(source, options=["-DSCALE=2"])
    assert create_llvm(source, options="-DSCALE=2") != create_llvm(source, options="-DSCALE=3")


def test_a_compile_error_shows_clangs_lines():
    with pytest.raises(BuildError, match=r"kernel.cc:1:\d+: error: .*retrun"):
        create_llvm('extern "C" int f(int x) { retrun x; }')


def test_neither_source_nor_file():
    with pytest.raises(BuildError, match="neither C source"):
        create_llvm("missing.c")


def test_text_that_is_no_llvm_ir():
    with enter_context(), pytest.raises(BuildError, match="this LLVM IR cannot be read"):
        link_kernels.import_llvm("define nonsense\n{")
    with enter_context(), pytest.raises(BuildError, match=r"neither LLVM IR text nor a .ll file"):
        link_kernels.import_llvm("nowhere.ll")
