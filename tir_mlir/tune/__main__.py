"""`python -m tir_mlir.tune FILE.py --trials 64`."""

import sys

from tir_mlir.tune.tune_command import main

if __name__ == "__main__":
    sys.exit(main())
