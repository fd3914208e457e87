"""The rounded and packed weights of a model in the cache: a second start maps them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from tir_mlir.llm.native.parts import CompiledProgram
from tir_mlir.runtime.cache import fingerprint, mapped_arrays, store


def entry_name(files: Sequence[Path], *facts: str) -> str:
    """The name of the entry of a model: of its files, by path, size and time, and what else its weights depend on."""
    stamps = []
    for path in sorted(set(files)):
        stat = os.stat(path)
        stamps.append(f"{path.resolve()} {stat.st_size} {stat.st_mtime_ns}")
    return store.digest(fingerprint.maker("graphs"), *stamps, *facts)


class PackedWeights:
    """Buffers of weights, from the cache, or made and put there. known: those of an entry."""

    def __init__(self, known: Mapping[str, np.ndarray] | None, writer: mapped_arrays.MappedEntryWriter):
        self._known, self._writer = known or {}, writer

    def buffers(
        self, key: str, programs: Sequence[CompiledProgram], make: Callable[[], list[np.ndarray]]
    ) -> list[np.ndarray]:
        """The buffer of each program at a position; one for those that share it."""
        found = self._cached_buffers(key, programs)
        if found is not None:
            return found
        made, kept = make(), dict[int, np.ndarray]()
        for number, buffer in enumerate(made):
            if id(buffer) not in kept:
                kept[id(buffer)] = self._writer.add(f"{key}.{number}", buffer)
        return [kept[id(buffer)] for buffer in made]

    def _cached_buffers(self, key: str, programs: Sequence[CompiledProgram]) -> list[np.ndarray] | None:
        found: list[np.ndarray] = []
        for number, program in enumerate(programs):
            buffer = self._known.get(f"{key}.{number}", found[-1] if found else None)
            if buffer is None or buffer.nbytes != program.plan.weight_bytes:
                return None
            found.append(buffer)
        return found
