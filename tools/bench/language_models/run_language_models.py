"""Run the contestants one after the other; print and write the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from report import short

from .contestants import CONTESTANTS, missing
from .model_files import WEIGHTS
from .one_run import ROUNDS

OURS = "ours"
_FIGURES = {
    "rate": "decode, tokens/s",
    **{f"first {size}": f"first token after {size:,}, s" for size in ROUNDS},
    "load": "load, CPU s",
    "peak": "peak, GB",
}


@dataclass
class Measured:
    """The figures of each contestant with one type of weights; why others are missing."""

    weights: str
    threads: int
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def main(root: Path, weights: list[str], threads: Sequence[int], path: Path, facts: Mapping[str, str]) -> int:
    """Measure each type of weights on each number of threads, one contestant at a time. Returns 1 if ours failed, or
    has other tokens than PyTorch in float32."""
    folder = root / "build" / "models" / "qwen2-random"
    rows: list[Measured] = []
    path.parent.mkdir(parents=True, exist_ok=True)
    for count in threads:
        for each in weights or WEIGHTS:
            rows.append(_measured(root, folder, each, count))
            show(rows[-1:])
            path.write_text(
                json.dumps({"machine": dict(facts), "rows": [asdict(row) for row in rows]}, indent=1) + "\n"
            )
    if len(rows) > 1:
        show(rows)
    print(f"written to {path}")
    return int(any(OURS in row.missing or other_tokens(row) for row in rows))


def _measured(root: Path, folder: Path, weights: str, threads: int) -> Measured:
    row = Measured(weights, threads)
    for name in CONTESTANTS:
        why = missing(name, weights)
        if why is None:
            row.found[name], why = _run(root, name, weights, folder, threads)
        if why is not None:
            row.found.pop(name, None)
            row.missing[name] = why
    return row


def _run(root: Path, name: str, weights: str, folder: Path, threads: int) -> tuple[dict[str, Any], str | None]:
    """The figures of a process, or why there are none. The files that it reads are written before."""
    path = os.pathsep.join([str(root), str(root / "tools" / "bench"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": str(threads), "GGML_NO_BACKTRACE": "1"}
    for step in ("model", "files", name) if name == "llama.cpp" else ("model", name):
        arguments = [step, weights, str(folder), str(threads)]
        command = [sys.executable, "-W", "ignore", "-m", "language_models.one_run", *arguments]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            return {}, f"{step} failed: {last}"
    return json.loads(done.stdout.strip().splitlines()[-1]), None


def other_tokens(row: Measured) -> bool:
    """Whether our tokens differ from PyTorch's, where both compute in float32."""
    tokens = [row.found[name]["tokens"] for name in (OURS, "torch") if name in row.found]
    return row.weights == "float32" and any(each != tokens[0] for each in tokens)


def show(rows: list[Measured]) -> None:
    """Print the figures, how much better ours is than each peer, and one line for each contestant that is missing."""
    peers = [name for name in CONTESTANTS if name != OURS]
    title = "a language model of 0.5 billion parameters; CPU seconds on one thread, else of the clock"
    table = Table(title=title, title_justify="left")
    for heading in ("weights", "threads", "", *CONTESTANTS, *(f"{OURS} : {name}" for name in peers)):
        table.add_column(heading, no_wrap=True, justify="left" if heading in ("weights", "") else "right")
    for row in rows:
        for figure, says in _FIGURES.items():
            cells = [_cell(row.found.get(name), figure) for name in CONTESTANTS]
            table.add_row(row.weights, str(row.threads), says, *cells, *(_ratio(row, figure, name) for name in peers))
        table.add_section()
    Console(width=max(Console().width, 120)).print(table, highlight=False)
    for row in rows:
        for name, why in row.missing.items():
            print(f"missing: {name}, {row.weights}, {row.threads}: {why}")
        if other_tokens(row):
            print(f"{row.weights}, {row.threads}: tokens differ from PyTorch's")


def _cell(facts: dict[str, Any] | None, figure: str) -> str:
    if facts is None:
        return "-"
    return short(facts[figure] / 1e9 if figure == "peak" else facts[figure])


def _ratio(row: Measured, figure: str, peer: str) -> str:
    """How much better ours is than a peer: above 1, faster or smaller."""
    if OURS not in row.found or peer not in row.found:
        return "-"
    ours, other = row.found[OURS][figure], row.found[peer][figure]
    return f"{ours / other if figure == 'rate' else other / ours:.2f}"
