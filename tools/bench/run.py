"""Measure everything, show it, write it."""

from __future__ import annotations

import argparse
from pathlib import Path

import compiling
import machine
import report
import running


def main(root: Path) -> int:
    args = _arguments(root)
    facts = machine.facts()
    for key, value in facts.items():
        print(f"{key:8} {value}")
    rows = [*compiling.rows(args.size, args.rounds, root), *running.rows(args.size, args.rounds)]
    report.show(f"{args.rounds} rounds, contestants in turn", rows)
    report.write(args.out, facts, rows)
    print(f"written to {args.out}")
    return 0


def _arguments(root: Path) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench", description="The numbers of the README, on one thread.")
    parser.add_argument("--size", type=int, default=1024, help="extent of the matrices, a multiple of 16 (1024)")
    parser.add_argument("--rounds", type=int, default=7, help="how often each thing is measured (7)")
    parser.add_argument("--out", type=Path, default=root / "build" / "bench.json", help="the JSON file")
    return parser.parse_args()
