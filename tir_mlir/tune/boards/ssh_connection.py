"""Commands on another machine, by the program `ssh`. Nothing listens there but its SSH server."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.trials.outcome import MachineLost

PROGRAM = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10")
"""No password is asked for, no host waited for long, a connection that is lost is noticed within half a minute."""
LOST = 255
"""The exit code of ssh for errors of its own."""
LONGEST = 107 - len("/") - 40 - len(".0123456789abcdef")
"""Bytes of the name of a folder of sockets: that of a socket has at most 107, and ssh adds a hash and a suffix."""


@dataclass(frozen=True)
class SshConnection:
    """A machine by its name for ssh: `pi@board7`, or a Host of ~/.ssh/config. program: instead of ssh and options."""

    host: str
    program: tuple[str, ...] = ()

    def run(self, command: str, given: bytes = b"", seconds: float = 60.0) -> tuple[int, bytes, str]:
        """Run a command of the shell there: its exit code, what it printed, what it printed as errors.

        Raises MachineLost if the machine cannot be reached, or does not answer within `seconds`; TuneError without ssh.
        """
        start = [*(self.program or (*PROGRAM, *shared())), self.host, f"sh -c {shlex.quote(command)}"]
        with tempfile.TemporaryFile() as words:  # a pipe would be held open by the process that keeps the connection
            try:
                done = subprocess.run(start, input=given, stdout=-1, stderr=words, timeout=seconds, check=False)
            except subprocess.TimeoutExpired:
                raise MachineLost(f"the board {self.host} does not answer within {seconds:g} s") from None
            except OSError as error:
                raise TuneError(f"{start[0]} does not start: {error}; fix: install an SSH client") from None
            words.seek(0)
            said = words.read().decode(errors="replace").strip()
        if done.returncode == LOST:
            last = (said.splitlines() or ["no message"])[-1]
            raise MachineLost(f"the board {self.host} cannot be reached: {last}; fix: `ssh {self.host} true` works")
        return done.returncode, done.stdout, said


def shared() -> list[str]:
    """Options by which commands share one connection for a minute: they start in milliseconds. None without a place."""
    for place in dict.fromkeys([tempfile.gettempdir(), "/tmp"]):
        folder = Path(place) / f"tir-ssh-{os.getuid()}"
        if len(os.fsencode(folder)) > LONGEST or set(place) & {'"', "\\"}:
            continue
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o077:
                sockets = str(folder).replace("%", "%%") + "/%C"
                return ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", f'ControlPath="{sockets}"']
    return []
