"""`make demo`: the demo from a checkout; `python -m tir_mlir.examples.demo` is the same after pip install."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tir_mlir.examples.demo import main

sys.exit(main())
