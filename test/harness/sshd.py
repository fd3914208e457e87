"""A real SSH server on this machine's loopback interface: a board for tests, with keys and a client of its own.

`ssh board` works as for a user with a Host in ~/.ssh/config: the folder `bin` has an ssh that reads another file.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tir_mlir.tune.boards.ssh_measurer import shared_connection_options

SERVER = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin:/usr/local/sbin")
NEEDED = SERVER and shutil.which("ssh") and shutil.which("ssh-keygen")
missing = pytest.mark.skipif(not NEEDED, reason="no ssh, sshd and ssh-keygen here")
PRIVATE = Path("/run/sshd")
"""What a server of the root user asks for; init scripts make it."""


@dataclass(frozen=True)
class Board:
    """A machine by the name `board` for the ssh in `bin`. cache: where it keeps arguments; log: what the server did."""

    bin: Path
    cache: Path
    log: Path

    @property
    def logins(self) -> int:
        """How many connections were opened."""
        return self.log.read_text().count("Accepted publickey")


@contextmanager
def board(folder: Path, names: tuple[str, ...] = ("board",)) -> Iterator[Board]:
    """A server whose users have the given folder, until the block ends. names: further hosts, all this one."""
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(folder / key)], check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    made = Board(folder / "bin", folder / "cache of boards", folder / "log")
    (folder / "sshd_config").write_text(_server(folder, made.cache, port))
    (folder / "config").write_text(_client(folder, port, names))
    made.bin.mkdir()
    (made.bin / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F "{folder}/config" "$@"\n')
    (made.bin / "ssh").chmod(0o755)
    if os.getuid() == 0:
        PRIVATE.mkdir(mode=0o755, exist_ok=True)
    with open(made.log, "w") as log:
        server = subprocess.Popen([str(SERVER), "-D", "-e", "-f", str(folder / "sshd_config")], stderr=log)
    try:
        _wait(port, server)
        yield made
    finally:
        for name in names:  # connections that are kept
            end = [str(made.bin / "ssh"), *shared_connection_options(), "-O", "exit", name]
            subprocess.run(end, capture_output=True, check=False)
        server.terminate()
        server.wait()


def _server(folder: Path, cache: Path, port: int) -> str:
    return f"""
        Port {port}
        ListenAddress 127.0.0.1
        HostKey "{folder}/host"
        AuthorizedKeysFile "{folder}/user.pub"
        PidFile none
        UsePAM no
        StrictModes no
        SetEnv "XDG_CACHE_HOME={cache}"
    """


def _client(folder: Path, port: int, names: tuple[str, ...]) -> str:
    return f"""
        Host {" ".join(names)}
        HostName 127.0.0.1
        Port {port}
        IdentityFile "{folder}/user"
        IdentitiesOnly yes
        StrictHostKeyChecking no
        UserKnownHostsFile "{folder}/known"
        Host gone
        HostName 127.0.0.1
        Port 9
    """


def _wait(port: int, server: subprocess.Popen[bytes]) -> None:
    """Until the server listens."""
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert server.poll() is None, "sshd ended"
        time.sleep(0.05)
    raise AssertionError("sshd does not listen")
