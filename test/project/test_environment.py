"""Environment variables: each is on its page and read in one place, and a wrong value is named."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from harness import ROOT

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.diagnostics import variables as door
from tir_mlir.runtime import dump, progress
from tir_mlir.runtime.cache import mapped_arrays, store
from tir_mlir.runtime.drivers.shared_libraries import openmp
from tir_mlir.runtime.tools import toolchain
from tir_mlir.runtime.workers import pool
from tir_mlir.script import parse
from tir_mlir.target.host import assumed_cpu_name

PAGE = (ROOT / "docs/reference/environment.md").read_text()
TOOLS = {toolchain.variable(name) for name in (*toolchain.TOOLS, *toolchain.SYSTEM)}
INTERNAL = {"TIR_OPT_JOURNAL"}
"""Set by the package for its own children."""


def wrong_script() -> None:
    parse("def f(:\n")


NUMBERS = ["-5", "much", "nan", "inf", "-inf", "1e999", "0x10", "5 MiB", "--1"]
WRONG: dict[str, tuple[Callable[[], object], list[str], str]] = {
    "TIR_CACHE_SIZE": (store.limit, NUMBERS, "a number of MiB that is not negative; 0 turns the cache off"),
    "TIR_WEIGHTS_SIZE": (mapped_arrays.limit, NUMBERS, "a number of MiB that is not negative; 0 keeps no weights"),
    "TIR_WORKERS": (pool.count, ["0", "-1", "2.5", "few", "nan", "9" * 5000, "²"], "a number of processes; 1 is this"),
    "TIR_PROGRESS": (progress._is_shown, ["no", "2", "-1"], "expected 0 or 1"),
    "TIR_FULL_TRACEBACK": (wrong_script, ["no", "yes", "2"], "expected 0 or 1"),
    "TIR_HOST": (assumed_cpu_name.__wrapped__, ["zen9", "-5", "avx2 "], "known: sse2"),
    "TIR_OPENMP": (openmp, ["/nowhere/libomp.so", "-5", "/tmp"], "set TIR_OPENMP to a libomp or libiomp5"),
    "TIR_DUMP": (lambda: dump.open_dump(None, "f").__enter__(), ["/proc/nowhere", "/dev/null/f"], "cannot be written"),
    "TIR_ZIG": (lambda: toolchain.find("zig"), ["/nowhere/zig", "-5"], "not a program; correct or unset the variable"),
}
WARNED = {"TIR_CACHE_DIR"}
"""Passed over with a warning, as programs run without a cache, too: `test_code_cache`, `test_cache_files`."""


def listed() -> set[str]:
    """The variables of the page."""
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    return {name for row in rows for name in re.findall(r"`(TIR_\w+)`", row)}


def test_the_table_is_of_all_variables():
    assert listed() - TOOLS == set(WRONG) - TOOLS | WARNED
    assert listed() & TOOLS


def test_each_is_read_by_the_one_door():
    named: set[str] = set()
    for folder in ("dialect", "passes", "tir_mlir"):
        for path in (ROOT / folder).rglob("*.py"):
            text = path.read_text()
            named |= set(re.findall(r'"(TIR_[A-Z_]+)"', text))
            assert not re.search(r"environ(\.get\(|\[)[\"']TIR_", text), path
    assert named - INTERNAL - TOOLS <= listed()


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, row in WRONG.items() for value in row[1]])
def test_a_wrong_value_is_named_with_what_is_expected(name, value, monkeypatch):
    read, _, expected = WRONG[name]
    monkeypatch.setenv(name, value)
    with pytest.raises(TirError) as caught:
        read()
    message = str(caught.value)
    assert expected in message
    assert name in message or value in message


@pytest.mark.parametrize("name", sorted(set(WRONG) - {"TIR_FULL_TRACEBACK", "TIR_DUMP"}))
def test_an_empty_value_is_none(name, monkeypatch):
    read, *_ = WRONG[name]
    monkeypatch.delenv(name, raising=False)
    without = read()
    monkeypatch.setenv(name, "")
    assert read() == without


@pytest.mark.parametrize(("value", "size"), [("0", 0), ("0.5", 2**19), ("1e3", 1000 * 2**20), (" 7 ", 7 * 2**20)])
def test_sizes(value, size, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_SIZE", value)
    assert store.limit() == size


@pytest.mark.parametrize(
    ("value", "default", "wanted"), [("", True, True), ("", False, False), ("0", True, False), ("1", False, True)]
)
def test_flags(value, default, wanted, monkeypatch):
    monkeypatch.setenv("TIR_PROGRESS", value)
    assert door.flag("TIR_PROGRESS", default) is (default if wanted is None else wanted)
