"""`python -m tir_mlir.compat FILE.py [args]`: run a program written for TVM's TensorIR."""

from __future__ import annotations

import sys

from tir_mlir.compat.run import main

sys.exit(main(sys.argv[1:]))
