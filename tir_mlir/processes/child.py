"""A Python process that is asked by messages, as its parent sees it: started, asked, paused, ended, its last words."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import tempfile
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from typing import IO, Any

from tir_mlir.processes.commands import NOTHING, Python, TimeoutExpired, start

_LAST_WORDS = 600
_CRASHES = (signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE)


class Child:
    """A new Python process, and a pipe of messages to it. Not a fork: it has nothing of the user's `__main__`, threads
    or state. It gets what it prints as errors into a file.

    code: finds the descriptor of its end of the pipe in sys.argv[1], and the arguments behind it. It must end when the
    pipe is closed. silent: what it prints goes nowhere. Raises OSError.
    """

    def __init__(self, code: str, arguments: Sequence[str], env: Mapping[str, str], silent: bool = False):
        ours, theirs = socket.socketpair()
        self.room = ours.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 4  # less what the system needs for itself
        """Bytes of a message that fit into the pipe while the process is at an earlier one."""
        self.pipe = Connection(ours.detach())
        self.printed: IO[bytes] | None = None if silent else tempfile.TemporaryFile()  # noqa: SIM115  open as long as the process
        self._parent = os.getpid()
        with theirs:
            self._process = start(
                Python(code, [str(theirs.fileno()), *arguments]),
                pass_fds=(theirs.fileno(),),
                stdin=NOTHING,
                stdout=NOTHING,
                stderr=self.printed or NOTHING,
                env=env,
            )

    @property
    def id(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    def send(self, message: Any) -> None:
        """Send it a message. Raises OSError if it is dead."""
        self.pipe.send(message)

    def receive(self) -> Any:
        """Its next message. Raises OSError or EOFError if it is dead."""
        return self.pipe.recv()

    def pause(self, paused: bool) -> None:
        """Stop it, or let it go on."""
        self._process.send_signal(signal.SIGSTOP if paused else signal.SIGCONT)

    def kill(self) -> None:
        """End it from another thread: whoever waits for its message gets EOFError."""
        self._process.kill()

    def wait(self, seconds: float | None = None) -> int | None:
        """Its exit status, negative for a signal; None if it runs on for so long."""
        with contextlib.suppress(TimeoutExpired):
            return self._process.wait(seconds)
        return None

    def crash(self) -> str:
        """The signal by which code ended it, once it is dead; "" if it ended itself, or was ended from outside."""
        code = -(self.wait(1) or 0)
        return signal.Signals(code).name if code in _CRASHES else ""

    def last_words(self, size: int = _LAST_WORDS) -> str:
        """The end of what it printed as errors."""
        if self.printed is None:
            return ""
        self.printed.seek(0, os.SEEK_END)
        self.printed.seek(max(0, self.printed.tell() - size))
        return self.printed.read().decode(errors="replace").strip()

    def close(self) -> None:
        """End it, whatever it does, and close what belongs to it."""
        with contextlib.suppress(OSError):
            self._process.kill()
        self.forget()
        self.wait(1)

    def forget(self) -> None:
        """Close the pipe of this process, as the child of a fork does with what belongs to its parent."""
        with contextlib.suppress(OSError):
            self.pipe.close()
        if self.printed is not None:
            self.printed.close()
        if os.getpid() != self._parent:
            self._process.returncode = 0  # another process waits for it
