"""Run the contestants in turn; print and write the table."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from report import short

from .contestants import CONTESTANTS, missing
from .model_files import WEIGHTS, folder_of_model

OURS = "ours"
_FIGURES = {
    "rate": "decode, tokens/CPU s",
    "first": "first token after 128, CPU s",
    "load": "load, CPU s",
    "peak": "peak, GB",
}


@dataclass
class Measured:
    """The figures of each contestant with one type of weights; why others are missing."""

    weights: str
    found: dict[str, dict[str, Any]] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)


def main(root: Path, weights: list[str], path: Path, facts: Mapping[str, str]) -> int:
    """Measure each type of weights on one thread. Returns 1 if ours failed, or has other tokens than PyTorch in
    float32."""
    folder = folder_of_model(root / "build" / "models")
    rows = []
    for each in weights or WEIGHTS:
        rows.append(_measured(root, folder, each))
        show(rows[-1:])
    if len(rows) > 1:
        show(rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"machine": dict(facts), "rows": [asdict(row) for row in rows]}, indent=1) + "\n")
    print(f"written to {path}")
    return int(any(OURS in row.missing or other_tokens(row) for row in rows))


def _measured(root: Path, folder: Path, weights: str) -> Measured:
    row = Measured(weights)
    for name in CONTESTANTS:
        why = missing(name, weights)
        if why is None:
            row.found[name], why = _run(root, name, weights, folder)
        if why is not None:
            row.found.pop(name, None)
            row.missing[name] = why
    return row


def _run(root: Path, name: str, weights: str, folder: Path) -> tuple[dict[str, Any], str | None]:
    """The figures of a process, or why there are none. Files that only one contestant reads are written before."""
    path = os.pathsep.join([str(root), str(root / "tools" / "bench"), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    for step in ("files", name) if name == "llama.cpp" else (name,):
        command = [sys.executable, "-W", "ignore", "-m", "language_models.one_run", step, weights, str(folder)]
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
    """Print the figures, and one line for each contestant that is missing."""
    table = Table(title="a language model of 0.5 billion parameters, one thread", title_justify="left")
    for heading in ("weights", "", *CONTESTANTS, "best / ours"):
        table.add_column(heading, no_wrap=True, justify="right" if heading not in ("weights", "") else "left")
    for row in rows:
        for figure, says in _FIGURES.items():
            cells = [_cell(row.found.get(name), figure) for name in CONTESTANTS]
            table.add_row(row.weights, says, *cells, _ratio(row, figure))
        table.add_section()
    Console(width=max(Console().width, 120)).print(table, highlight=False)
    for row in rows:
        for name, why in row.missing.items():
            print(f"missing: {name}, {row.weights}: {why}")
        if other_tokens(row):
            print(f"{row.weights}: tokens differ from PyTorch's")


def _cell(facts: dict[str, Any] | None, figure: str) -> str:
    if facts is None:
        return "-"
    return short(facts[figure] / 1e9 if figure == "peak" else facts[figure])


def _ratio(row: Measured, figure: str) -> str:
    """How much better ours is than the best peer: above 1, faster or smaller."""
    ours, peers = row.found.get(OURS), [facts[figure] for name, facts in row.found.items() if name != OURS]
    if ours is None or not peers:
        return "-"
    return f"{ours[figure] / max(peers) if figure == 'rate' else min(peers) / ours[figure]:.2f}"
