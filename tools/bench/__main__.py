"""`make bench`: the numbers of the README, measured in one run on one thread. Prints a table, writes build/bench.json.

python tools/bench [--size 1024] [--rounds 7] [--out build/bench.json]
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")}


def main() -> int:
    """Start over with one thread a library when that is not set: NumPy's BLAS reads it once, when it is loaded."""
    if any(os.environ.get(key) != value for key, value in ONE_THREAD.items()):
        os.environ.update(ONE_THREAD)
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    sys.path.insert(0, str(ROOT))
    import run

    return run.main(ROOT)


if __name__ == "__main__":
    sys.exit(main())
