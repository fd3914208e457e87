"""The results of the zoo: a file of JSON lines, and the page of the docs that is made of it.

A line is the head of a run (machine, day, versions, threads) or the facts of a model; the last line of a model holds.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from zoo_models import names

WRONG, SLOW, SHARE = 1e-4, 1.1, 0.97
"""The largest error, of the largest value of a result; the largest ratio to the time of PyTorch; how many are right."""
ROUNDS_MORE, MOST_ROUNDING = 1.5, 10 * WRONG
"""With a larger error, how much further from float64 our results may be than those of PyTorch, as two ways of rounding
differ by more than each of them is off; and how far at most."""
MOVES = 10 * WRONG
"""How much the results have to change with other inputs, of the largest value, that an error can be seen in them."""
PACKAGES = ("torch", "torchvision", "timm", "transformers", "diffusers")


def head(threads: int | None) -> dict[str, Any]:
    """What holds for the models of one run."""
    from tir_mlir.tune.records.environment import machine

    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package).partition("+")[0]
        except importlib.metadata.PackageNotFoundError:
            continue
    load = round(os.getloadavg()[0], 1)
    return {"machine": machine(), "day": str(date.today()), "threads": threads, "load": load, "versions": versions}


def read(file: Path) -> list[dict[str, Any]]:
    """The lines of a file: a head for the runs on a machine, and the last line of each model, where it first stood."""
    rows: dict[str, dict[str, Any]] = {}
    for line in file.read_text().splitlines():
        row = json.loads(line)
        key = row.get("model", f"run {row.get('machine')} {row.get('threads')}")
        if "model" not in row:
            earlier = rows.get(key, {})
            row["loads"] = [*earlier.get("loads", []), row["load"]]
            row["since"] = earlier.get("since", row["day"])
        rows[key] = row
    return list(rows.values())


def says(facts: dict[str, Any]) -> str:
    """right, wrong, slow, or why it did not run or cannot be said."""
    if "why" in facts:
        return facts["why"]
    if "error" not in facts:
        return "imports"
    if facts["error"] > WRONG and facts.get("torch off", 0.0) > MOST_ROUNDING:
        return f"says nothing: PyTorch itself is {facts['torch off']:.1e} off in float32"
    if not (facts["error"] <= WRONG or rounds(facts)):
        return f"wrong: {facts['error']:.1e} of its largest value"
    if facts.get("moves", 1) < MOVES:
        return f"says nothing: its results change by {facts['moves']:.1e} with other inputs"
    return "slow" if facts["ours"] > SLOW * facts["torch"] else "right"


def rounds(facts: dict[str, Any]) -> bool:
    """Whether an error is that of float32: our results are about as near to those of float64 as PyTorch's are."""
    limit = ROUNDS_MORE * facts.get("torch off", 0.0)
    return facts.get("ours off", 1.0) <= limit <= MOST_ROUNDING


def is_right(facts: dict[str, Any]) -> bool:
    """Whether a model did what was asked of it, however fast."""
    return says(facts) in ("right", "slow", "imports")


_INTRODUCTION = """# Models

Models as their packages have them, with random weights and batch 1. {all} of the {listed} models of the list were run
for this page. {right} are right: no result is off by more than {wrong} of its largest value{own}. {slow} of
these take more than {times} times as long as PyTorch. Language models and those of diffusers are small configurations
of their families; `tools/bench/zoo_models.py` has the list and says what was changed. `make zoo` runs all of it on
your machine.
"""
_ROUNDING = "or, for {} of them, no more than {} times as far from float64 as PyTorch's own result"
_TABLE = """\
Milliseconds of a call are medians, of ours and of PyTorch eager in turns; *ratio* is PyTorch's by ours. Import and
build are CPU seconds; functions that an earlier model has, too, were in the cache.

| Model | | Error | ours, ms | PyTorch, ms | ratio | import, s | build, s |
|---|---|---:|---:|---:|---:|---:|---:|"""


def page(lines: Sequence[dict[str, Any]]) -> str:
    """The table as a page of the docs."""
    rows = [line for line in lines if "model" in line]
    slow = sum(says(row) == "slow" for row in rows)
    counts = {"right": sum(map(is_right, rows)), "all": len(rows), "slow": slow, "wrong": WRONG, "times": SLOW}
    by_rounding = sum(is_right(row) and rounds(row) for row in rows)
    counts["own"] = f", {_ROUNDING.format(by_rounding, ROUNDS_MORE)}" if by_rounding else ""
    counts["listed"] = len(names(installed=False))
    runs = [f"{_run(line)}\n" for line in lines if "model" not in line]
    return "\n".join([_INTRODUCTION.format(**counts), *runs, _TABLE, *map(_line, rows)]) + "\n"


def _run(line: dict[str, Any]) -> str:
    versions = ", ".join(f"{package} {version}" for package, version in line["versions"].items())
    used = f"{line['threads']} thread{'s' * (line['threads'] != 1)}" if line["threads"] else "all cores"
    clock = "CPU time" if line["threads"] == 1 else "wall time"
    loads = line.get("loads", [line["load"]])
    load = f"load {loads[0]} when it began"
    if len(loads) > 1:
        load = f"{len(loads)} runs, each row of the last one with its model; load {min(loads)} to {max(loads)}"
    days = " to ".join(dict.fromkeys([line.get("since", line["day"]), line["day"]]))
    return f"{line['machine']}; {load}; {used}, {clock}; {days}; {versions}."


def _line(row: dict[str, Any]) -> str:
    if "error" not in row:
        return f"| {row['model']} | {says(row).replace('|', '/')} | | | | | | |"
    figures = f"{row['ours']:.3g} | {row['torch']:.3g} | {row['torch'] / row['ours']:.2f}"
    seconds = f"{row['import']:.1f} | {row['build']:.1f}"
    return f"| {row['model']} | {says(row)} | {row['error']:.1e} | {figures} | {seconds} |"
