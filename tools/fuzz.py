"""Fuzz with random schedules of random programs, random graphs, random functions of PyTorch, random loops whose
machine code is compared with the interpreter, random kernels for GPUs, and random input for all parsers.

    python tools/fuzz.py --pairs 1000 --graphs 300 --torch 300 --code 300 --kernels 300 --inputs 1000 --seed 0
    python tools/fuzz.py --seed 0 --only pair:17

The last line holds the counts; exit code 0 only if no item was wrong, aborted or hung.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
sys.path[:0] = [str(HERE), str(HERE.parent)]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="number of random schedules")
    parser.add_argument("--graphs", type=int, default=0, metavar="K", help="number of random graphs")
    parser.add_argument("--torch", type=int, default=0, metavar="T", help="number of random functions of PyTorch")
    parser.add_argument("--code", type=int, default=0, metavar="C", help="number of random masked and narrowing loops")
    parser.add_argument(
        "--kernels", type=int, default=0, metavar="L", help="number of random kernels for a GPU, run on the PTX machine"
    )
    parser.add_argument(
        "--on-gpu",
        action="store_true",
        help="kernels: only such that run, on the PTX machine and on the GPU; their bits have to be equal",
    )
    parser.add_argument("--inputs", type=int, default=0, metavar="M", help="number of random inputs")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--only", metavar="ITEM", help="run one item, named as in a failure report: pair:17")
    parser.add_argument("--kind", metavar="WORD", help="only input kinds whose name contains WORD")
    parser.add_argument(
        "--stages", default="", metavar="WORDS", help="pairs: only these stages or families of programs"
    )
    parser.add_argument(
        "--steps",
        default="",
        metavar="WORDS",
        help="pairs: only these steps, as in split,schedules.gemm",
    )
    parser.add_argument("--thorough", action="store_true", help="run all checks on every pair, after every step")
    parser.add_argument("--jobs", type=int, default=CORES, help="worker processes (default: number of cores)")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="time limit per item")
    parser.add_argument("--shrink", type=float, default=60, metavar="SECONDS", help="time limit for shrinking")
    parser.add_argument("--json", metavar="FILE", help="write all statistics to FILE")
    return parser


def main(argv: list[str] | None = None) -> int:
    parser = arguments()
    options = parser.parse_args(argv)

    from fuzzing import inputs
    from fuzzing.everything import kinds
    from fuzzing.items import CODE, GRAPH, INPUT, KERNEL, PAIR, TORCH, Item, item
    from fuzzing.pairs.pair import Wanted
    from fuzzing.programs import program
    from fuzzing.run import Run
    from fuzzing.steps.step import EVERY
    from tir_mlir.errors import DeviceError
    from tir_mlir.runtime.drivers.device_driver import active

    wanted = Wanted(*(tuple(filter(None, words.split(","))) for words in (options.stages, options.steps)))
    try:
        program(Random(0), 1, wanted.stages)
    except ValueError as error:
        parser.error(str(error))
    if unknown := set(wanted.steps) - set(EVERY):
        parser.error(f"no step {', '.join(sorted(unknown))}: {', '.join(EVERY)}")
    if options.on_gpu:
        try:
            active().devices()
        except DeviceError as error:
            parser.error(f"--on-gpu: {error}")
    found = kinds(options.thorough, options.kind or "", wanted, options.on_gpu)
    if options.kind and not any(name.startswith(INPUT) for name in found):
        parser.error(f"no input kind contains {options.kind!r}: {', '.join(inputs.KINDS)}")
    run = Run(found, options.jobs, options.limit, options.shrink, options.seed, " --on-gpu" * options.on_gpu)
    if options.only:
        what, _, number = options.only.partition(":")
        return run.only(item(what, int(number), options.seed, found))

    def items() -> Iterator[Item]:
        inputs_wanted = options.inputs if inputs.KINDS else 0
        for what, count in (
            (PAIR, options.pairs),
            (GRAPH, options.graphs),
            (TORCH, options.torch),
            (CODE, options.code),
            (KERNEL, options.kernels),
            (INPUT, inputs_wanted),
        ):
            for number in range(count):
                yield item(what, number, options.seed, found)

    counts = (options.pairs, options.graphs, options.torch, options.code, options.kernels, options.inputs)
    tally = run.all(items(), sum(counts))
    if options.json:
        Path(options.json).write_text(json.dumps(tally.figures(vars(options)), indent=1))
    print(tally.table())
    print(tally.line)
    return tally.code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: workers are stopped, what ran is reported
    sys.exit(main())
