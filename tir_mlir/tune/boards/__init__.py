"""Boards: machines without Python or a compiler, which run candidates that are built here, over SSH."""

from tir_mlir.tune.boards.ssh_runner import SshRunner, boards_of

__all__ = ["SshRunner", "boards_of"]
