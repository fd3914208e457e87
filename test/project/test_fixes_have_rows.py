"""Each fix that a refusal of a step or a kernel names has a row in a table of fixes, which follows it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from harness.fix_sites import FixSite, fix_sites

TESTS = Path(__file__).resolve().parents[1]
TABLES = {"kernels": ("passes/lower/gpu/fixes",), "steps": ("passes/schedule/fixes",)}
"""The folders of tests with tables of fixes."""
FOLDERS = {
    "kernels": ("passes/lower/gpu", "tir_mlir/targets/kernels.py", "tir_mlir/runtime/gpu"),
    "steps": ("passes/schedule",),
}
"""The folders whose refusals name the fixes."""

NO_ROW = {
    "time them where there is one": "needs a GPU",
    "compute_at it inside of loop ": "the pass for buffers of blocks and threads refuses such a program before",
    'tensorize the load with "': "followed in test/passes/lower/gpu/test_matrices.py",
    "tensorize the load with one of layout ": "followed in test/passes/lower/gpu/test_matrices.py",
    "split the loops by factors that fit the instruction": "followed in test/tir_mlir/accel/test_machine.py",
    "pass access_ptr and strides of the parameter to a kernel": "the instructions of machines do",
    "declare the buffer without strides": "a parameter without them is in every test of a machine",
    "compute it by arithmetic": "followed in test/tir_mlir/accel/test_host_code.py",
    "or copy by read_at": "followed in test/passes/schedule/blocks/test_stride_arguments.py",
}
"""Fixes that no table follows, and why. Text of a fix -> reason."""


def _module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"table_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look up their module
    spec.loader.exec_module(module)
    return module


def _texts(value: object) -> Iterator[str]:
    """The fixes that the rows of a table name."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)
    elif isinstance(value, dict):
        yield from _texts(list(value.values()))
    elif isinstance(fix := getattr(value, "fix", None), str):
        yield fix.partition("fix: ")[2] or fix
    elif isinstance(fixes := getattr(value, "fixes", None), tuple):
        yield from fixes


def texts(kind: str) -> list[str]:
    paths = [path for folder in TABLES[kind] for path in sorted((TESTS / folder).glob("test_*.py"))]
    return [text for path in paths for value in vars(_module(path)).values() for text in _texts(value)]


@pytest.mark.parametrize("kind", FOLDERS)
def test_each_fix_has_a_row(kind):
    named = [*texts(kind), *NO_ROW]
    missing = [str(site) for site in fix_sites(*FOLDERS[kind]) if not any(map(site.is_named_by, named))]
    assert not missing, "fixes without a row:\n" + "\n".join(missing)


def test_what_has_no_row_is_a_fix():
    sites = [site for folders in FOLDERS.values() for site in fix_sites(*folders)]
    for text in NO_ROW:
        assert any(site.is_named_by(text) for site in sites), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("give i its range", True), ("i its range, or", False), ("give its", False), ("its range", True), ("range", True)],
)
def test_a_row_names_the_fix_with_values_put_in(text, expected):
    assert FixSite("", 1, ("please give ", " its range")).is_named_by(text) == expected
