"""Write a language model as files that need no Python."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.shipping import weights_file
from tir_mlir.graph.shipping.c_model import lacking_code
from tir_mlir.graph.transforms.schedule_functions import with_plain_schedules
from tir_mlir.llm.native.native_model import arena_bytes, words
from tir_mlir.llm.native.parts import KINDS, CompiledLayer, CompiledProgram, Parts
from tir_mlir.runtime.call.signature import BufferParam
from tir_mlir.runtime.drivers import c_entry, shared_libraries
from tir_mlir.runtime.drivers.c_entry import CEntry
from tir_mlir.runtime.library import Library, c_exporter
from tir_mlir.runtime.scheduled_programs import built_as_given
from tir_mlir.runtime.tools import c_tools, files

_NAME = re.compile(r"[A-Za-z_]\w*")
_FUNCTIONS = ("open", "close", "error", "create", "reset", "free", "generate", "prompt", "next", "scores")
_INCLUDES = ("fcntl.h", "math.h", "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/mman.h", "sys/stat.h", "unistd.h")


def export_language_model(parts: Parts, folder: str | Path, name: str | None) -> list[Path]:
    """Write the files, see `LanguageModel.export`. Raises BuildError."""
    out_dir = Path(folder)
    name = name or re.sub(r"\W", "_", out_dir.resolve().name)
    if not _NAME.fullmatch(name) or name == "main":
        raise BuildError(f"the name of an exported model is a C identifier, not {short_repr(name)}; fix: name=...")
    c_tools.require("model.export")
    kernels, libraries = _kernels(parts, name)
    out_dir.mkdir(parents=True, exist_ok=True)
    tables = _weights(parts, kernels, out_dir / f"{name}.safetensors")
    code = tables.before_loop() + _text("loop.c") + tables.after_loop(name, lacking_code("llvm")) + _text("model.c")
    texts = {
        f"{name}.h": _HEADER.format(guard=f"{name.upper()}_H", body=_substitute_limits(_text("header.h"), parts)),
        f"{name}.c": "".join(f"#include <{file}>\n" for file in _INCLUDES) + f'#include "{name}.h"\n' + code,
        "program.c": _PROGRAM.format(name=name, batch=parts.limits.batch) + _text("program.c"),
    }
    written = {out_dir / file: _substitute_name(text, name).encode() for file, text in texts.items()}
    files.write_whole(written)
    return [out_dir / f"{name}.safetensors", *written, *_binaries(libraries, name, out_dir)]


def _kernels(parts: Parts, name: str) -> tuple[dict[tuple[int, tuple[str, ...]], NamedKernel], dict[str, Library]]:
    """The programs of all layers, and their libraries by C name."""
    kernels: dict[tuple[int, tuple[str, ...]], NamedKernel] = {}
    names: dict[int, str] = {}
    libraries: dict[str, Library] = {}
    for layer in (*parts.layers, *parts.scores):
        caches = tuple(cache.name for cache in layer.caches)
        for program in (layer.one, layer.chunk):
            if id(program) not in names:
                names[id(program)] = c_name = f"{name}_part{len(names)}"
                libraries[c_name] = _library(program, c_name, parts.threads)
            c_name = names[id(program)]
            (signature,) = c_exporter(libraries[c_name]).signatures
            kernels[id(program), caches] = NamedKernel(c_entry.CEntry(signature, c_name), program, caches)
    return kernels, libraries


def _library(program: CompiledProgram, name: str, threads: int | None) -> Library:
    graph = with_plain_schedules(program.graph, "llvm", threads)
    with enter_context():
        module = lower_main(graph.module.mlir, {name: program.plan})
    with built_as_given():
        return build(module, "llvm")


def _weights(parts: Parts, kernels: Mapping[tuple[int, tuple[str, ...]], NamedKernel], path: Path) -> Tables:
    """Write the file of weights: each buffer once."""
    buffers: dict[str, np.ndarray] = {}
    offsets: dict[int, int] = {}
    for kind, layers in (("layers", parts.layers), ("scores", parts.scores)):
        for number, layer in enumerate(layers):
            for use, buffer in zip(("one", "chunk"), layer.weights, strict=True):
                if id(buffer) not in offsets:
                    offsets[id(buffer)] = -1
                    buffers[f"{kind}.{number}.{use}"] = buffer
    shared = {id(buffer): name for name, buffer in buffers.items()}
    rotary = {name: array for name, array in parts.rotary.arrays.items() if array is not None}
    buffers |= {"tokens": parts.rows.data, **rotary}
    at: dict[str, int] = {}
    end, listed = 0, dict[str, object]({"__metadata__": {"format": "tir_mlir"}})
    for name, buffer in buffers.items():
        at[name] = end
        listed[name] = {"dtype": "U8", "shape": [buffer.nbytes], "data_offsets": [end, end + buffer.nbytes]}
        end += buffer.nbytes
        if padding := -end % LINE:
            hole = {"dtype": "U8", "shape": [padding], "data_offsets": [end, end + padding]}
            listed[f"{weights_file.PADDING}{end}"], end = hole, end + padding
    text = json.dumps(listed, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + 8) % LINE)
    head = len(text).to_bytes(8, "little") + text
    files.write_whole({path: _pieces(head, buffers)})
    offsets = {key: at[name] for key, name in shared.items()}
    facts = len(head), end, weights_file.checksum(head)
    return Tables(
        parts, kernels, offsets, at["tokens"], {name: at.get(name, -1) for name in parts.rotary.arrays}, *facts
    )


def _pieces(head: bytes, buffers: Mapping[str, np.ndarray]) -> Iterator[bytes | memoryview]:
    yield head
    for buffer in buffers.values():
        yield np.ascontiguousarray(buffer).reshape(-1).view(np.uint8).data
        yield b"\0" * (-buffer.nbytes % LINE)


def _binaries(libraries: Mapping[str, Library], name: str, out_dir: Path) -> list[Path]:
    """The compiled functions and the loader as libraries, and the program."""
    with files.folder() as temporary:
        objects = [str(Path(temporary, f"{part}.o")) for part in (*libraries, name, "program")]
        headers = {}
        for part, library in libraries.items():
            _, header = library.export(Path(temporary, f"{part}.o"), part)
            headers[out_dir / f"{part}.h"] = Path(header).read_bytes()
        files.write_whole(headers)
        options = (f"-I{out_dir}", "-ffp-contract=off")
        for source, result in zip((f"{name}.c", "program.c"), objects[-2:], strict=True):
            c_tools.compile_c(out_dir / source, result, *options)
        needed = list(
            dict.fromkeys(path for library in libraries.values() for path in c_exporter(library).needed_libraries())
        )
        shared, static, program = (Path(temporary, file) for file in (f"{name}.so", f"lib{name}.a", "program"))
        runtime = shared_libraries.bundled_libraries(needed)
        c_tools.link_shared(objects[:-1], str(shared), needed, [f"{name}_{part}" for part in _FUNCTIONS], runtime)
        c_tools.archive(objects[:-1], static)
        c_tools.link_program(objects, str(program), needed, runtime)
        binaries = {out_dir / path.name: path.read_bytes() for path in (shared, static, *runtime.values())}
        files.write_whole({**binaries, out_dir / name: program.read_bytes()})
    (out_dir / name).chmod(0o755)
    return [*headers, *binaries, out_dir / name]


def _text(file: str) -> str:
    return Path(__file__).with_name(file).read_text()


def _substitute_name(text: str, name: str) -> str:
    """A text with the names of the model."""
    return re.sub(r"NAMED\((\w+)\)", rf"{name}_\1", text)


def _substitute_limits(text: str, parts: Parts) -> str:
    return text.replace("CONTEXT", str(parts.limits.context)).replace("BATCH", str(parts.limits.batch))


_HEADER = """\
#ifndef {guard}
#define {guard}
#include <stdint.h>
{body}#endif
"""
_PROGRAM = """\
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "{name}.h"
#define MODEL "{name}"
enum {{ BATCH = {batch} }};
"""


@dataclass(frozen=True)
class NamedKernel:
    """A program under its C name, as layers with caches of these names call it."""

    entry: CEntry
    program: CompiledProgram
    caches: tuple[str, ...]


@dataclass(frozen=True)
class Tables:
    """kernels: by `key`; offsets: of each buffer of weights lies, by its id; rows, rotary: where those lie, -1:
    nowhere; header, size, layout: of the file: the bytes before the data, those of the data, the checksum of the
    former."""

    parts: Parts
    kernels: Mapping[tuple[int, tuple[str, ...]], NamedKernel]
    offsets: Mapping[int, int]
    rows: int
    rotary: Mapping[str, int]
    header: int
    size: int
    layout: int

    def before_loop(self) -> str:
        """The definitions that precede loop.c."""
        headers = dict.fromkeys(f'#include "{kernel.entry.name}.h"' for kernel in self.kernels.values())
        return "\n".join([*headers, "#define SHOWN static", ""])

    def after_loop(self, name: str, lacking: str) -> str:
        """What stands between loop.c and model.c."""
        parts, functions = self.parts, list(self.kernels.values())
        sizes = {
            "LAYERS": len(parts.layers), "PARTS": len(parts.scores), "BATCH": parts.limits.batch,
            "ROWS_AT": self.rows, "HEADER": self.header, "BYTES": self.size,
            **{f"{name.upper()}_AT": position for name, position in self.rotary.items()},
        }  # fmt: skip
        rows = [f"  {{run_{n}, {len(k.entry.signature.params)}, parameters_{n}}}," for n, k in enumerate(functions)]
        return "\n".join([
            f'#define MODEL "{name}"', 
            *(f"#define {key} {value}" for key, value in sizes.items()),
            f"static const uint64_t LAYOUT = {self.layout}u;", "static _Thread_local const char *why;", lacking,
            "#define ARRAY(n) (((void **)d[n])[1])", "#define EXTENT(n, axis) (((int64_t *)d[n])[3 + (axis)])",
            *(_thunk(n, kernel) for n, kernel in enumerate(functions)),
            *(_numbers(f"parameters_{n}", words(k.entry.signature, k.program.plan, k.caches))
              for n, k in enumerate(functions)),
            "static const tir_kernel kernels[] = {", *rows, "};",
            "struct placed { int64_t one, chunk, one_at, chunk_at, caches; const int64_t *cache; };",
            *self._layers("layers", parts.layers), *self._layers("scores", parts.scores), self._facts(), "",
        ])  # fmt: skip

    def _layers(self, name: str, layers: Sequence[CompiledLayer]) -> list[str]:
        caches = dict.fromkeys(layer.caches for layer in layers)
        numbers = {key: n for n, key in enumerate(caches)}
        arrays = [
            _numbers(f"{name}_cache_{n}", [x for cache in key for x in (cache.heads, cache.bytes)] or [0])
            for key, n in numbers.items()
        ]
        order = {key: n for n, key in enumerate(self.kernels)}
        rows = []
        for layer in layers:
            names = tuple(cache.name for cache in layer.caches)
            called = [order[id(program), names] for program in (layer.one, layer.chunk)]
            at = [self.offsets[id(buffer)] for buffer in layer.weights]
            row = ", ".join(map(str, (*called, *at, len(layer.caches), f"{name}_cache_{numbers[layer.caches]}")))
            rows.append(f"  {{{row}}},")
        return [*arrays, f"static const struct placed {name}[] = {{", *rows, "};"]

    def _facts(self) -> str:
        parts, limits = self.parts, self.parts.limits
        facts = {
            "tokens": limits.tokens, "context": limits.context, "chunk": limits.chunk, "batch": limits.batch,
            "width": parts.rows.width, "columns": parts.rotary.columns, "layers": len(parts.layers),
            "parts": len(parts.scores), "scored": parts.scored, "arena": arena_bytes(parts),
            "kind": KINDS.index(parts.rows.kind), "row": parts.rows.data.shape[1],
            "until": -1 if parts.rotary.until is None else parts.rotary.until,
        }  # fmt: skip
        return "static const tir_llm facts = {" + ", ".join(f".{key} = {value}" for key, value in facts.items()) + "};"


def _numbers(name: str, values: Sequence[int]) -> str:
    return f"static const int64_t {name}[] = {{{', '.join(map(str, values))}}};"


def _thunk(number: int, kernel: NamedKernel) -> str:
    """A function of descriptors that calls the compiled one."""
    entry, params = kernel.entry, kernel.entry.signature.params
    found: dict[str, str] = {}
    for n, param in enumerate(params):
        assert isinstance(param, BufferParam)
        found |= {dim.text: f"EXTENT({n}, {axis})" for axis, dim in enumerate(param.dims)}
    given = ", ".join([*(found[size] for size in entry.sizes), *(f"ARRAY({n})" for n in range(len(params)))])
    return f"static void run_{number}(void **d) {{\n  if ({entry.name}({given})) why = {entry.error}();\n}}"
