"""Fuzzing: random schedules of random programs, judged, and random text for everything that reads text.

    python tools/fuzz.py --pairs 1000 --inputs 1000 --seed 0
    python tools/fuzz.py --seed 0 --only pair:17

Ends with a line of counts; exit code 1 unless nothing was wrong, aborted or hung.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
sys.path[:0] = [str(HERE), str(HERE.parent)]


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="how many random schedules")
    parser.add_argument("--inputs", type=int, default=0, metavar="M", help="how many random inputs")
    parser.add_argument("--seed", type=int, default=0, metavar="S")
    parser.add_argument("--only", metavar="ITEM", help="one item alone, as failures name it: pair:17")
    parser.add_argument("--kind", metavar="WORD", help="inputs of the kinds with this word in their names only")
    parser.add_argument("--thorough", action="store_true", help="judge every pair after every step and in every way")
    parser.add_argument("--jobs", type=int, default=CORES, help="processes; default: the cores")
    parser.add_argument("--limit", type=float, default=60, metavar="SECONDS", help="what an item may take")
    parser.add_argument("--shrink", type=float, default=60, metavar="SECONDS", help="for making a failure smaller")
    parser.add_argument("--json", metavar="FILE", help="write all figures there")
    return parser


def main(argv: list[str] | None = None) -> int:
    parser = arguments()
    options = parser.parse_args(argv)

    from fuzzing import inputs
    from fuzzing.everything import kinds
    from fuzzing.items import INPUT, PAIR, Item, item
    from fuzzing.run import Run

    found = kinds(options.thorough, options.kind or "")
    if options.kind and not any(name.startswith(INPUT) for name in found):
        parser.error(f"no kind of input has {options.kind!r} in its name: {', '.join(inputs.KINDS)}")
    run = Run(found, options.jobs, options.limit, options.shrink, options.seed)
    if options.only:
        what, _, number = options.only.partition(":")
        return run.only(item(what, int(number), options.seed, found))

    def items() -> Iterator[Item]:
        for what, count in ((PAIR, options.pairs), (INPUT, options.inputs if inputs.KINDS else 0)):
            for number in range(count):
                yield item(what, number, options.seed, found)

    tally = run.all(items(), options.pairs + options.inputs)
    if options.json:
        Path(options.json).write_text(json.dumps(tally.figures(vars(options)), indent=1))
    print(tally.table())
    print(tally.line)
    return tally.code


if __name__ == "__main__":
    sys.exit(main())
