"""The cycles of a call of a scheduled program on threads of a CPU, which need not be here."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls import C_INTERFACE
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.dialect.ir import enter_context, held_module
from tir_mlir.prediction.assembly import comment_of, read_assembly
from tir_mlir.prediction.cores import WAITED, Core, core_of
from tir_mlir.prediction.cycles import Cycles
from tir_mlir.prediction.executions import CodePiece, count_executions
from tir_mlir.prediction.named_code import named_code
from tir_mlir.prediction.nests import loop_nests, with_runs_of_nests
from tir_mlir.prediction.simulation import simulate
from tir_mlir.prediction.thread_shares import ParallelRegion, parallel_regions, share_of_a_thread
from tir_mlir.prediction.traffic import MemoryTraffic, count_traffic
from tir_mlir.runtime.llvm import object_code
from tir_mlir.target import AnyTarget, Target, resolved
from tir_mlir.target.work_cost import region_cycles

_COVERED = 0.98
"""Of the executed instructions: what is simulated; the rest is taken to run at the same rate."""
_MOST_PIECES = 24


@dataclass(frozen=True)
class LoopCost:
    """A piece of code, its cycles an iteration, and its part of the cycles of the core."""

    code: CodePiece
    cycles: Cycles
    share: float

    @property
    def total(self) -> float:
        """Cycles in a call."""
        return self.cycles.cycles * self.code.executions


BALANCE, REGIONS = "balance", "regions"
"""What limits threads: some of them have less to do, or they are started too often."""
_EVEN = 0.8
"""The part of the threads' time that is filled, below which their balance is what limits."""


@dataclass(frozen=True)
class Prediction:
    """A call of a program on some threads of a CPU, each on a core. loops: the most expensive first, as the thread with
    most iterations runs them. core_cycles: of it, with all data in the first cache. traffic: from the levels behind it.
    regions: the parallel loops."""

    cpu: Target
    core: Core
    loops: Sequence[LoopCost]
    core_cycles: float
    traffic: Sequence[MemoryTraffic]
    threads: int = 1
    regions: Sequence[ParallelRegion] = ()

    @property
    def cycles(self) -> float:
        """Of a call: the core works while data moves, so that the slower of them decides, and threads start before."""
        return max(self.core_cycles, *(level.cycles for level in self.traffic)) + self.region_cycles

    @property
    def likely_cycles(self) -> float:
        """Of a call as it is measured: the core also waits for a part of what moves. Candidates of a search are ranked
        by it."""
        waiting = max((WAITED[level.level] * level.cycles for level in self.traffic), default=0.0)
        return max(self.cycles, self.core_cycles + waiting + self.region_cycles)

    @property
    def region_cycles(self) -> float:
        """To start the threads of all regions, and to wait for them."""
        return sum(region.entries for region in self.regions) * region_cycles(self.threads)

    @property
    def limit(self) -> str:
        """What decides: starting threads ("regions") or their "balance", a memory ("L2", "L3", "DRAM"), or what limits
        the loops with most of the cycles."""
        slowest = max(self.traffic, key=lambda level: level.cycles)
        if 2 * self.region_cycles > self.cycles:
            return REGIONS
        if slowest.cycles > self.core_cycles:
            return slowest.level
        if self.is_uneven:
            return BALANCE
        by_limit: dict[str, float] = defaultdict(float)
        for loop in self.loops:
            by_limit[loop.cycles.limit] += loop.total
        return max(by_limit, key=by_limit.__getitem__, default="nothing")

    @property
    def is_uneven(self) -> bool:
        """Whether a parallel loop leaves a fifth of the threads' time or more unused."""
        return self.threads > 1 and any(region.balance(self.threads) < _EVEN for region in self.regions)

    @property
    def is_exact(self) -> bool:
        """Whether the trip counts of the loops are known."""
        return all(loop.code.known for loop in self.loops)

    @property
    def ports(self) -> Mapping[str, float]:
        """Cycles of a call that each port is busy."""
        busy: dict[str, float] = defaultdict(float)
        for loop in self.loops:
            for port, cycles in loop.cycles.ports.items():
                busy[port] += cycles * loop.code.executions
        return dict(busy)


def predict(program: object, target: str | AnyTarget = "llvm", threads: int = 1) -> Prediction:
    """Predict the cycles of a call of a scheduled program, a Schedule, IRModule, PrimFunc or ir.Module, on threads of a
    CPU: its machine code is made and simulated, not run. threads: of as many cores, at most those of a socket.

    Raises BuildError for another kind of target or a core without a model, and what a build raises.
    """
    module = held_module(program)
    if module is None:
        raise BuildError(
            f"predict takes a Schedule, an IRModule, a PrimFunc or an MLIR module, not {short_repr(program)}"
        )
    wanted = resolved(target)
    if not wanted.is_cpu:
        raise BuildError(f"speed is predicted for CPUs, not for a {wanted.noun}; fix: a GPU's library has lib.report()")
    if not isinstance(threads, int) or threads < 1:
        raise BuildError(f"threads is a number of threads from 1 on, not {short_repr(threads)}")
    cpu = wanted.as_cpu()
    core = core_of(cpu)
    threads = min(threads, core.cores)
    share = share_of_a_thread(module, threads)
    pieces = with_runs_of_nests(_pieces(share, cpu), loop_nests(share))
    hot = _hottest(pieces)
    costs = simulate(hot, core, cpu)
    simulated = sum(piece.executions * cost.cycles for piece, cost in zip(hot, costs, strict=True))
    weight = sum(piece.weight for piece in hot)
    core_cycles = simulated * sum(piece.weight for piece in pieces) / weight if weight else 0.0
    loops = [
        LoopCost(piece, cost, piece.executions * cost.cycles / core_cycles)
        for piece, cost in zip(hot, costs, strict=True)
    ]
    return Prediction(
        cpu, core, sorted(loops, key=lambda loop: -loop.total), core_cycles,
        count_traffic(module, cpu, core, threads), threads, parallel_regions(module) if threads > 1 else (),
    )  # fmt: skip


def _pieces(module: ir.Module, cpu: Target) -> list[CodePiece]:
    with enter_context():
        code = named_code(module, cpu)
    triple = cpu.triple or object_code.target().triple.decode()
    functions = read_assembly(code.assembly, comment_of(triple))
    roots = [f.name for f in functions if f.name.startswith(C_INTERFACE)]
    return count_executions(functions, code.trips, roots)


def _hottest(pieces: Sequence[CodePiece]) -> list[CodePiece]:
    """The pieces that have most of the executed instructions."""
    total, covered, found = sum(piece.weight for piece in pieces), 0.0, []
    for piece in pieces[:_MOST_PIECES]:
        if covered >= _COVERED * total:
            break
        found.append(piece)
        covered += piece.weight
    return found
