"""Models of torchvision, timm, transformers and diffusers as they come, with random weights, beside PyTorch eager.

    python tools/bench/zoo.py [PATTERN ...] [--limit 600] [--threads N] [--resume] [--out build/zoo.jsonl]
    python tools/bench/zoo.py --page PAGE.md [--out FILE]

Each model is imported, built and run in a process of its own, of bounded time and memory, and what came of it is a line
of the file of results. With --resume, models of which the file has a line are left out; with --page, nothing is run.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import fnmatch
import functools
import importlib
import json
import os
import resource
import signal
import statistics
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from zoo_models import made, names, other_inputs  # noqa: E402  # the path of this file's neighbours is set above
from zoo_page import SHARE, SLOW, WRONG, head, is_right, page, read, says  # noqa: E402

ROUNDS, SECONDS = 7, 0.5
"""Calls are measured for so many rounds and seconds at least."""


# --- one model, in a process of its own -------------------------------------------------------------------------------


def one(name: str, threads: int | None, imports: bool = False) -> dict[str, Any]:
    """Facts of a model: the largest error, milliseconds of a call of ours and of PyTorch, CPU seconds of import and
    build; imports: of the import only."""
    import torch

    import tir_mlir

    warnings.simplefilter("ignore")
    torch.set_grad_enabled(False)
    if threads:
        torch.set_num_threads(threads)
    model, inputs = made(name)
    start = time.process_time()
    graph = tir_mlir.from_torch(model, inputs)
    facts: dict[str, Any] = {"model": name, "import": time.process_time() - start}
    if imports:
        return facts
    expected = [each.numpy() for each in model(*inputs)]
    built: Any = tir_mlir.build(graph, threads=threads)
    facts["build"] = sum(built.timing.cpu.values())
    arrays = [each.numpy() for each in inputs]
    results = built(*arrays)
    results = results if isinstance(results, list | tuple) else [results]
    facts["error"] = max(_error(*pair) for pair in zip(results, expected, strict=True))
    if facts["error"] > WRONG:
        facts |= _rounding(model, inputs, results, expected)
    others = [each.numpy() for each in model(*other_inputs(inputs))]
    facts["moves"] = min(_error(*pair) for pair in zip(others, expected, strict=True))
    clock = time.process_time if threads == 1 else time.perf_counter
    ours, theirs = _in_turns(lambda: built(*arrays), lambda: model(*inputs), clock)
    return facts | {"ours": 1e3 * ours, "torch": 1e3 * theirs}


def _rounding(model: Any, inputs: tuple[Any, ...], results: Any, expected: Any) -> dict[str, float]:
    """The largest errors of ours and of PyTorch against PyTorch in float64; none for a model that takes no float64."""
    import torch

    try:
        exact = copy.deepcopy(model).double()(*(x.double() if x.dtype == torch.float32 else x for x in inputs))
    except (RuntimeError, TypeError):  # tensors that it makes itself are of float32
        return {}
    exact = [each.numpy() for each in exact]
    apart = {"ours off": results, "torch off": expected}
    return {
        key: max(_error(g.astype(w.dtype), w) for g, w in zip(got, exact, strict=True)) for key, got in apart.items()
    }


def _error(got: Any, want: Any) -> float:
    """The largest difference, of the largest value: 0 for results of no elements."""
    import numpy as np

    if got.shape != want.shape or got.dtype != want.dtype:
        raise ValueError(f"a result is {got.dtype} {got.shape}, PyTorch's {want.dtype} {want.shape}")
    return float(np.abs(got - want).max() / max(np.abs(want).max(), 1e-30)) if want.size else 0.0


def _in_turns(first: Callable[[], Any], second: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, float]:
    """Medians of seconds of two calls, measured in turns."""
    took: tuple[list[float], list[float]] = ([], [])
    while len(took[0]) < ROUNDS or sum(took[0]) + sum(took[1]) < SECONDS:
        for call, seconds in zip((first, second), took, strict=True):
            start = clock()
            call()
            seconds.append(clock() - start)
    return statistics.median(took[0]), statistics.median(took[1])


# --- all of them ------------------------------------------------------------------------------------------------------


def outcome(name: str, args: argparse.Namespace) -> dict[str, Any]:
    """What a process says of a model; where it dies or takes too long, that.

    The process is a fork of this one, which has imported the packages, so that they are not imported for each model.
    """
    for package in ("torch", name.partition("/")[0], "tir_mlir"):
        importlib.import_module(package)
    from tir_mlir.processes.forked import Copy

    with tempfile.TemporaryFile() as printed:
        process = Copy(functools.partial(_send_facts, name, args, printed.fileno()))
        try:
            with process:
                if not process.pipe.poll(args.limit):
                    return {"model": name, "why": f"takes longer than {args.limit:g} s"}
                return process.pipe.recv()
        except EOFError:  # it died
            printed.seek(0)
            lines = printed.read().decode(errors="replace").strip().splitlines()
        finally:
            with contextlib.suppress(ProcessLookupError):  # the workers of its builds
                os.killpg(process.id, signal.SIGKILL)
    ended = f"the process ended with {process.code}"
    return {"model": name, "why": ": ".join([ended, *lines[-1:]])[:300]}


def _send_facts(name: str, args: argparse.Namespace, printed: int, pipe: Any) -> None:
    os.setsid()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for stream in (1, 2):
        os.dup2(printed, stream)
    most = int(args.memory * 2**30)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))
    try:
        facts = one(name, args.threads, args.imports)
    except BaseException as error:  # the process ends here, and what it met is a line of the results
        where = traceback.extract_tb(error.__traceback__)[-1]
        words = str(error).strip().replace("\n", " | ") or f"at {Path(where.filename).name}:{where.lineno}"
        facts = {"model": name, "why": f"{type(error).__name__}: {words}"[:600]}
    pipe.send(facts)


def _short(row: dict[str, Any]) -> dict[str, Any]:
    return {key: float(f"{value:.3g}") if isinstance(value, float) else value for key, value in row.items()}


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("patterns", nargs="*", default=["*"], help="names, as timm/resnet* (default: all)")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds that a model may take")
    parser.add_argument("--memory", type=float, default=8.0, help="GiB that a model may take")
    parser.add_argument("--threads", type=int, help="of both; default: all cores")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "zoo.jsonl", help="the file of results")
    parser.add_argument("--resume", action="store_true", help="leave out the models that the file has")
    parser.add_argument("--page", type=Path, help="write the file's results as a page, and run nothing")
    parser.add_argument("--imports", action="store_true", help="import the models only")
    parser.add_argument("--list", action="store_true", help="print the names")
    return parser.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = _arguments(argv)
    if args.page:
        args.page.write_text(page(read(args.out)))
        return 0
    chosen = [name for name in names() if any(fnmatch.fnmatch(name, p) or p in name for p in args.patterns)]
    if args.list or not chosen:
        print("\n".join(chosen) if chosen else "no model of an installed package has such a name")
        return 0 if chosen else 2
    args.out.parent.mkdir(parents=True, exist_ok=True)
    known = read(args.out) if args.resume and args.out.exists() else []
    with args.out.open("a" if known else "w") as out:
        print(json.dumps(head(args.threads)), file=out, flush=True)
        for number, name in enumerate(chosen):
            if any(row.get("model") == name for row in known):
                continue
            row = outcome(name, args)
            print(json.dumps(_short(row)), file=out, flush=True)
            print(f"{number + 1}/{len(chosen)} {name}: {says(row)}", flush=True)
    rows = [row for row in read(args.out) if row.get("model") in chosen]
    right = sum(map(is_right, rows))
    slow = [row["model"] for row in rows if says(row) == "slow"]
    print(f"{right} of {len(rows)} right; slower than {SLOW} of PyTorch: {', '.join(slow) or 'none'}; see {args.out}")
    return int(right < SHARE * len(rows))


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: the process of a model ends, too
    sys.exit(main())
