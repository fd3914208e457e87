"""A block alone on a multiprocessor: when its busiest warp could do what it does, by dependences, pipes and waits."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tir_mlir.ptx.parser import Kernel, PtxInstruction
from tir_mlir.ptx.prediction.costs import BARRIER_LATENCY, OF_SCHEDULERS, Cost
from tir_mlir.ptx.prediction.slices import results_and_sources

_LAST = frozenset(("fma", "alu", "issue", ""))
"""Instructions of these pipes give way to those whose results come late, as ptxas has it."""
VISITS = 3
"""Times that a part of the path is followed; after them it takes as long as the last time."""


@dataclass(frozen=True)
class Request:
    """What a warp's execution of an access occupies. latency: cycles to the use of what is loaded; asynchronous: it
    goes past registers, and is waited for."""

    pipes: Mapping[str, float]
    latency: float
    asynchronous: bool = False


@dataclass
class _Node:
    """An instruction in its part: its cost, the registers that it reads and writes, those in the part that use it, the
    cycles that all warps of the block occupy each pipe, and the pipe in whose queue it waits."""

    ins: PtxInstruction
    cost: Cost
    request: Request | None
    results: list[str]
    sources: list[str]
    pipes: list[tuple[str, float]]
    queue: str
    users: list[int] = field(default_factory=list)
    waits_for: int = 0


def is_wait(ins: PtxInstruction) -> bool:
    """Whether a warp goes on after this instruction only when others have come, or copies or products are done."""
    name, parts = ins.parts[0], ins.parts
    return (
        (name in ("bar", "barrier") and "arrive" not in parts and "warp" not in parts)
        or (name == "cp" and ("wait_group" in parts or "wait_all" in parts))
        or (name == "mbarrier" and ("try_wait" in parts or "test_wait" in parts))
        or (name == "wgmma" and "wait_group" in parts)
    )


class BlockWalk:
    """Follows the path of a warp whose block has `warps` like it.

    Between two waits or branches instructions start in the order in which their operands are there, as far as pipes
    are free: ptxas orders them for this. A part ends when its last instruction has started.
    """

    def __init__(self, kernel: Kernel, warps: int, costs: Sequence[Cost], requests: Mapping[int, Request]):
        self.kernel, self.costs, self.requests = kernel, costs, requests
        self.share = {True: -(-warps // 4) * 4, False: warps}
        self.ready: dict[str, float] = {}
        self.free: dict[str, float] = {}
        self.now = 0.0
        self.waiting = 0.0
        """Cycles in which the unit that a part needs most has nothing to do."""
        self._parts: dict[tuple[int, int], list[_Node]] = {}
        self._durations: dict[tuple[int, int], list[tuple[float, float]]] = {}
        self._copies: list[list[float]] = [[]]
        self._products: list[list[float]] = [[]]

    def cycles(self, path: Sequence[tuple[int, int]]) -> float:
        """Cycles of the whole path."""
        for part in self._split(path):
            known = self._durations.setdefault(part, [])
            if len(known) >= VISITS:
                took, waited = known[-1]
                self.now += took
            else:
                start, before = self.now, self.waiting
                self._follow(part)
                took, waited = self.now - start, self.waiting - before
                known.append((took, waited))
                continue
            self.waiting += waited
        return self.now

    def _split(self, path: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """The path in parts that end with waits."""
        cuts: dict[tuple[int, int], list[tuple[int, int]]] = {}
        parts: list[tuple[int, int]] = []
        for piece in path:
            if piece not in cuts:
                first, stop = piece
                ends = [n + 1 for n in range(first, stop) if is_wait(self.kernel.instructions[n])]
                bounds = sorted({first, *ends, stop})
                cuts[piece] = list(itertools.pairwise(bounds))
            parts += cuts[piece]
        return parts

    def _nodes(self, part: tuple[int, int]) -> list[_Node]:
        if part not in self._parts:
            nodes = []
            for n in range(*part):
                ins = self.kernel.instructions[n]
                results, sources = results_and_sources(ins, self.kernel)
                if ins.parts[0] == "wgmma":  # a wait orders its accumulators, not their registers
                    results, sources = [], [s for s in sources if s not in results]
                pipes = self._pipes(n)
                queue = max(pipes, key=lambda pipe: (pipe[0] != "issue", pipe[1]), default=("", 0.0))[0]
                nodes.append(_Node(ins, self.costs[n], self.requests.get(n), results, sources, pipes, queue))
            last: dict[str, int] = {}
            for n, node in enumerate(nodes):
                writers = {last[s] for s in node.sources if s in last}
                node.waits_for = len(writers)
                for writer in writers:
                    nodes[writer].users.append(n)
                for name in node.results:
                    last[name] = n
            self._parts[part] = nodes
        return self._parts[part]

    def _pipes(self, position: int) -> list[tuple[str, float]]:
        """The cycles that all warps of the block occupy pipes by an instruction."""
        pipes = dict(self.costs[position].pipes)
        if position in self.requests:
            for name, cycles in self.requests[position].pipes.items():
                pipes[name] = pipes.get(name, 0) + cycles
        return [(name, cycles * self.share[name in OF_SCHEDULERS]) for name, cycles in pipes.items()]

    def _follow(self, part: tuple[int, int]) -> None:
        nodes = self._nodes(part)
        start = end = self.now
        pending = [node.waits_for for node in nodes]
        operands = [max([start, *(self.ready.get(s, 0.0) for s in node.sources)]) for node in nodes]
        queues: dict[str, list[tuple[float, int]]] = {}
        for n, count in enumerate(pending):
            if not count:
                heapq.heappush(queues.setdefault(nodes[n].queue, []), (operands[n], n))
        finished = [start] * len(nodes)
        while queues:
            begin, _, name = min(
                (max(queue[0][0], self._free_at(nodes[queue[0][1]])), name in _LAST, name)
                for name, queue in queues.items()
            )
            _, n = heapq.heappop(queues[name])
            if not queues[name]:
                del queues[name]
            node = nodes[n]
            done = finished[n] = self._occupy(node, begin)
            end = max(end, begin)
            for result in node.results:
                self.ready[result] = done
            for user in node.users:
                operands[user] = max(operands[user], done)
                pending[user] -= 1
                if not pending[user]:
                    heapq.heappush(queues.setdefault(nodes[user].queue, []), (operands[user], user))
        for node, done in zip(nodes, finished, strict=True):
            self._enqueue(node, done)
        self.now = self._end_of_wait(nodes[-1].ins, end) if nodes else end
        used: dict[str, float] = {}
        for node in nodes:
            for name, cycles in node.pipes:
                used[name] = used.get(name, 0.0) + cycles
        self.waiting += max(0.0, self.now - start - max((c for name, c in used.items() if name != "L2"), default=0.0))

    def _free_at(self, node: _Node) -> float:
        """When an instruction can start: requests to the L2 cache and products of warpgroups wait there, not here."""
        passing = ("L2", "tensor") if node.ins.parts[0] == "wgmma" else ("L2",)
        return max([self.free.get(name, 0.0) for name, _ in node.pipes if name not in passing], default=0.0)

    def _occupy(self, node: _Node, begin: float) -> float:
        """Start an instruction: when its result is there."""
        finish = begin
        for name, cycles in node.pipes:
            self.free[name] = max(begin, self.free.get(name, 0.0)) + cycles
            finish = max(finish, self.free[name])
        if node.request is not None:
            return finish + node.request.latency
        return (finish if node.queue == "tensor" else begin) + node.cost.latency

    def _enqueue(self, node: _Node, done: float) -> None:
        """Remember when copies and products that are waited for are done."""
        parts = node.ins.parts
        if node.request is not None and node.request.asynchronous:
            self._copies[-1].append(done)
        elif parts[:2] == ("wgmma", "mma_async"):
            self._products[-1].append(done)
        elif parts[:2] == ("wgmma", "commit_group"):
            self._products.append([])
        elif parts[0] == "cp" and "commit_group" in parts:
            self._copies.append([])

    def _end_of_wait(self, ins: PtxInstruction, end: float) -> float:
        """When the warp goes on after the last instruction of a part."""
        if not is_wait(ins):
            return end
        if ins.parts[0] in ("bar", "barrier"):
            return end + BARRIER_LATENCY
        groups = self._products if ins.parts[0] == "wgmma" else self._copies
        kept = int(ins.operands[0], 0) if ins.operands and ins.parts[0] in ("cp", "wgmma") else 0
        if ins.parts[0] == "mbarrier":
            kept = max(0, len(groups) - 2)
        done = end
        while len(groups) - 1 > kept or (len(groups) == 1 and not kept and groups[0]):
            done = max([done, *groups.pop(0)])
            if not groups:
                groups.append([])
        return done
