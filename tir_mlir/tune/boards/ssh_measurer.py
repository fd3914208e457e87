"""Runs candidates on a board: built and linked here, sent there by the program `ssh`, run there, compared here."""

from __future__ import annotations

import hashlib
import math
import os
import re
import shlex
import tempfile
import time
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir import processes
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError, TuneError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.processes import status
from tir_mlir.processes.watch import PATIENCE
from tir_mlir.runtime.cache.store import cached_text
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam
from tir_mlir.runtime.drivers.c_entry import CEntry, entries, size_values
from tir_mlir.runtime.kernels.registry import emit, register_kernel
from tir_mlir.runtime.library import Library, c_exporter
from tir_mlir.runtime.sampling_runs import BUDGET, FEWEST, MOST, SHORTEST
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import Target, chosen
from tir_mlir.tune.trials.job import Job
from tir_mlir.tune.trials.local_measurer import arguments_of
from tir_mlir.tune.trials.outcome import MachineLost, Outcome, Status

FOLDER = '"${XDG_CACHE_HOME:-$HOME/.cache}"/tir_mlir'
"""Where a board keeps arguments; those that were not used for a week are removed."""
NO_DATA, NO_MEMORY = 3, 4
SLACK = 30.0
"""Seconds for the way to a board and back."""
_ENDS = {24: Status.TIMED_OUT, 14: Status.TIMED_OUT}
_RESULTS = re.compile(rb"results (\d+)\n")


@dataclass(frozen=True)
class SshMeasurer:
    """A board by its name for ssh. program: instead of ssh and its options."""

    host: str
    program: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not _is_name(self.host):
            raise TuneError(f"{self.host!r} is not the name of a machine")

    @property
    def lane(self) -> str:
        """The name of the board in records."""
        return f"board {self.host}"

    def build(self, job: Job) -> Library:
        """The object file for the target, linked to a program. Raises BuildError for what boards do not run."""
        if job.parallel:
            raise BuildError("the program has parallel loops, and boards have no OpenMP runtime; fix: threads=1")
        if job.libs:
            raise BuildError(f"the program needs {', '.join(job.libs)}, which is not sent to boards; fix: without libs")
        for kernel in job.kernels:
            register_kernel(kernel.symbol, partial(emit, kernel.text), override=True, needs=kernel.needs)
        with enter_context():
            module = ir.Module.parse(job.text)
        target = chosen(job.target)
        built = build(module, target, driver="object", cache=False)
        signature, values = arguments_of(built, job)
        call = BoardCall(signature, tuple(values))
        _PROGRAMS[built] = call, link_executable(built, call, target)
        return built

    def measure(self, built: Library, job: Job) -> Outcome:
        """Run a program on the board, compare its results here, and time it there."""
        start = time.process_time()
        outcome, data = self._trial(built, job)
        if data is None:
            return outcome
        call = _PROGRAMS[built][0]
        wrong = job.reference.difference(results(data, call), call.signature) if job.reference is not None else None
        stages = {"measure.board": time.process_time() - start}
        if wrong:
            return Outcome(Status.WRONG, (), stages, wrong, machine=self.lane)
        return replace(outcome, stages=stages)

    def compare(self, built: Sequence[Library], jobs: Sequence[Job], rounds: int) -> list[list[float]]:
        """Time candidates in turns on the board; without those that are wrong or fail."""
        right = [n for n, library in enumerate(built) if self.measure(library, jobs[n]).status is Status.OK]
        times: list[list[float]] = [[] for _ in jobs]
        for round_number in range(rounds):
            for position in range(len(right)):
                n = right[(position + round_number) % len(right)]
                code, out, stderr = self._run(built[n], jobs[n], "turn")
                if code:
                    raise TuneError(f"the board {self.host} did not run a candidate again: {_reason(code, stderr)}")
                times[n] += _times(out)
        return times

    def _trial(self, built: Library, job: Job) -> tuple[Outcome, bytes | None]:
        """How it ran, and the contents of its results; None if it did not."""
        code, out, stderr = self._run(built, job, "trial")
        header = _RESULTS.match(out)
        if code or header is None:
            number = code - 128
            kind = Status.OUT_OF_MEMORY if code == NO_MEMORY else _ENDS.get(number, Status.CRASHED)
            return Outcome(kind, reason=f"on {self.host}: {_reason(code, stderr)}", machine=self.lane), None
        end = header.end() + int(header[1])
        text = out[end:]
        slow = b"slow" in text
        kind, reason = (Status.SLOW, "more than three times as long as the best") if slow else (Status.OK, "")
        return Outcome(kind, tuple(_times(text)), reason=reason, machine=self.lane), out[header.end() : end]

    def _run(self, built: Library, job: Job, mode: str) -> tuple[int, bytes, str]:
        """Run the program of a candidate once; its arguments are sent first if the board does not have them."""
        call, program = _PROGRAMS[built]
        limits, seconds = job.limits, math.ceil(job.limits.run)
        wait = math.ceil(PATIENCE * limits.run)
        words = [seconds, wait, limits.memory + sum(a.nbytes for a in call.buffers), mode]
        words += [SHORTEST, FEWEST, MOST, BUDGET, job.best or 0]
        arguments = " ".join(shlex.quote(str(word)) for word in words)
        command = (
            f'd={FOLDER}/{call.key}; p="$d/p$$"; [ -f "$d/all" ] || exit {NO_DATA}; touch "$d"; cat > "$p" && '
            f'chmod 700 "$p" && "$p" "$d" {arguments}; c=$?; rm -f "$p"; exit $c'
        )
        connection = SshConnection(self.host, self.program)
        answer = connection.run(command, program, wait + SLACK)
        if answer[0] == NO_DATA:
            self._send(connection, call)
            answer = connection.run(command, program, wait + SLACK)
        return answer

    def _send(self, connection: SshConnection, call: BoardCall) -> None:
        """Send the arguments, all or nothing. Raises MachineLost if the board does not take them."""
        clean = f"find {FOLDER} -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {{}} +"
        connection.run(f"mkdir -p {FOLDER}/{call.key} && {clean}")
        for number, array in enumerate(call.buffers):
            path = f"{FOLDER}/{call.key}/in{number}"
            code, _, stderr = connection.run(f"cat > {path}.$$ && mv {path}.$$ {path}", array.tobytes(), 600.0)
            if code:
                raise MachineLost(f"the board {self.host} does not take the arguments: {stderr}; fix: make space there")
        connection.run(f"touch {FOLDER}/{call.key}/all")


_PROGRAMS: weakref.WeakKeyDictionary[Library, tuple[BoardCall, bytes]] = weakref.WeakKeyDictionary()
"""By library that was built here: the call, and the program for the board."""


def _times(text: bytes) -> list[float]:
    return [float(line.split()[1]) for line in text.splitlines() if line.startswith(b"run ")]


def _reason(code: int, stderr: str) -> str:
    if code == NO_MEMORY:
        return "its arguments do not fit into the memory"
    if _ENDS.get(code - 128) is Status.TIMED_OUT:
        return "it runs longer than the limit"
    text = f"the run was {status(128 - code)}" if 128 < code < 160 else f"the run ended with {status(code)}"
    return text + (f": {stderr.splitlines()[-1]}" if stderr else "")


def _is_name(host: object) -> bool:
    """Whether ssh can take a name: not an option, and without letters of control."""
    return isinstance(host, str) and host.isprintable() and bool(host) and not host.startswith("-")


def boards_of(hosts: Sequence[str]) -> list[SshMeasurer]:
    """The boards with these names. Raises TuneError for no name, one that is an option, or the same one twice."""
    if len(set(hosts)) < len(hosts) or not all(map(_is_name, hosts)):
        raise TuneError(f"ssh is a list of different names of machines, not {list(hosts)!r}")
    return [SshMeasurer(host) for host in hosts]


# --- commands on another machine, by the program `ssh`. Nothing listens there but its SSH server ----------------------


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

    def run(self, command: str, stdin: bytes = b"", seconds: float = 60.0) -> tuple[int, bytes, str]:
        """Run a command of the shell there: its exit code, what it printed, what it printed as errors.

        Raises MachineLost if the machine cannot be reached, or does not answer within `seconds`; TuneError without ssh.
        """
        start = [
            *(self.program or (*PROGRAM, *shared_connection_options())),
            self.host,
            f"sh -c {shlex.quote(command)}",
        ]
        with tempfile.TemporaryFile() as words:  # a pipe would be held open by the process that keeps the connection
            try:
                done = processes.run(start, input=stdin, stdout=processes.PIPE, stderr=words, timeout=seconds)
            except processes.TimeoutExpired:
                raise MachineLost(f"the board {self.host} does not answer within {seconds:g} s") from None
            except OSError as error:
                raise TuneError(f"{start[0]} does not start: {error}; fix: install an SSH client") from None
            words.seek(0)
            stderr = words.read().decode(errors="replace").strip()
        if done.returncode == LOST:
            last = (stderr.splitlines() or ["no message"])[-1]
            raise MachineLost(f"the board {self.host} cannot be reached: {last}; fix: `ssh {self.host} true` works")
        return done.returncode, done.stdout, stderr


def shared_connection_options() -> list[str]:
    """Options by which commands share one connection for a minute: they start in milliseconds. None without a
    position."""
    for root in dict.fromkeys([tempfile.gettempdir(), "/tmp"]):
        folder = Path(root) / f"tir-ssh-{os.getuid()}"
        if len(os.fsencode(folder)) > LONGEST or set(root) & {'"', "\\"}:
            continue
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            if folder.stat().st_uid == os.getuid() and not folder.stat().st_mode & 0o077:
                sockets = str(folder).replace("%", "%%") + "/%C"
                return ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-o", f'ControlPath="{sockets}"']
    return []


AGENT = Path(__file__).with_name("agent.c")
_SCALARS = {"float64": "double", "float32": "float", "bool": "_Bool"}
_COMPILE = ("-c", "-O2", "-fno-sanitize=all", "-std=gnu11")


@dataclass(frozen=True)
class BoardCall:
    """A call of a function: its signature and its arguments, a file a buffer."""

    signature: CallSignature
    values: tuple[Any, ...]

    @property
    def buffers(self) -> list[np.ndarray]:
        """The arrays, in order."""
        return [np.ascontiguousarray(v) for v in self.values if isinstance(v, np.ndarray)]

    @property
    def key(self) -> str:
        """A name for the contents of the arrays."""
        digest = hashlib.sha256()
        for array in self.buffers:
            digest.update(array.tobytes())
        return digest.hexdigest()[:16]


def linux_triple(target: Target) -> str:
    """The triple of a target for the C compiler, with a C library that can be linked statically.

    Raises BuildError for a target that is not a CPU under Linux.
    """
    if not target.triple or "linux" not in target.triple:
        raise BuildError(
            f"a board runs Linux on a named CPU; the target has the triple {target.triple!r}; "
            'fix: target="neon", "avx2", ... or a Target with a triple'
        )
    return f"{target.triple.split('-')[0]}-linux-musl"


def link_executable(built: Library, call: BoardCall, target: Target) -> bytes:
    """The executable of a candidate. Raises BuildError for a call of something that is not linked, MissingTool."""
    toolchain.require(("zig",), "a program for a board")
    triple = linux_triple(target)
    with files.folder() as folder:
        path = {name: str(Path(folder, name)) for name in ("f.o", "agent.o", "parameters.o", "program")}
        entry = _entry(built, call)
        built.export(path["f.o"], entry.name if len(built) == 1 else None)
        parts = {"agent.o": AGENT.read_text(), "parameters.o": source(entry, call)}
        files.write_whole({Path(path[name]): _object(text, triple) for name, text in parts.items()})
        objects = [path[name] for name in ("f.o", *parts)]
        options = ["cc", "-target", triple, "-static", "-s", *objects, "-lm", "-o", path["program"]]
        done = toolchain.attempt("zig", options)
        if unknown := re.findall(r"undefined symbol: (\S+)", done.stderr):
            names = ", ".join(map(repr, dict.fromkeys(unknown)))
            raise BuildError(f"the program calls {names}, which boards do not have; fix: kernels in MLIR or C")
        if done.returncode:
            raise BuildError(f"linking the program for the board failed: {done.stderr.strip()[:500]}")
        return Path(path["program"]).read_bytes()


def _object(text: str, triple: str) -> bytes:
    """The object file of a C source, from the cache if it was compiled before."""
    key = [text, triple, *_COMPILE]
    return bytes.fromhex(cached_text("c", key, lambda: _compile_source(text, triple).hex()))


def _compile_source(text: str, triple: str) -> bytes:
    with files.folder() as folder:
        c_file, object_file = Path(folder, "source.c"), Path(folder, "source.o")
        files.write_whole({c_file: text.encode()})
        toolchain.run("zig", ["cc", "-target", triple, *_COMPILE, str(c_file), "-o", str(object_file)])
        return object_file.read_bytes()


def _entry(built: Library, call: BoardCall) -> CEntry:
    """The C function of a candidate."""
    signatures = c_exporter(built).signatures
    name = "tir_candidate" if len(signatures) == 1 else None
    return next(e for e in entries(signatures, {}, "f", name) if e.signature.name == call.signature.name)


def source(entry: CEntry, call: BoardCall) -> str:
    """The parameters of a call in C: sizes, row-major arrays, scalars by value.

    Raises BuildError for others.
    """
    words = [str(size) for size in size_values(entry, call.values)]
    kinds = ["int64_t"] * len(words)
    sizes: list[int] = []
    written: list[str] = []
    for param, value in zip(call.signature.params, call.values, strict=True):
        if isinstance(param, ScalarParam):
            kind = _SCALARS.get(param.dtype, f"{param.dtype}_t")
            kinds.append(kind)
            words.append(_literal(kind, value))
            continue
        _check_row_major(param)
        kinds.append("void *")
        words.append(f"arrays[{len(sizes)}]")
        sizes.append(value.nbytes)
        written.append(str(int(param.written)))
    return "\n".join([
        "#include <stdint.h>",
        f"extern int {entry.name}({', '.join(kinds) or 'void'});",
        "static void **arrays;",
        f"const int tir_count = {len(sizes)};",
        f"const uint64_t tir_bytes[] = {{{', '.join(map(str, [*sizes, 0]))}}};",
        f"const char tir_written[] = {{{', '.join([*written, '0'])}}};",
        "void tir_bind(void **data) { arrays = data; }",
        f"void tir_call(void) {{ if ({entry.name}({', '.join(words)})) __builtin_trap(); }}\n",
    ])  # fmt: skip


def _check_row_major(param: BufferParam) -> None:
    if param.strides is not None or param.offset:
        raise BuildError(
            f"the parameter {param.name} has strides of its own, and boards take row-major arrays; "
            "fix: tune the function with row-major parameters"
        )


def _literal(kind: str, value: float) -> str:
    if kind in ("double", "float"):
        return f"({kind}){float(value).hex()}" if np.isfinite(value) else f"({kind})({float(value)!r})"
    return f"({kind}){int(value)}" + ("u" if kind.startswith("u") else "")


def results(data: bytes, call: BoardCall) -> Sequence[Any]:
    """The arguments after the call, from the bytes of the written buffers."""
    arguments, offset = [], 0
    for param, value in zip(call.signature.params, call.values, strict=True):
        if isinstance(param, BufferParam) and param.written:
            part = np.frombuffer(data[offset : offset + value.nbytes], value.dtype).reshape(value.shape)
            arguments.append(part)
            offset += value.nbytes
        else:
            arguments.append(value)
    return arguments
