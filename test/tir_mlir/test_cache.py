"""The cache as a folder that is shipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

import tir_mlir
from tir_mlir import cache
from tir_mlir.dialect.diagnostics import BuildError, BuildWarning
from tir_mlir.runtime.cache import fingerprint, store


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A cache with two entries, and where it is exported to."""
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    store.save("code", "a", b"machine code")
    store.save("graphs", "b", b"a graph")
    return tmp_path / "shipped"


@pytest.fixture
def elsewhere(folder, tmp_path, monkeypatch):
    """What `export` wrote, with the cache of another machine in force, which is empty."""
    cache.export(folder)
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "other"))
    return folder


def test_what_is_exported_is_found_elsewhere(elsewhere):
    assert store.load("code", "a") is None
    done = tir_mlir.cache.load(elsewhere)
    assert done.entries == 2 and not done.passed_over and str(done).startswith("2 entries, ")
    assert store.load("code", "a") == b"machine code" and store.load("graphs", "b") == b"a graph"


def test_only_own_entries_are_exported(folder, monkeypatch):
    maker = fingerprint.maker("code")
    monkeypatch.setattr(store, "maker_of", lambda _: "0" * 16 + maker[16:])
    store.save("code", "old", b"of an older version")
    monkeypatch.undo()
    monkeypatch.setenv("TIR_CACHE_DIR", str(folder.with_name("cache")))
    done = cache.export(folder)
    assert done.entries == 2 and done.passed_over == {cache.OTHER_VERSION: 1}
    assert not (folder / "code" / "old").exists() and not (folder / "contents").exists()


def test_what_is_of_this_machine_only_stays(folder):
    store.save("contents", "here", b"")
    cache.export(folder)
    assert not (folder / "contents").exists()


@pytest.mark.parametrize("reason", [cache.OTHER_VERSION, cache.OTHER_CPU])
def test_entries_of_others_are_passed_over(elsewhere, monkeypatch, reason):
    real = fingerprint.maker

    def mine(kind: str) -> str:
        versions, _, cpu = real(kind).partition(".")
        return f"{versions}.other" if reason == cache.OTHER_CPU else f"other.{cpu}"

    monkeypatch.setattr(fingerprint, "maker", mine)
    with pytest.warns(BuildWarning, match=f"0 entries, 0.0 MiB; 2 passed over: {reason}"):
        assert cache.load(elsewhere).passed_over == {reason: 2}


DAMAGE = {
    "cut short": lambda file: file.write_bytes(file.read_bytes()[:-3]),
    "a changed byte": lambda file: file.write_bytes(file.read_bytes().replace(b"machine", b"michine")),
    "empty": lambda file: file.write_bytes(b""),
    "renamed": lambda file: file.rename(file.with_name("c")),
    "a folder": lambda file: (file.unlink(), file.mkdir()),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_passed_over(elsewhere, kind):
    DAMAGE[kind](elsewhere / "code" / "a")
    with pytest.warns(BuildWarning, match="1 passed over: damaged, cut short, or of another user"):
        assert cache.load(elsewhere).entries == 1
    assert store.load("graphs", "b") == b"a graph"


def test_a_full_disk_is_told(elsewhere, monkeypatch):
    monkeypatch.setattr(store, "put", lambda *_: False)
    with pytest.warns(BuildWarning, match="2 passed over: not stored"):
        assert cache.load(elsewhere).entries == 0


def test_refusals(elsewhere, tmp_path, monkeypatch):
    with pytest.raises(BuildError, match=r"no folder that tir_mlir.cache.export wrote"):
        cache.load(tmp_path / "nowhere")
    (tmp_path / "file").write_text("")
    store.save("code", "a", b"")
    with pytest.raises(BuildError, match="file: the cache cannot be exported there"):
        cache.export(tmp_path / "file")
    monkeypatch.setenv("TIR_CACHE_SIZE", "0.0001")
    with pytest.raises(BuildError, match="more than the cache may have; fix: TIR_CACHE_SIZE="):
        cache.load(elsewhere)
    monkeypatch.setenv("TIR_CACHE_SIZE", "0")
    with pytest.raises(BuildError, match="the cache is turned off"):
        cache.export(elsewhere)


FINGERPRINTS = "from tir_mlir.runtime.cache import fingerprint as f; print(f.maker('graphs'), f.__file__)"


@pytest.mark.nightly
@pytest.mark.slow
def test_an_installation_elsewhere_has_the_same_fingerprint_until_it_is_edited(tmp_path):
    """A copy of the package: other paths, other times, the same content."""
    copy = tmp_path / "packages" / "tir_mlir"
    shutil.copytree(
        Path(ROOT) / "tir_mlir", copy, ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copy
    )

    def maker(place: Path) -> str:
        env = {**os.environ, "PYTHONPATH": str(place), "TIR_CACHE_DIR": str(tmp_path / "cache")}
        done = subprocess.run(
            [sys.executable, "-c", FINGERPRINTS], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
        )
        name, file = done.stdout.split()
        assert file.startswith(str(place))
        return name

    assert maker(Path(ROOT)) == maker(copy.parent)
    with open(copy / "build.py", "a") as file:
        file.write("\n")
    assert maker(Path(ROOT)) != maker(copy.parent)
