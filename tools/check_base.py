"""Install the wheel without extras into a fresh environment, and run tools/base_programs.py there.

    python tools/check_base.py [--python PYTHON ...] [--keep FOLDER]

Runs once per interpreter; default: the current one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def check(python: str, wheel: Path, folder: Path) -> bool:
    """Return whether a base installation for an interpreter passes; print its size."""
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    own = str(folder / "bin" / "python")
    pip = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, str(wheel)], check=True)
    print(f"{python}: {_size(folder) / 2**20:.0f} MiB", flush=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith(("TIR_", "PYTHONPATH"))}
    env |= {"TIR_CACHE_DIR": str(folder / "cache"), "PATH": os.defpath}
    return (
        subprocess.run([own, str(ROOT / "tools" / "base_programs.py")], cwd=folder, env=env, check=False).returncode
        == 0
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", help="an interpreter; may be repeated")
    parser.add_argument("--keep", type=Path, help="keep the environments in this folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--no-deps", "-w", folder]
        subprocess.run([*command, str(ROOT)], check=True)
        (wheel,) = Path(folder).glob("*.whl")
        home = options.keep or Path(folder)
        pythons = options.python or [sys.executable]
        return 0 if all([check(p, wheel, home / f"base-{n}") for n, p in enumerate(pythons)]) else 1


if __name__ == "__main__":
    sys.exit(main())
