"""Public modules that moved can be imported at their old path, with a warning that names the new one."""

from __future__ import annotations

import importlib

import pytest

from tir_mlir import moved


@pytest.mark.parametrize("old", moved.MOVED)
def test_every_name_of_the_new_place_is_found_at_the_old_path(old):
    stand_in = importlib.import_module(old)
    for new in moved.MOVED[old]:
        module = importlib.import_module(new)
        name = next(n for n in vars(module) if n[0].isalpha())
        with pytest.warns(DeprecationWarning, match=f"{old} is now tir_mlir"):
            assert getattr(stand_in, name) is not None


def test_from_import_warns_at_the_users_line():
    with pytest.warns(DeprecationWarning, match="tir_mlir.dialect.errors is now tir_mlir.errors") as caught:
        from tir_mlir.dialect.errors import ScheduleError
    from tir_mlir.errors import ScheduleError as new

    assert ScheduleError is new and caught[0].filename == __file__


def test_a_name_that_was_never_there():
    with pytest.raises(ImportError, match="cannot import name 'nonsense'"):
        from tir_mlir.dialect.walk import nonsense  # noqa: F401  # pyright: ignore
