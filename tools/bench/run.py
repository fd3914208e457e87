"""Run all measurements; print and write the results."""

from __future__ import annotations

import argparse
import re
import sys
import time
from pathlib import Path

import builds
import compiling
import ladder
import machine
import measure
import on_gpu
import peers
import plot
import predicted
import ranks
import readme_table
import report
import rows
import searching
from contest import OURS, Work, WrongResult, check
from language_models.model_files import WEIGHTS as LLM_WEIGHTS
from ours import in_words
from roofline import Roofs
from threads import counts, quiet, set_threads
from tir_mlir.errors import BuildError
from tir_mlir.target import host_gpu
from works import all_works, programs, tuned

MINUTES = 18.0  # for the whole run; each work gets less time when it runs short


def main(root: Path) -> int:
    args = _arguments(root)
    if args.ladder:
        return _ladder(args.out.with_name("ladder.json"), max(args.threads), args.shared)
    if args.gpu:
        return _gpu(args.out.with_name("gpu.json"))
    if args.predict is not None and args.measured:
        return ranks.run(args.only)
    if args.predict is not None:
        patterns = [args.only, *([predicted.GOLDEN] if args.golden else [])]
        return predicted.run(args.out, patterns, args.predict or predicted.CPUS)
    end = time.perf_counter() + 60 * args.minutes
    facts = {**machine.facts(), "clock": "CPU time on one thread" if args.shared else "wall time"}
    for key, value in facts.items():
        print(f"{key:8} {value}")
    if args.llm is not None:
        return _language_models(root, args, facts)
    if args.models is not None:
        return _models(root, args, facts)
    roofs = machine.roofs(sorted({1, *args.threads}), args.shared)  # some works have one thread only
    report.show_roofs(roofs)
    found = _works(args, roofs, end)
    if args.only.search("build") and not args.programs and not args.tune:
        found += builds.rows(root)
    found = [tuned.with_library(row) for row in found] if args.tune else rows.with_means(found)
    report.show(found, tuned.COLUMNS if args.tune else report.PEERS)
    if args.tune:
        report.show_costs(args.searches.costs)
        print(*tuned.bars(found), sep="\n")
    details = rows.write(args.out, found, {**facts, **_plain(roofs)})
    readme_table.write(args.out.with_suffix(".md"), found)
    print(f"written to {args.out}, {details} and {args.out.with_suffix('.md')}")
    print(f"drawn in {plot.picture(found).save(args.out.with_suffix('.svg'))}")
    if args.costs:
        report.show_costs(compiling.costs(1024, 5, root))
    wrong = [why for row in found for why in row.missing.values() if why.startswith(WrongResult.__name__)]
    return 1 if wrong else 0


def _ladder(path: Path, threads: int, shared: bool) -> int:
    rungs = []
    for rung in ladder.climb(1024, threads, shared):
        rungs.append(rung)
        print(f"{'-' if rung.rate is None else report.short(rung.rate):>6} GFLOP/s  {rung.step} {rung.why}", flush=True)
    ladder.write(path, rungs)
    print(f"written to {path}")
    return 0


def _gpu(path: Path) -> int:
    try:
        return on_gpu.run(path, host_gpu())
    except BuildError as error:
        print(error, file=sys.stderr)
        return 2


def _models(root: Path, args: argparse.Namespace, facts: dict[str, str]) -> int:
    why = peers.ALL["torch"].missing()
    if why is not None:
        print(f"models are made by PyTorch: {why}")
        return 1
    from whole_models import run_models

    return run_models.main(root, args, facts)


def _language_models(root: Path, args: argparse.Namespace, facts: dict[str, str]) -> int:
    from language_models import contestants, run_language_models

    why = contestants.missing("ours", "float32")
    if why is not None:
        print(f"the model is made by transformers: {why}")
        return 1
    return run_language_models.main(root, args.llm, args.threads, args.out, facts)


def _works(args: argparse.Namespace, roofs: Roofs, end: float) -> list[rows.Row]:
    works = [work for work in _table(args) if args.only.search(work.name)]
    found = []
    for number, work in enumerate(works):
        share = (end - time.perf_counter()) / (len(works) - number)
        start = time.perf_counter()
        found.append(one(work, roofs, min(args.seconds, max(share / 2, 0.1)), args.shared))
        took, times = time.perf_counter() - start, found[-1].times_best
        told = "" if times is None else f", {times:.2f} of the best other"  # should the run not come to its end
        print(f"{number + 1}/{len(works)} {work.name}: {took:.1f} s{told}", file=sys.stderr, flush=True)
    return found


def _table(args: argparse.Namespace) -> list[Work]:
    if args.tune:
        return tuned.works(args.searches)
    return programs.works() if args.programs else all_works(args.threads)


def one(work: Work, roofs: Roofs, budget: float, shared: bool = False) -> rows.Row:
    """Check every contestant of a work, then time those with right results.

    Single-threaded works run on the calling thread: on a shared machine its CPU time is measured, and the peak beside
    it, as what runs on the other half of a core lowers both.
    """
    set_threads(work.threads, [peers.set_threads])
    contest = work.make()
    for name in list(contest.contestants):
        try:
            check(name, contest.contestants[name], contest.expected)
        except Exception as error:  # wrong or broken: a line of the report
            del contest.contestants[name]
            contest.missing[name] = in_words(error)
    order = sorted(contest.contestants, key=lambda name: name != OURS)
    quiet()
    took = measure.interleaved(
        {name: contest.contestants[name].call for name in order},
        budget=budget,
        before=quiet if work.threads > 1 else None,
        clock=measure.clock_for(shared, work.threads),
    )
    if shared:
        roofs = machine.with_peak(roofs, work.dtype, work.threads)
    return rows.row(work, took, contest.missing, roofs, contest.origin)


def _plain(roofs: Roofs) -> dict[str, object]:
    """Return the roofs as JSON values."""
    peaks = {f"{dtype}, {threads}": rate for (dtype, threads), rate in roofs.peaks.items()}
    return {
        "peaks": peaks,
        "bandwidth": {str(t): [point._asdict() for point in points] for t, points in roofs.curves.items()},
    }


def _parser(root: Path) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench", description="Compare tir_mlir with other libraries and the machine's roofline."
    )
    parser.add_argument(
        "--only", type=re.compile, default=re.compile(""), help="run only works whose name matches this pattern"
    )
    parser.add_argument("--threads", type=int, nargs="+", default=counts(), help=f"thread counts (default: {counts()})")
    parser.add_argument("--seconds", type=float, default=4.0, help="seconds per work (default: 4)")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help=f"approximate minutes of the whole run (default: {MINUTES:.0f})"
    )
    parser.add_argument("--shared", action="store_true", help="the machine is shared: measure CPU time for threads = 1")
    parser.add_argument(
        "--ladder", action="store_true", help="only time a matrix product after each primitive of its schedule"
    )
    parser.add_argument(
        "--predict", nargs="*", metavar="CPU", help="predict, without running them, works on all CPUs, or those named"
    )
    parser.add_argument("--golden", action="store_true", help="with --predict: the works of the golden table")
    parser.add_argument("--measured", action="store_true", help="with --predict: also measure, on this machine")
    parser.add_argument("--gpu", action="store_true", help="only measure kernels on the GPU of this machine")
    parser.add_argument("--programs", action="store_true", help="measure the programs of docs/programs instead")
    parser.add_argument(
        "--tune", action="store_true", help="measure what searches find, and what they cost, on one thread instead"
    )
    parser.add_argument("--models", nargs="*", metavar="NAME", help="measure whole models instead: all, or those named")
    parser.add_argument(
        "--llm", nargs="*", choices=LLM_WEIGHTS, help="measure a language model instead: all weights, or those named"
    )
    parser.add_argument(
        "--contestants", nargs="+", metavar="NAME", help="of models: only ours, eager, compiled, onnxruntime"
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=searching.TRIALS,
        help=f"trials of a search (default: {searching.TRIALS}); 0: measure what was found before",
    )
    parser.add_argument("--sampler", default="tpe", help="the sampler of searches (default: tpe)")
    parser.add_argument(
        "--tuned", type=Path, default=root / "build" / "tuned", help="where searches keep what they find"
    )
    parser.add_argument("--costs", action="store_true", help="also measure the costs of tir_mlir itself")
    parser.add_argument(
        "--out", type=Path, help="output file (default: build/bench.json, tune.json, models.json or predicted.txt)"
    )
    return parser


def _arguments(root: Path) -> argparse.Namespace:
    parser = _parser(root)
    args = parser.parse_args()
    kind = "tune" if args.tune else "llm" if args.llm is not None else "bench" if args.models is None else "models"
    name = f"{kind}.json" if args.predict is None else "predicted.txt"
    args.out = args.out or root / "build" / name
    if args.llm is not None:
        return args
    if args.models is not None:
        _check_names(parser, args)
        return args
    args.searches = searching.Searches(args.tuned, args.trials, args.sampler)
    names = [work.name for work in (_table(args) if args.predict is None else predicted.works())]
    if not any(args.only.search(name) for name in [*names, "build"]):
        short = dict.fromkeys(name.split(",")[0] for name in [*names, "build"])
        parser.error(f"no work matches {args.only.pattern!r}; names begin with: {'; '.join(short)}")
    return args


def _check_names(parser: argparse.ArgumentParser, args: argparse.Namespace) -> None:
    """Refuse names of models or contestants that are not there."""
    from whole_models import table

    try:
        table.chosen(args.models)
    except ValueError as error:
        parser.error(str(error))
    known = ("ours", "eager", "compiled", "onnxruntime")
    for name in args.contestants or ():
        if name not in known:
            parser.error(f"no contestant {name!r}; fix: one of {', '.join(known)}")
