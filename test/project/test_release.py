"""The check of a release: the files of this checkout agree, and each fault is named."""

from __future__ import annotations

import datetime
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from harness import ROOT

import check_wheel
import release

TODAY = datetime.date(2026, 3, 1)
FILES = {
    "pyproject.toml": '[project]\nversion = "1.2.0"\n',
    "tir_mlir/__init__.py": '__version__ = "1.2.0"\n',
    "docs/install.md": "tir-opt         1.2.0\n",
    "CHANGELOG.md": "# Changelog\n\n## [1.2.0] - 2026-02-28\n\n### Added\n\n- A.\n\n## [1.1.0] - 2026-01-01\n\n- B.\n",
}


@pytest.fixture
def root(tmp_path) -> Path:
    """A checkout of a release that is ready."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def edit(path: Path, old: str, new: str) -> None:
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))


def test_this_checkout_states_one_version_and_has_short_sections():
    assert list(release.find_version_faults(ROOT)) == []
    unreleased = "CHANGELOG.md: '## [Unreleased]' is not of the form '## [1.2.3] - 2026-01-31'"
    assert {*release.find_changelog_faults(ROOT, datetime.date.max)} <= {unreleased}


def test_a_release_that_is_ready(root):
    assert [*release.find_version_faults(root), *release.find_changelog_faults(root, TODAY)] == []


@pytest.mark.parametrize("name", ["tir_mlir/__init__.py", "docs/install.md", "CHANGELOG.md"])
def test_a_file_with_another_version(root, name):
    edit(root / name, "1.2.0", "1.2.1")
    assert list(release.find_version_faults(root)) == [f"{name}: 1.2.1, where pyproject.toml has 1.2.0"]


def test_a_version_of_another_form(root):
    for name in FILES:
        edit(root / name, "1.2.0", "1.2")
    assert list(release.find_version_faults(root)) == [
        "pyproject.toml: '1.2' is not a version such as 1.2.3 or 1.2.3rc1"
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("- 2026-02-28", "", "'## [1.2.0] ' is not of the form '## [1.2.3] - 2026-01-31'"),
        ("2026-02-28", "2026-03-02", "2026-03-02 is in the future"),
        ("2026-02-28", "2025-02-28", "the latest release does not come first"),
        ("- A.", "- A.\n\n### Added", "'## [1.2.0] - 2026-02-28' has '### Added' more than once"),
        ("- B.", "- B.\n" * 60, "'## [1.1.0] - 2026-01-01' has 62 lines, at most 60 are allowed"),
    ],
)
def test_a_changelog_with_a_fault(root, old, new, fault):
    edit(root / "CHANGELOG.md", old, new)
    assert list(release.find_changelog_faults(root, TODAY)) == [f"CHANGELOG.md: {fault}"]


def test_a_tag_that_exists_and_a_tree_that_is_not_clean(root):
    about = ["-c", "user.name=a", "-c", "user.email=a@b.example"]
    for command in (["init", "-q"], ["add", "."], [*about, "commit", "-qm", "All"]):
        subprocess.run(["git", *command], cwd=root, check=True)
    assert list(release.find_git_faults(root)) == []
    subprocess.run(["git", *about, "tag", "-a", "v1.2.0", "-m", "1.2.0"], cwd=root, check=True)
    edit(root / "pyproject.toml", "[project]", "[project] ")
    (root / "new.py").touch()
    assert list(release.find_git_faults(root)) == ["the tag v1.2.0 exists", "not committed: pyproject.toml, new.py"]


def pack(dist: Path, version: str, stated: str) -> None:
    """Write an sdist and a wheel with metadata alone."""
    metadata = f"Metadata-Version: 2.4\nName: tir-mlir\nVersion: {stated}\n\nThe page.\n".encode()
    with tarfile.open(dist / f"tir_mlir-{version}.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo(f"tir_mlir-{version}/PKG-INFO")
        member.size = len(metadata)
        archive.addfile(member, io.BytesIO(metadata))
    with zipfile.ZipFile(dist / f"tir_mlir-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"tir_mlir-{version}.dist-info/METADATA", metadata)


def test_distributions(tmp_path):
    dist = tmp_path / "dist"
    dist.mkdir()
    sdist, wheel = "dist/tir_mlir-1.2.0.tar.gz", "dist/tir_mlir-1.2.0-py3-none-any.whl"
    assert list(release.find_distribution_faults(dist, "1.2.0")) == [f"{sdist} is missing", f"{wheel} is missing"]
    pack(dist, "1.2.0", "1.2.0")
    assert list(release.find_distribution_faults(dist, "1.2.0")) == []
    (dist / "notes.txt").touch()
    pack(dist, "1.2.0", "1.1.0")
    assert list(release.find_distribution_faults(dist, "1.2.0")) == [
        "dist/notes.txt is not of this release",
        f"{sdist}: its metadata are of tir-mlir 1.1.0",
        f"{wheel}: its metadata are of tir-mlir 1.1.0",
    ]


@pytest.mark.nightly
def test_the_command(monkeypatch, capsys):
    """The wheel of this checkout, whatever git says of it, and although there is what is not released."""
    monkeypatch.setattr("sys.argv", ["release.py"])
    monkeypatch.setattr(release, "find_git_faults", lambda root: iter(()))
    monkeypatch.setattr(release, "find_changelog_faults", lambda root, today: iter(()))
    assert release.main() == 0
    version = release.read_version(check_wheel.ROOT, "pyproject.toml")
    assert f"git tag -a v{version}" in capsys.readouterr().out
