"""One contestant with one type of weights, in a process of its own: `python -m language_models.one_run NAME WEIGHTS
FOLDER` prints a line of JSON."""

from __future__ import annotations

import json
import resource
import statistics
import sys
import time
from pathlib import Path

from .contestants import CONTESTANTS
from .model_files import SIZES, gguf_of_model

PROMPT, MORE, ROUNDS = 128, 32, 3


def main(name: str, weights: str, folder: Path) -> None:
    if name == "files":
        gguf_of_model(folder, weights)
        return
    start = _seconds()
    generate = CONTESTANTS[name](folder, weights)
    loaded = _seconds() - start
    prompt = [number * 7919 % SIZES["vocab_size"] for number in range(PROMPT)]
    firsts, nexts, tokens = [], [], []
    for _ in range(1 + ROUNDS):
        start = time.process_time()
        drawn = generate(prompt, 1 + MORE)
        tokens = [next(drawn)]
        first = time.process_time()
        tokens += drawn
        firsts.append(first - start)
        nexts.append((time.process_time() - first) / MORE)
    facts = {"first": statistics.median(firsts[1:]), "rate": 1 / statistics.median(nexts[1:])}
    print(json.dumps({**facts, "load": loaded, "peak": _peak(), "tokens": tokens}))


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
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
