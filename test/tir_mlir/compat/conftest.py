"""The hook is in place for the tests here and gone after each."""

import pytest


@pytest.fixture(autouse=True)
def tvm():
    """tir_mlir's tvm."""
    import tir_mlir.compat

    tir_mlir.compat.install()
    import tvm  # type: ignore[import-not-found]

    yield tvm
    tir_mlir.compat.uninstall()
