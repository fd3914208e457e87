"""Measure the models that were asked for; print and write the results."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from . import built, measured, told
from .subject import Subject, subject
from .table import chosen


def main(root: Path, args: argparse.Namespace, facts: dict[str, str]) -> int:
    """Measure each model at each number of threads. Returns 1 if one of ours has wrong results."""
    torch.set_grad_enabled(False)
    rows = []
    for line in chosen(args.models):
        one = subject(line, root / "build" / "models")
        for threads in args.threads:
            rows.append(_row(one, threads, root, args))
            told.show(rows[-1:])
    if len(rows) > 1:
        told.show(rows)
    path = told.write(args.out, rows, facts)
    print(f"written to {args.out} and {path}")
    return int(any(row.missing.get(measured.OURS, "").startswith("relative error") for row in rows))


def _row(one: Subject, threads: int, root: Path, args: argparse.Namespace) -> measured.Measured:
    start = time.perf_counter()
    row = measured.measured(one, threads, args.seconds, args.shared, args.contestants or measured.CONTESTANTS)
    if args.costs and measured.OURS in row.took:
        row.building = built.seconds_to_build(one, threads, root)
    print(f"{one.line.name}, threads {threads}: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)
    return row
