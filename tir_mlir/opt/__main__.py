"""`python -m tir_mlir.opt`."""

import sys

from tir_mlir.opt.driver import main

sys.exit(main())
