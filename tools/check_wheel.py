"""Build the wheel and check that it holds every Python file of the package, the linked folders included."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def sources() -> set[str]:
    """Paths, from the checkout's root, of the files the wheel must hold."""
    found = set()
    for folder, _, names in os.walk(ROOT / "tir_mlir", followlinks=True):
        found |= {
            (Path(folder) / name).relative_to(ROOT).as_posix()
            for name in names
            if name.endswith((".py", ".mlir", ".c", ".ll"))
        }
    return found


def main() -> int:
    shutil.rmtree(ROOT / "build" / "lib", ignore_errors=True)  # setuptools would pack files deleted since
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", out]
        subprocess.run([*command, str(ROOT)], check=True)
        (wheel,) = Path(out).glob("*.whl")
        packed = set(zipfile.ZipFile(wheel).namelist())
    missing = sorted(sources() - packed)
    stray = sorted(name for name in packed if not name.startswith(("tir_mlir/", "tir_mlir-")))
    for name in missing:
        print(f"wheel: {name} is missing", file=sys.stderr)
    for name in stray:
        print(f"wheel: {name} does not belong to the package tir_mlir", file=sys.stderr)
    print(f"wheel: {len(packed)} files, {len(missing)} missing, {len(stray)} stray")
    return 1 if missing or stray else 0


if __name__ == "__main__":
    sys.exit(main())
