"""The program that a board runs: a candidate, the agent, and the parameters of this call, linked statically.

object file of the candidate + agent.c + parameters.c  ->  one executable for Linux on the target's CPU
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.cache.store import cached_text
from tir_mlir.runtime.call.signature import BufferParam, CallSignature, ScalarParam
from tir_mlir.runtime.drivers.c_entry import CEntry, entries, size_values
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import Target

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
    signatures = built.exporter.signatures
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


def _literal(kind: str, value: Any) -> str:
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
