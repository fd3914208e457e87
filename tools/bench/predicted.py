"""`make bench ARGS=--predict`: the cycles of works on CPUs that are not here, over the least that each CPU could take.

A row a work, a column a CPU: `1.04` of the best. Behind it, what limits the work, but for multiply-adds:
l loads, s stores, c conversions, p shuffles, a arithmetic, x scalar code, f front end, w waiting (latency),
t tiles, 2 L2, 3 L3, d DRAM, b balance of threads, r starting them (regions).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import ours
from contest import Work
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.graph import Graph
from tir_mlir.graph.build_model import program_of
from tir_mlir.prediction import Prediction, predict
from tir_mlir.target import Target, named
from works import convolutions, halves, integer_convolutions, integers, operators, products, rowwise
from works.entering import captured

CPUS = (
    "haswell", "skylake_avx512", "icelake", "alder_lake", "sapphire_rapids", "sapphire_rapids_no_amx", "zen1", "zen2",
    "zen3", "zen4", "zen5", "neoverse_n1", "neoverse_v1", "neoverse_n2", "neoverse_v2", "apple_m1", "spacemit_x60",
)  # fmt: skip
_FAMILIES = (products, integers, halves, convolutions, integer_convolutions, rowwise, operators)
_LETTERS = {
    "multiply-adds": "", "loads": "l", "stores": "s", "conversions": "c", "shuffles": "p", "arithmetic": "a",
    "scalar code": "x", "front end": "f", "latency": "w", "tile products": "t", "L2": "2", "L3": "3", "DRAM": "d",
    "balance": "b", "regions": "r",
}  # fmt: skip
_UNKNOWN = "?"
GOLDEN = re.compile(
    r"^(A @ B.T|A @ B, odd 127|A @ B, thin and large 64x64x4096|a @ B |A @ B, int8 in int32 1024|A @ B, \w+16|"
    r"layer norm|softmax|conv2d, resnet-50 (64x56x56 to 64x56x56, 3|512x7x7)|attention|"
    r"conv2d in 8 bits (64x56x56 to 64x56x56, 3|128x28x28 to 128x28x28|512x7x7)|depthwise conv2d in 8 bits 960)"
)
"""The works of the table in the tests."""
SHARED = re.compile(
    r"^(A @ B.T|A @ B, odd (127|511)|A @ B, thin and large 64x64x4096|a @ B |A @ B, int8 in int32 1024|"
    r"softmax|layer norm|attention 12x)"
)
"""Those that are there on `THREADS` threads, too."""
THREADS = 16


@dataclass(frozen=True)
class Cell:
    """A work on a CPU: its cycles over the least ones, and what limits it."""

    over_best: float
    limit: str

    def __str__(self) -> str:
        return f"{self.over_best:.2f}{_LETTERS.get(self.limit, _UNKNOWN)}"


def works(only: re.Pattern[str] = re.compile(""), shared: re.Pattern[str] = SHARED) -> list[Work]:
    """The works that are scheduled for a given CPU, whose sizes are constants: on one thread, and those that match
    `shared` on several, too."""
    found = [work for family in _FAMILIES for work in family.works([1, THREADS])]
    found = [work for work in found if only.search(work.name) and not re.search("top-k|embedding", work.name)]
    return [work for work in found if work.threads == 1 or shared.search(work.name)]


def predict_work(work: Work, cpus: Iterable[str]) -> Iterator[tuple[str, Cell | str]]:
    """For each CPU its name, and the cell of a work or why there is none."""
    make = captured(work.make)
    assert make is not None, work.name
    for name in cpus:
        cpu = named(name).as_cpu()
        try:
            prediction = predict(program(make, cpu), cpu, work.threads)
            yield name, Cell(prediction.cycles / best_cycles(work, prediction), prediction.limit)
        except TirError as error:
            yield name, str(error).splitlines()[0]


def program(make: Callable[[], object], cpu: Target) -> object:
    """What a work compiles for a CPU: a Schedule, or the module of a graph."""
    token = ours.TARGET.set(cpu)
    try:
        made = make()
        return program_of(made, cpu) if isinstance(made, Graph) else made
    finally:
        ours.TARGET.reset(token)


def best_cycles(work: Work, prediction: Prediction) -> float:
    """The least cycles of a work on a CPU: of its multiply-adds, or of its arrays from where they fit."""
    cpu, core = prediction.cpu, prediction.core
    dtype = next((dtype for dtype in ("bfloat16",) if dtype in work.work), work.dtype)
    moved = work.read + work.written
    threads, caches = prediction.threads, core.caches(prediction.threads)
    sizes = (
        (threads * cpu.l1, threads * core.l1), (threads * cpu.l2, threads * core.l2),
        (caches * core.last_cache(cpu), threads * core.l3_each(threads)), (float("inf"), core.dram_rate(threads)),
    )  # fmt: skip
    rate = next(rate for size, rate in sizes if moved <= size)
    is_product = work.unit != "GB/s"
    return max(work.operations / 2 / core.multiply_adds(dtype, cpu) / threads if is_product else 0.0, moved / rate)


def table(patterns: Sequence[re.Pattern[str]], cpus: Sequence[str], show: Callable[[str], object] = print) -> list[str]:
    """The lines of the table, each shown as soon as it is known: of the works whose names all patterns match."""
    lines, whys = [header(cpus)], []
    show(lines[0])
    for work in works():
        if not all(pattern.search(work.name) for pattern in patterns):
            continue
        cells = []
        for name, cell in predict_work(work, cpus):
            cells.append(str(cell) if isinstance(cell, Cell) else _UNKNOWN)
            whys += [f"{work.name}, {name}: {cell}"] if isinstance(cell, str) else []
        lines.append(row(work, cells))
        show(lines[-1])
    for why in whys:
        show(why)
    return lines


def header(cpus: Sequence[str]) -> str:
    return _line("work", cpus)


def row(work: Work, cells: Sequence[str]) -> str:
    threads = f", {work.threads} threads" if work.threads > 1 else ""
    return _line(f"{work.work} {work.shape}{threads}", cells)


def _line(name: str, cells: Sequence[str]) -> str:
    line = f"{name:<{NAME}}" + " ".join(f"{_SHORT.get(cell, cell):>{_CELL}}" for cell in cells)
    return line.rstrip()


NAME = 62
"""The width of the first column."""
_CELL = 8
_SHORT = {
    "skylake_avx512": "skylake", "alder_lake": "alder", "sapphire_rapids": "sprapids",
    "sapphire_rapids_no_amx": "spr-amx",
    "neoverse_n1": "neov_n1", "neoverse_v1": "neov_v1", "neoverse_n2": "neov_n2", "neoverse_v2": "neov_v2",
    "spacemit_x60": "x60",
}  # fmt: skip


def run(path: Path, patterns: Sequence[re.Pattern[str]], cpus: Sequence[str]) -> int:
    """Print the table and write it to a file."""
    lines = table(patterns, cpus)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")
    print(f"written to {path}")
    return 0
