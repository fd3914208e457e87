"""Our schedules beside Triton's text for the same problems: what they execute, and predicted times.

    python tools/beside_triton.py [--gpu A100] [PART OF A NAME ...]

Needs Triton (the `nightly` extra), no GPU.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    sys.path[:0] = [str(ROOT), str(ROOT / "test")]
    from programs.beside_triton import PROBLEMS, side_by_side  # pyright: ignore[reportMissingImports]

    from tir_mlir.ptx.comparison import compare

    parser = argparse.ArgumentParser("python tools/beside_triton.py")
    parser.add_argument("names", nargs="*", help="parts of names of problems; default: all")
    parser.add_argument("--gpu", help="the GPU whose time is predicted; default A100")
    options = parser.parse_args()
    for name in PROBLEMS:
        if not options.names or any(part in name for part in options.names):
            print(f"\n{name}: {compare(side_by_side(name, options.gpu))}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
