"""Check that a release is ready, and print the commands that tag and publish it.

    python tools/release.py

The version is the same in pyproject.toml, tir_mlir/__init__.py, docs/install.md and the latest release of CHANGELOG.md,
whose sections each have a date and at most 60 lines; no such tag exists; the tree is clean. Then sdist and wheel are
built in dist/, and are of this version and have every file. Nothing is tagged or published.
"""

from __future__ import annotations

import argparse
import datetime
import email.parser
import re
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import check_wheel

LONGEST = 60
"""Lines of a section of the changelog."""
VERSIONS = {
    "pyproject.toml": r'^version = "(.+)"$',
    "tir_mlir/__init__.py": r'^__version__ = "(.+)"$',
    "docs/install.md": r"^tir-opt +(\d\S*)$",
    "CHANGELOG.md": r"^## \[(\d.*?)\]",
}
"""Where a version is stated, first."""
COMMANDS = """\
git tag -a v{version} -m 'tir_mlir {version}'
git push origin v{version}
{python} -m pip install twine
{python} -m twine check --strict dist/*
{python} -m twine upload dist/*
"""


def read_version(root: Path, file: str) -> str:
    """Return the version that a file states."""
    stated = re.search(VERSIONS[file], (root / file).read_text(), re.MULTILINE)
    return stated[1] if stated else "no version"


def find_version_faults(root: Path) -> Iterator[str]:
    """Yield which files state another version than pyproject.toml."""
    version = read_version(root, "pyproject.toml")
    if not re.fullmatch(r"\d+\.\d+\.\d+(rc\d+)?", version):
        yield f"pyproject.toml: {version!r} is not a version such as 1.2.3 or 1.2.3rc1"
    for file in VERSIONS:
        if (stated := read_version(root, file)) != version:
            yield f"{file}: {stated}, where pyproject.toml has {version}"


def find_changelog_faults(root: Path, today: datetime.date) -> Iterator[str]:
    """Yield what is wrong with the sections of the changelog."""
    dates = []
    for section in re.split(r"^(?=## )", (root / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]:
        title, *_ = lines = section.rstrip().splitlines()
        if len(lines) > LONGEST:
            yield f"CHANGELOG.md: {title!r} has {len(lines)} lines, at most {LONGEST} are allowed"
        headings = [line for line in lines if line.startswith("### ")]
        for heading in sorted({heading for heading in headings if headings.count(heading) > 1}):
            yield f"CHANGELOG.md: {title!r} has {heading!r} more than once"
        if dated := re.fullmatch(r"## \[\S+\] - (\d{4}-\d{2}-\d{2})", title):
            dates.append(datetime.date.fromisoformat(dated[1]))
        else:
            yield f"CHANGELOG.md: {title!r} is not of the form '## [1.2.3] - 2026-01-31'"
    if dates != sorted(dates, reverse=True):
        yield "CHANGELOG.md: the latest release does not come first"
    if dates and max(dates) > today:
        yield f"CHANGELOG.md: {max(dates)} is in the future"


def find_git_faults(root: Path) -> Iterator[str]:
    """Yield whether the release is tagged already, and what is not committed."""
    tag = f"v{read_version(root, 'pyproject.toml')}"
    if _run_git(root, "tag", "--list", tag):
        yield f"the tag {tag} exists"
    if changed := _run_git(root, "status", "--porcelain"):
        yield f"not committed: {', '.join(line[3:] for line in changed.splitlines())}"


def _run_git(root: Path, *command: str) -> str:
    return subprocess.run(["git", *command], cwd=root, capture_output=True, text=True, check=True).stdout


def find_distribution_faults(dist: Path, version: str) -> Iterator[str]:
    """Yield which of the sdist and the wheel is missing from a folder or of another version, and what else is there."""
    readers = {
        f"tir_mlir-{version}.tar.gz": _read_sdist_metadata,
        f"tir_mlir-{version}-py3-none-any.whl": _read_wheel_metadata,
    }
    for name in sorted({path.name for path in dist.iterdir()} - readers.keys()):
        yield f"{dist.name}/{name} is not of this release"
    for name, read in readers.items():
        if not (dist / name).is_file():
            yield f"{dist.name}/{name} is missing"
            continue
        about = email.parser.Parser().parsestr(read(dist / name))
        if (about["Name"], about["Version"]) != ("tir-mlir", version):
            yield f"{dist.name}/{name}: its metadata are of {about['Name']} {about['Version']}"


def _read_sdist_metadata(path: Path) -> str:
    with tarfile.open(path) as archive:
        member = archive.extractfile(f"{path.name.removesuffix('.tar.gz')}/PKG-INFO")
        assert member is not None, "a file, as the name says"
        return member.read().decode()


def _read_wheel_metadata(path: Path) -> str:
    with zipfile.ZipFile(path) as archive:
        return archive.read(f"{'-'.join(path.name.split('-')[:2])}.dist-info/METADATA").decode()


def main() -> int:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    root = check_wheel.ROOT
    version = read_version(root, "pyproject.toml")
    faults = [
        *find_version_faults(root),
        *find_changelog_faults(root, datetime.date.today()),
        *find_git_faults(root),
    ]
    if not faults:
        if not check_wheel.build(root / "dist"):
            faults.append("the sdist or the wheel does not have the right files")
        faults += find_distribution_faults(root / "dist", version)
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return 1
    print(f"tir_mlir {version} is ready. Tag and publish it by:\n")
    print(COMMANDS.format(version=version, python=sys.executable))
    return 0


if __name__ == "__main__":
    sys.exit(main())
