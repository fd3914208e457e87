"""What others put into a folder of the cache: links, pipes, files without an end; and folders that others may write."""

from __future__ import annotations

import os

import pytest

from tir_mlir.dialect.diagnostics import BuildWarning
from tir_mlir.runtime.cache import mapped_arrays, running_builds, store
from tir_mlir.runtime.tools import files, toolchain

NAME = "0" * 32


@pytest.fixture
def folder(tmp_path, monkeypatch):
    place = tmp_path / "cache"
    place.mkdir(mode=0o700)
    monkeypatch.setenv("TIR_CACHE_DIR", str(place))
    return place


@pytest.fixture
def victim(tmp_path):
    path = tmp_path / "victim"
    path.write_text("precious")
    return path


def test_a_claim_does_not_write_through_a_link(folder, victim):
    (folder / "functions").mkdir()
    (folder / "functions" / f"new-claim-{NAME}").symlink_to(victim)
    with running_builds.claim_entry("functions", NAME):
        assert victim.read_text() == "precious"


def test_a_note_of_a_build_does_not_write_through_a_link(folder, victim):
    (folder / "crashes").mkdir()
    (folder / "crashes" / f"{NAME}.{os.getpid()}.lower").symlink_to(victim)
    with running_builds.record_build(NAME, "text of the program"):
        assert victim.read_text() == "precious"


@pytest.mark.parametrize("file", ["a.so", "a.o"])
def test_an_export_does_not_write_through_a_link(tmp_path, victim, file):
    (tmp_path / f".{file}.{os.getpid()}").symlink_to(victim)
    (tmp_path / file).symlink_to(victim)
    files.write_whole({tmp_path / file: b"data"})
    assert victim.read_text() == "precious" and (tmp_path / file).read_bytes() == b"data"


def a_pipe(path):
    os.mkfifo(path)


def an_endless_file(path):
    path.symlink_to("/dev/zero")


def a_huge_file(path):
    with path.open("wb") as file:
        file.truncate(1 << 40)


def a_folder(path):
    path.mkdir()


@pytest.mark.parametrize("kind", ["code", mapped_arrays.KIND])
@pytest.mark.parametrize("make", [a_pipe, an_endless_file, a_huge_file, a_folder])
def test_what_is_not_a_file_of_the_cache_is_not_read(folder, kind, make):
    (folder / kind).mkdir()
    make(folder / kind / NAME)
    assert (mapped_arrays if kind == mapped_arrays.KIND else store).load(
        *([NAME] if kind == mapped_arrays.KIND else [kind, NAME])
    ) is None


@pytest.mark.parametrize("make", [a_pipe, an_endless_file, a_huge_file])
def test_a_claim_that_is_not_a_file_does_not_count(folder, make):
    (folder / "functions").mkdir()
    make(folder / "functions" / f"new-claim-{NAME}")
    with running_builds.claim_entry("functions", NAME) as is_free:
        assert is_free


@pytest.mark.parametrize("name", ["x.y.z", "1.lower", f"{'9' * 40}.lower", "12.other"])
def test_a_note_with_another_name_is_no_crash(folder, name):
    (folder / "crashes").mkdir()
    (folder / "crashes" / f"{NAME}.{name}").write_text("")
    assert running_builds.earlier_crash(NAME) is None


@pytest.mark.parametrize(("mode", "who"), [(0o777, "every user"), (0o1777, "every user"), (0o770, "the group")])
def test_a_folder_that_others_may_write_is_not_used(folder, tmp_path, monkeypatch, mode, who):
    folder.chmod(mode)
    monkeypatch.setattr(files, "_is_own_group", lambda number: False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "other"))
    toolchain._writable.cache_clear()
    with pytest.warns(BuildWarning, match=f"is not used: {who}.* may write to it; fix: `chmod go-w"):
        assert toolchain.cache_folder() == tmp_path / "other" / "tir_mlir"
    assert (tmp_path / "other" / "tir_mlir").stat().st_mode & 0o777 == 0o700


def test_a_folder_of_another_user_is_not_used(folder, tmp_path, monkeypatch):
    uid = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: uid + 1)
    folder.chmod(0o700)
    if not uid:  # what root owns is trusted
        os.chown(folder, 4321, 0)
    assert files.other_writers(folder).startswith("the user ")


def test_a_group_of_its_only_member_is_that_user(folder, monkeypatch):
    folder.chmod(0o770)
    monkeypatch.setattr(files, "_is_own_group", lambda number: number == folder.stat().st_gid)
    assert files.other_writers(folder) == ""
