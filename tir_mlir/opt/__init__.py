"""The `tir-opt` driver: parse a module, run a pipeline of primitives and lowering passes, print the result."""


def main() -> int:
    """Run `tir-opt` on the arguments of the command line; the exit code."""
    from tir_mlir.opt.driver import main as run  # loads MLIR: import late

    return run()
