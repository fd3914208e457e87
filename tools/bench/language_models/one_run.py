"""One contestant with one type of weights, in a process of its own: `python -m language_models.one_run NAME WEIGHTS
FOLDER THREADS` prints a line of JSON; as NAME `model` and `files` write what all of them, or one, read."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from .contestants import CONTESTANTS, Generate
from .model_files import SIZES, gguf_of_model, write_model

ROUNDS = {128: 3, 1024: 1}
"""Tokens of a prompt -> how often it is measured, after one run that is not."""
MORE = 32
"""The tokens after the first; their rate is told for the first prompt."""

FILES = {"model": lambda folder, _: write_model(folder), "files": gguf_of_model}
"""Those who write files -> how."""


def main(name: str, weights: str, folder: Path, threads: int) -> None:
    if name in FILES:
        FILES[name](folder, weights)
        return
    start = _seconds()
    generate = CONTESTANTS[name](folder, weights, threads)
    found: dict[str, Any] = {"load": _seconds() - start}
    for size, rounds in ROUNDS.items():
        runs = [_run(generate, size, threads) for _ in range(1 + rounds)]
        found[f"first {size}"] = statistics.median(first for first, _, _ in runs[1:])
        found.setdefault("rate", MORE / statistics.median(rest for _, rest, _ in runs[1:]))
        found.setdefault("tokens", runs[0][2])
    print(json.dumps({**found, "peak": _peak()}))


def _run(generate: Generate, size: int, threads: int) -> tuple[float, float, list[int]]:
    """Seconds to the first token after a prompt, seconds for the rest, and the tokens: CPU time of one thread, which
    others on the machine change little; else wall time, as threads that wait may spin."""
    clock = time.process_time if threads == 1 else time.perf_counter
    prompt = [number * 7919 % SIZES["vocab_size"] for number in range(size)]
    start = clock()
    drawn = generate(prompt, 1 + MORE)
    tokens = [next(drawn)]
    first = clock()
    tokens += drawn
    return first - start, clock() - first, tokens


def _seconds() -> float:
    """CPU seconds of this process and of those that it waited for."""
    return sum(sum(resource.getrusage(who)[:2]) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def _peak() -> int:
    """Bytes of memory at the peak. What getrusage says is on Linux at least what the parent had."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
