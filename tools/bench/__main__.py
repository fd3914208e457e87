"""`make bench`: measure tir_mlir against NumPy's BLAS and the installed ones of MKL, PyTorch and TVM, and against a
roofline.

Print a table; write build/bench.json, build/bench-details.json and build/bench.svg.

    python tools/bench [--only PATTERN] [--threads 1 2] [--seconds 4] [--minutes 18] [--costs] [--tune] [--llm]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    sys.path.insert(0, str(ROOT))
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # it takes minutes: a file shows how far it is
    import run

    return run.main(ROOT)


if __name__ == "__main__":
    sys.exit(main())
