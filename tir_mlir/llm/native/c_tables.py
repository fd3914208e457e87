"""The tables of an exported language model in C: its compiled functions, where weights lie, its sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.llm.native.native_model import arena_bytes
from tir_mlir.llm.native.parameters import words
from tir_mlir.llm.native.parts import KINDS, CompiledLayer, CompiledProgram, Parts
from tir_mlir.runtime.call.signature import BufferParam
from tir_mlir.runtime.drivers.c_entry import CEntry


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
