"""`tir-opt`: read a module, run passes, print it."""


def main() -> int:
    """Run `tir-opt` on the arguments of the command line; the exit code."""
    from tir_mlir.opt.driver import main as run  # loads MLIR: not before it is asked for

    return run()
