"""`python -m tir_mlir`: versions of the toolchain, and what else can be run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

EPILOG = """commands:
  python -m tir_mlir.examples.demo    a product mapped to an instruction, every step shown and timed
  tir-opt, python -m tir_mlir.opt     schedule primitives, lowering and upstream passes on a file
  python -m tir_mlir.ptx              PTX of any compiler, run on NumPy arrays, with its races and bad accesses"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments, by default those of the process. Returns the exit code."""
    parser = argparse.ArgumentParser(
        "python -m tir_mlir",
        description="TensorIR on upstream MLIR, a Python package: import tir_mlir.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the versions of the toolchain, and exit")
    if not parser.parse_args(argv).version:
        parser.print_help()
        return 0
    from tir_mlir.opt.driver import toolchain_versions

    print(toolchain_versions().rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
