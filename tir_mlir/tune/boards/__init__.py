"""Boards: machines without Python or a compiler, which run candidates that are built here, over SSH."""

from tir_mlir.tune.boards.ssh_measurer import SshMeasurer, boards_of

__all__ = ["SshMeasurer", "boards_of"]
