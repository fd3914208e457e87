"""Functions for tests of worker processes: bytes -> bytes."""

from __future__ import annotations

import os
import time

from tir_mlir.dialect.ir.memo import given_operations


def process(payload: bytes) -> bytes:
    """The payload and the process that computed it, after as many CPU milliseconds as the payload says first."""
    end = time.thread_time() + 1e-3 * int(payload.split()[0])
    while time.thread_time() < end:
        sum(range(100))
    return b"%s %d" % (payload, os.getpid())


def fails_elsewhere(payload: bytes) -> bytes:
    """Die in a process other than the one that the payload names; raise in that one if the payload ends in !."""
    if os.getpid() != int(payload.split()[0]):
        os._exit(1)
    if payload.endswith(b"!"):
        raise ValueError(payload.decode())
    return payload


def crashes_elsewhere(payload: bytes) -> bytes:
    """Abort a process other than the one that the payload names, as LLVM does."""
    if os.getpid() != int(payload.split()[0]):
        os.abort()
    time.sleep(0.1)
    return payload


def raises_elsewhere(payload: bytes) -> bytes:
    """Raise an error in a process other than the one that the payload names."""
    if os.getpid() != int(payload.split()[0]):
        raise ValueError("elsewhere")
    return payload


def setting(payload: bytes) -> bytes:
    """The value of a variable of the environment; 30 ms."""
    time.sleep(0.03)
    return os.environ.get(payload.decode().split()[0], "").encode()


def operations(payload: bytes) -> bytes:
    """The budget that `tir_mlir.budget` gives here, and the process; 30 ms."""
    time.sleep(0.03)
    return b"%d %d" % (given_operations() or 0, os.getpid())
