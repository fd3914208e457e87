"""Public modules that moved can be imported at their old path, with a warning that names the new one."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from tir_mlir import moved


@pytest.mark.parametrize("old", moved.MOVED)
def test_every_name_of_the_new_place_is_found_at_the_old_path(old):
    for new in moved.MOVED[old]:
        module, inner = importlib.import_module(new), ""
        if not (names := [n for n in vars(module) if n[0].isalpha()]):  # a package whose door has no names
            inner = "." + next(pkgutil.iter_modules(module.__path__)).name
            names = [n for n in vars(importlib.import_module(new + inner)) if n[0].isalpha()]
        with pytest.warns(DeprecationWarning, match=f"{old}{inner} is now tir_mlir"):
            assert getattr(importlib.import_module(old + inner), names[0]) is not None


def test_from_import_warns_at_the_users_line():
    with pytest.warns(DeprecationWarning, match="tir_mlir.dialect.errors is now tir_mlir.errors") as caught:
        from tir_mlir.dialect.errors import ScheduleError
    from tir_mlir.errors import ScheduleError as new

    assert ScheduleError is new and caught[0].filename == __file__


def test_modules_of_a_moved_package():
    from tir_mlir.runtime.kernels.registry import emit as new

    with pytest.warns(DeprecationWarning, match="tir_mlir.intrin.kernels.registry is now tir_mlir.runtime.kernels.reg"):
        from tir_mlir.intrin.kernels.registry import emit
    assert emit is new
    with pytest.raises(ModuleNotFoundError, match=r"tir_mlir.intrin.kernels.nonsense"):
        importlib.import_module("tir_mlir.intrin.kernels.nonsense")


def test_graphs_are_written_with_the_words_at_their_old_path():
    with pytest.warns(DeprecationWarning, match="tir_mlir.script.relax is now tir_mlir.graph.script"):
        from tir_mlir.script import relax as R

        @R.function
        def main(x: R.Tensor((4,), "float32")):
            gv = R.nn.relu(x)
            return gv

    assert "R.nn.relu(x)" in main.script()


def test_a_name_that_was_never_there():
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from tir_mlir.dialect.walk import nonsense  # noqa: F401  # pyright: ignore
