"""A warm process for the FileCheck tests: `python server.py SOCKET` imports tir-opt once and forks for each run.

Nearly all the time of a short `tir-opt` is its start: Python, MLIR, islpy, NumPy. A run here is a fork of a process that
has all of them loaded, so it starts in milliseconds, and it is as separate from other runs as a process of its own: a
crash, a changed environment or a registered intrinsic ends with it. `client.py` sends the arguments, the directory, the
environment and the three standard streams, and waits for the exit code.
"""

from __future__ import annotations

import atexit
import marshal
import os
import runpy
import signal
import socket
import sys
import tempfile
import traceback

import tir_mlir.compat
import tir_mlir.testing  # noqa: F401  loaded for the scripts
from tir_mlir.opt import driver, graph_passes  # noqa: F401
from tir_mlir.passes import linalg, lower, schedule  # noqa: F401  every pass is loaded

REQUEST = 1 << 20


def serve(path: str) -> None:
    """Fork for every connection, until the process that started this one is gone."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the runs here: their clients do
    parent = os.getppid()
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listening:
        listening.bind(path)
        listening.listen(64)
        listening.settimeout(2)
        while os.getppid() == parent:
            try:
                connection, _ = listening.accept()
            except TimeoutError:
                continue
            if os.fork() == 0:
                listening.close()
                connection.setblocking(True)
                _run(connection)
            connection.close()


def _run(connection: socket.socket) -> None:
    """Be the process that the client asked for; never returns."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    data, streams, _, _ = socket.recv_fds(connection, REQUEST, 3)
    kind, argv, directory, environment = marshal.loads(data)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(directory)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None  # it may be another one here
    sys.argv = argv
    me = os.getpid()
    code = _code(kind, argv)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # a reader that is gone, a full disk: what Python exits with then
            code = code or 120
    if os.getpid() == me:  # else this is a child that tir-opt forked for itself, and its parent speaks to the client
        connection.send(bytes([code & 255]))
    os._exit(code & 255)


def _code(kind: str, argv: list[str]) -> int:
    """The exit code of `tir-opt ARGS` or of `python SCRIPT ARGS`."""
    try:
        if kind == "tir-opt":
            return driver.main()
        sys.path[0] = os.path.dirname(argv[0])
        runpy.run_path(argv[0], run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:  # noqa: BLE001  shown as Python shows it
        traceback.print_exc()
        return 1
    return 0


if __name__ == "__main__":
    serve(sys.argv[1])
