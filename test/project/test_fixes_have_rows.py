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
    "kernels": ("passes/lower/gpu", "tir_mlir/gpu_build.py", "tir_mlir/runtime/gpu"),
    "steps": ("passes/schedule",),
}
"""The folders whose refusals name the fixes."""

NO_ROW = {
    "time them where there is one": "needs a GPU",
    "compute_at it inside of loop ": "the pass for buffers of blocks and threads refuses such a program before",
    'tensorize the load with "': "followed in test/passes/lower/gpu/test_matrices.py",
    "tensorize the load with one of layout ": "followed in test/passes/lower/gpu/test_matrices.py",
    "or copy by read_at": "followed in test/passes/schedule/blocks/test_stride_arguments.py",
}
"""Fixes that no table follows, and why. Text of a fix -> reason."""

NOT_YET = (
    "pass a loop around a block",
    "blockize its nest alone, or reorder its reduction loops into the nest",
    "in the program, put the condition into the block: if",
    "in the program, compute it inside the block: as an index, or a condition",
    "load all of a buffer in one layout",
    "pass the stride to the kernel, alone, multiplied by a constant or in a sum",
    "rename one of the two functions",
    "explain_tensorize lists each possible match",
    "pass the loop around the tile to tensorize, or a blockized block",
    "apply decompose_reduction at the outermost loop of the reduction, then tensorize the update",
    "split the loops by the extents of the intrinsic",
    "compute what the intrinsic computes, including types and casts",
    "in the program, write all of ",
    "in the program, put what depends on it into the body of a block",
    "in the program, access the elements one by one, under a loop T.vectorized(n)",
    "decompose_reduction moves the init into a block of its own",
    "in the program, pass the strides along, as C.strides of a T.match_buffer with strides",
    "use a map with constants, or spatial iters alone",
    "assume_injective_transform=True asserts it",
    "leave out pad_value: the padding is then undefined",
    "in the program, put the whole loop into the body of one block",
    "in the program, let a block of its own write the initial value, in place of T.init",
    "in the program, store it to a buffer with one element for each iteration",
    "of equal elements this reduction keeps one by the order in which it sees them",
    "in the program, let what follows the block in loop ",
    "in the program, put the condition into the body of the block",
    "move it before the step that excluded them",
    "pad before another block moves into its loops, or inline that one",
    "pass a reduce loop of ",
    "in the program, cast each factor to the type of the sum",
)
"""Fixes of steps from before this test that no table follows. None is added; one that gets a row is removed."""


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
    named = [*texts(kind), *NO_ROW, *NOT_YET]
    missing = [str(site) for site in fix_sites(*FOLDERS[kind]) if not any(map(site.is_named_by, named))]
    assert not missing, "fixes without a row:\n" + "\n".join(missing)


def test_what_has_no_row_is_a_fix():
    sites = [site for folders in FOLDERS.values() for site in fix_sites(*folders)]
    for text in (*NO_ROW, *NOT_YET):
        assert any(site.is_named_by(text) for site in sites), text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("give i its range", True), ("i its range, or", False), ("give its", False), ("its range", True), ("range", True)],
)
def test_a_row_names_the_fix_with_values_put_in(text, expected):
    assert FixSite("", 1, ("please give ", " its range")).is_named_by(text) == expected
