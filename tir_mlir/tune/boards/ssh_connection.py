"""Commands on another machine, by the program `ssh`. Nothing listens there but its SSH server."""

from __future__ import annotations

import os
import shlex
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tir_mlir.dialect.diagnostics import TuneError

PROGRAM = ("ssh", "-T", "-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10")
"""No password is asked for, no host waited for long, a connection that is lost is noticed within half a minute."""
LOST = 255
"""The exit code of ssh for errors of its own."""


@dataclass(frozen=True)
class SshConnection:
    """A machine by its name for ssh: `pi@board7`, or a Host of ~/.ssh/config. program: instead of ssh and options."""

    host: str
    program: tuple[str, ...] = ()

    def run(self, command: str, given: bytes = b"", seconds: float = 60.0) -> tuple[int, bytes, str]:
        """Run a command of the shell there: its exit code, what it printed, what it printed as errors.

        Raises TuneError if the machine cannot be reached, or does not answer within `seconds`.
        """
        start = [*(self.program or (*PROGRAM, *_shared())), self.host, f"sh -c {shlex.quote(command)}"]
        with tempfile.TemporaryFile() as words:  # a pipe would be held open by the process that keeps the connection
            try:
                done = subprocess.run(start, input=given, stdout=-1, stderr=words, timeout=seconds, check=False)
            except subprocess.TimeoutExpired:
                raise TuneError(f"the board {self.host} does not answer within {seconds:g} s") from None
            except OSError as error:
                raise TuneError(f"{start[0]} does not start: {error}; fix: install an SSH client") from None
            words.seek(0)
            said = words.read().decode(errors="replace").strip()
        if done.returncode == LOST:
            last = (said.splitlines() or ["no message"])[-1]
            raise TuneError(f"the board {self.host} cannot be reached: {last}; fix: `ssh {self.host} true` works")
        return done.returncode, done.stdout, said


def _shared() -> list[str]:
    """Options by which commands share one connection for a minute: they start in milliseconds."""
    folder = Path(tempfile.gettempdir()) / f"tir-ssh-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except OSError:
        return []
    if folder.stat().st_uid != os.getuid():
        return []
    return ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", f"ControlPath={folder}/%C"]
