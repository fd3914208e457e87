"""Start processes, and say how they ended. Nothing else in this package starts one.

A Python process imports from where this one does. Python itself puts the working directory first for `-c` and `-m`: a
file of the name of a module that lies there would run in the child, though not in its parent.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Process = subprocess.Popen[bytes]
Completed = subprocess.CompletedProcess[str]
TimeoutExpired = subprocess.TimeoutExpired
Failed = subprocess.SubprocessError
PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL


@dataclass(frozen=True)
class Python:
    """A Python process that runs `code`, which finds `arguments` behind sys.argv[0]."""

    code: str
    arguments: Sequence[str] = ()

    @property
    def command(self) -> list[str]:
        """Its command line: sys.path is set before anything is imported (`sys` is built in)."""
        start = f"import sys\nsys.path[:] = {_import_path()!r}\n"
        return [sys.executable, *_options(), "-c", start + self.code, *self.arguments]


Command = Sequence[str] | Python


def start(command: Command, env: Mapping[str, str] | None = None, **options: Any) -> Process:
    """Start a process, with pipes of bytes; options: of `subprocess.Popen`. Raises OSError."""
    words, variables = _words(command, env)
    return subprocess.Popen[bytes](words, env=variables, **options)


def run(command: Command, env: Mapping[str, str] | None = None, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a process to its end; options: of `subprocess.run`. Raises OSError, TimeoutExpired."""
    words, variables = _words(command, env)
    return subprocess.run(words, env=variables, **{"check": False, **options})


def _words(command: Command, env: Mapping[str, str] | None) -> tuple[Sequence[str], Mapping[str, str] | None]:
    if isinstance(command, Python):
        return command.command, _environment(os.environ if env is None else env)
    return command, env


def _import_path() -> list[str]:
    """sys.path of this process, absolute: the working directory is in it only where this process imports from it."""
    try:
        return [os.path.abspath(folder) for folder in sys.path if isinstance(folder, str)]
    except FileNotFoundError:  # the working directory has been deleted
        return [folder for folder in sys.path if isinstance(folder, str) and os.path.isabs(folder)]


def _environment(env: Mapping[str, str]) -> dict[str, str]:
    """Without the relative folders of PYTHONPATH, which an empty part is as well: they were of the folder in which this
    process started, and are in its sys.path."""
    folders = [folder for folder in env.get("PYTHONPATH", "").split(os.pathsep) if os.path.isabs(folder)]
    kept = {name: value for name, value in env.items() if name != "PYTHONPATH"}
    return {**kept, "PYTHONPATH": os.pathsep.join(folders)} if folders else kept


def _options() -> list[str]:
    """The options by which this Python is isolated, and -P where it is known (from 3.11 on): no folder is added."""
    options = {"-I": "isolated", "-E": "ignore_environment", "-s": "no_user_site", "-S": "no_site"}
    given = [option for option, flag in options.items() if getattr(sys.flags, flag)]
    return [*given, "-P"] if hasattr(sys.flags, "safe_path") else given


def status(code: int) -> str:
    """An exit status as text."""
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"killed by signal {-code}"


def death(subject: str, code: int, ended: str = "ended") -> str:
    """How a process ended, by its exit status: "the run was killed by SIGSEGV"."""
    if code >= 0:
        return f"{subject} {ended} with {status(code)}"
    cause = " (by the system, short of memory, or by another process)" if code == -signal.SIGKILL else ""
    return f"{subject} was {status(code)}{cause}"
