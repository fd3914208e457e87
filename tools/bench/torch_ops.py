"""Operators of PyTorch as they are, beside PyTorch eager, on one thread, by CPU time.

    python tools/bench/torch_ops.py [PATTERN ...] [--seconds 0.4] [--list] [--out build/torch-ops.jsonl]

Each operator is imported, built, compared with PyTorch's result and timed in turns with it. A line for each and the
table, slowest first, are printed; it ends with 1 where a result is wrong.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import tir_mlir  # noqa: E402
from torch_works import Work, works  # noqa: E402  # the path of this file's neighbours is set above

ERROR = 1e-4
"""The largest difference, of the largest value, of a right result."""


def measure(work: Work, seconds: float) -> dict[str, Any]:
    """The error of an operator, and microseconds of a call of ours and of PyTorch; or why it does not build."""

    class Operator(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.compute = work.compute

        def forward(self, *inputs):
            return self.compute(*inputs)

    model = Operator().eval()
    arrays = [each.numpy() for each in work.inputs]
    try:
        built: Any = tir_mlir.build(tir_mlir.from_torch(model, work.inputs), threads=1)
        error = max(map(_error, _flat(built(*arrays)), _flat(model(*work.inputs))))
    except Exception as error:  # one that fails is a line of the table
        return {"name": work.name, "why": f"{type(error).__name__}: {error}"[:300]}
    ours, theirs = _in_turns(lambda: built(*arrays), lambda: model(*work.inputs), seconds)
    return {"name": work.name, "error": error, "ours": 1e6 * ours, "torch": 1e6 * theirs, "speed": theirs / ours}


def _flat(results: Any) -> list[Any]:
    return [x for each in results for x in _flat(each)] if isinstance(results, list | tuple) else [results]


def _error(got: Any, want: torch.Tensor) -> float:
    got, wanted = np.asarray(got, np.float64), want.numpy().astype(np.float64)
    if got.shape != wanted.shape:
        raise ValueError(f"a result is {got.shape}, PyTorch's {wanted.shape}")
    return float(np.abs(got - wanted).max() / max(np.abs(wanted).max(), 1e-30))


def _in_turns(first: Callable[[], Any], second: Callable[[], Any], seconds: float) -> tuple[float, float]:
    """CPU seconds of two calls, measured in turns: medians of rounds of about a millisecond."""
    rounds: tuple[list[float], list[float]] = ([], [])
    counts = [max(1, int(1e-3 / max(_once(call, 3), 1e-7))) for call in (first, second)]
    while sum(rounds[0]) * counts[0] + sum(rounds[1]) * counts[1] < seconds or len(rounds[0]) < 5:
        for call, count, took in zip((first, second), counts, rounds, strict=True):
            took.append(_once(call, count))
    return statistics.median(rounds[0]), statistics.median(rounds[1])


def _once(call: Callable[[], Any], count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count


def _says(row: dict[str, Any]) -> str:
    if "why" in row:
        return f"{row['name']:32} {row['why']}"
    wrong = "" if row["error"] <= ERROR else f"   WRONG {row['error']:.1e}"
    return f"{row['name']:32} {row['ours']:10.1f} {row['torch']:10.1f} {row['speed']:8.2f}{wrong}"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], help="names, as conv2d* (default: all)")
    parser.add_argument("--seconds", type=float, default=0.4, help="of measuring an operator")
    parser.add_argument("--list", action="store_true", help="print the names")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "torch-ops.jsonl", help="the file of results")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    chosen = [work for work in works() if any(fnmatch.fnmatch(work.name, p) or p in work.name for p in args.patterns)]
    if args.list or not chosen:
        print("\n".join(work.name for work in chosen) or "no operator has such a name")
        return 0 if chosen else 2
    rows = []
    args.out.parent.mkdir(parents=True, exist_ok=True)
    with args.out.open("w") as out:
        for work in chosen:
            rows.append(measure(work, args.seconds))
            print(json.dumps(rows[-1]), file=out, flush=True)
            print(_says(rows[-1]), flush=True)
    print(f"\n{'operator':32} {'ours, us':>10} {'torch, us':>10} {'speed':>8}")
    print("\n".join(map(_says, sorted(rows, key=lambda row: row.get("speed", 0)))))
    return int(any(row.get("error", 0) > ERROR for row in rows))


if __name__ == "__main__":
    sys.exit(main())
