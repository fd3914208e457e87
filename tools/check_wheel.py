"""Check that the sdist, its wheel and an editable install contain every file of the package.

    python tools/check_wheel.py [--dist FOLDER]

Catches files of any kind that `[tool.setuptools.package-data]` does not list.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("tir_mlir", "dialect", "passes")  # the last two are installed in the first
# in the sdist, beside the package
BESIDE = {"LICENSE", "CHANGELOG.md", "README.md", "SECURITY.md", "pyproject.toml", "setup.py"}
LEFT_BEHIND = ("__pycache__", ".ruff_cache", ".mypy_cache", ".ipynb_checkpoints")

# run by the Python of an editable install, away from the checkout
_EDITABLE = """
import importlib.metadata, os, sys, tir_mlir.sources
for name in sys.stdin.read().splitlines():
    if not os.path.isfile(tir_mlir.sources.path(name.removeprefix("tir_mlir/"))):
        print(name)
about = importlib.metadata.metadata("tir-mlir")
about["License-Expression"] or sys.exit("no license in the metadata")
"](docs/" in about.get_payload() and sys.exit("the page of the package has links that are relative")
"""


def sources() -> set[str]:
    """Return the paths of the required files, relative to the checkout's root."""
    paths = set()
    for top in FOLDERS:
        for folder, folders, names in os.walk(ROOT / top):
            folders[:] = [name for name in folders if name not in LEFT_BEHIND]
            paths |= {(Path(folder) / name).relative_to(ROOT).as_posix() for name in names if name not in FOLDERS}
    return {path for path in paths if not path.endswith(".pyc")}


def installed() -> set[str]:
    """Return the paths of the required files where they are installed."""
    return {path if path.startswith("tir_mlir/") else f"tir_mlir/{path}" for path in sources()}


def check(what: str, held: set[str], wanted: set[str], roots: tuple[str, ...]) -> bool:
    """Return whether a distribution contains all required files, and none outside of `roots`."""
    missing = sorted(wanted - held)
    stray = sorted(name for name in held if not name.startswith(roots))
    for name in missing:
        print(f"{what}: {name} is missing", file=sys.stderr)
    for name in stray:
        print(f"{what}: {name} is unexpected", file=sys.stderr)
    print(f"{what}: {len(held)} files, {len(missing)} missing, {len(stray)} unexpected")
    return not missing and not stray


def build(out: Path) -> bool:
    """Empty a folder and write the sdist and the wheel built from it there; return whether they contain every file."""
    shutil.rmtree(out, ignore_errors=True)
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools would also pack deleted files
    command = [sys.executable, "-m", "build", "--outdir", str(out), str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stdout[-2000:] + done.stderr)
    (sdist,) = out.glob("*.tar.gz")
    (wheel,) = out.glob("*.whl")
    with tarfile.open(sdist) as archive:
        packed = {m.name.partition("/")[2] for m in archive.getmembers() if m.isfile()}
    beside = (*BESIDE, "MANIFEST.in", "PKG-INFO", "setup.cfg", "tir_mlir.egg-info/")
    whole = check("sdist", packed, sources() | BESIDE, (*(f"{folder}/" for folder in FOLDERS), *beside))
    names = zipfile.ZipFile(wheel).namelist()
    (info,) = {name.partition("/")[0] for name in names} - {"tir_mlir"}
    return check("wheel", set(names), installed() | {f"{info}/licenses/LICENSE"}, ("tir_mlir/", f"{info}/")) and whole


def editable(out: Path) -> bool:
    """Return whether an editable install in a fresh environment finds every file."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(out)], check=True)
    python = out / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", "-e", str(ROOT)], check=True)
    wanted = installed()
    asked = subprocess.run(
        [str(python), "-c", _EDITABLE], input="\n".join(wanted), text=True, capture_output=True, cwd=out, check=False
    )
    if asked.returncode:
        sys.exit(f"editable: {asked.stderr}")
    return check("editable", wanted - set(asked.stdout.splitlines()), wanted, ("tir_mlir/",))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dist", type=Path, help="write sdist and wheel to this folder, emptied first")
    dist = parser.parse_args().dist
    with tempfile.TemporaryDirectory() as folder:
        results = [build(dist or Path(folder, "dist")), editable(Path(folder, "venv"))]
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
