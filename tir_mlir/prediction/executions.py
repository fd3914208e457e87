"""How often each piece of straight-line code of a program runs, from trip counts and branches.

A branch goes to where more loops are: it guards them; other branches go both ways equally often. A loop whose trip
count is not known runs `ASSUMED_TRIPS` times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.prediction.assembly import AssemblyFunction, MachineBasicBlock, loops_around
from tir_mlir.prediction.trip_counts import Trips

ASSUMED_TRIPS = 8
_SYMBOL = re.compile(r"[A-Za-z_.$][\w.$]*")
_SURE = 0.99


@dataclass(frozen=True)
class CodePiece:
    """Instructions that run one after another, `executions` times in a call of the program.

    function, block: where, in LLVM IR. depth: of the loop around them. trips: of that loop. loops: whether they are the
    whole body of a loop, so that an iteration may wait for the one before. known: whether all trip counts are known.
    certain: whether no branch goes around them, so that `executions` is no guess. counted: whether that of their own
    loop is. setting: what set the length of RISC-V's vectors before them.
    """

    function: str
    block: str
    depth: int
    trips: float
    executions: float
    instructions: tuple[str, ...]
    loops: bool
    known: bool
    setting: str = ""
    certain: bool = True
    counted: bool = True

    @property
    def weight(self) -> float:
        """Executed instructions."""
        return self.executions * len(self.instructions)


def count_executions(functions: Sequence[AssemblyFunction], trips: Trips, roots: Sequence[str]) -> list[CodePiece]:
    """The pieces of the functions that the roots reach, the most executed instructions first."""
    by_name = {function.name: function for function in functions}
    calls = {name: 0.0 for name in by_name} | {name: 1.0 for name in roots if name in by_name}
    pieces: list[CodePiece] = []
    for name in _callers_first(by_name, roots):
        flow = _Flow(by_name[name], trips)
        for block in by_name[name].blocks:
            for callee in _callees(block, by_name):
                calls[callee] += calls[name] * flow.executions[block.label]
        pieces += flow.pieces(calls[name])
    return sorted((piece for piece in pieces if piece.weight), key=lambda piece: -piece.weight)


def _callees(block: MachineBasicBlock, by_name: Mapping[str, AssemblyFunction]) -> list[str]:
    """The functions that a block calls, or passes to what runs them in threads."""
    words = {
        word.removeprefix("_") if word not in by_name else word
        for code in block.instructions
        for word in _SYMBOL.findall(code)
    }
    return [word for word in sorted(words) if word in by_name]


def _callers_first(by_name: Mapping[str, AssemblyFunction], roots: Sequence[str]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen:
            return
        seen.add(name)
        for block in by_name[name].blocks:
            for callee in _callees(block, by_name):
                visit(callee)
        order.append(name)

    for root in roots:
        if root in by_name:
            visit(root)
    return order[::-1]


class _Flow:
    """How often the blocks of a function run in a call of it."""

    def __init__(self, function: AssemblyFunction, trips: Trips):
        self._function, self._trips = function, trips
        self._blocks = {block.label: block for block in function.blocks}
        self._inside = {block.label: set(loops_around(function, block)) for block in function.blocks}
        self.executions = dict.fromkeys(self._blocks, 0.0)
        self._certain: set[str] = set()
        if function.blocks:
            self._spread("", function.blocks[0].label, 1.0, True)

    def _successors(self, label: str) -> list[str]:
        labels = list(self._blocks)
        position = labels.index(label)
        block = self._blocks[label]
        following = labels[position + 1 : position + 2] if block.falls else []
        return [s for s in dict.fromkeys([*block.jumps, *following]) if s in self._blocks]

    def _node(self, label: str, loop: str) -> str | None:
        """The block itself, or the loop directly in `loop` that has it; None outside of `loop`."""
        around = loops_around(self._function, self._blocks[label])
        if loop and loop not in around:
            return None
        inner = around[: around.index(loop)] if loop else around
        return inner[-1] if inner else label

    def _edges(self, loop: str) -> dict[str, list[str]]:
        """The acyclic graph in a loop: its own blocks and the loops in it, without the way back."""
        edges: dict[str, dict[str, None]] = {}
        for label in self._blocks:
            node = self._node(label, loop)
            if node is None:
                continue
            found = edges.setdefault(node, {})
            for successor in self._successors(label):
                other = self._node(successor, loop)
                if other is not None and other not in (node, loop):
                    found[other] = None
        return {node: list(found) for node, found in edges.items()}

    def _spread(self, loop: str, first: str, executions: float, certain: bool) -> None:
        edges, amount = self._edges(loop), {first: executions}
        order = _topological(edges, first)
        always = _unavoidable_nodes(edges, order) if certain else ()
        self._certain.update(always)
        loops = self._loops_behind(edges, order)
        for node in order:
            here = amount.get(node, 0.0)
            likely = [s for s in edges[node] if not any(loops[s] < loops[other] for other in edges[node])]
            for successor in likely:
                amount[successor] = amount.get(successor, 0.0) + here / len(likely)
            if node in self._function.parents and node != loop:
                self._spread(node, node, here * self.trips(node)[0], node in always)
            else:
                self.executions[node] += here

    def _loops_behind(self, edges: Mapping[str, Sequence[str]], order: Sequence[str]) -> dict[str, frozenset[str]]:
        """The loops that each node is, or leads to."""
        found: dict[str, frozenset[str]] = {}
        for node in reversed(order):
            own = frozenset([node] if node in self._function.parents else [])
            found[node] = own.union(*(found.get(successor, frozenset()) for successor in edges[node]))
        return found

    def trips(self, loop: str) -> tuple[float, bool]:
        """The iterations of a loop, and whether they are known."""
        found = self._trips.get((self._function.name, self._blocks[loop].name))
        return (found, True) if found is not None else (ASSUMED_TRIPS, False)

    def pieces(self, calls: float) -> Iterator[CodePiece]:
        """Each innermost loop in one piece, but for what is under a branch; other blocks one by one."""
        innermost = set(self._function.parents) - set(self._function.parents.values())
        for loop in innermost:
            inside = [block for block in self._function.blocks if block.loop == loop]
            often = self.executions[loop]
            always = [block for block in inside if self.executions[block.label] >= _SURE * often]
            yield self._piece(always, calls, loops=True)
            for block in inside:
                if block not in always:
                    yield self._piece([block], calls, loops=False)
        for block in self._function.blocks:
            if block.loop not in innermost:
                yield self._piece([block], calls, loops=False)

    def _piece(self, blocks: Sequence[MachineBasicBlock], calls: float, loops: bool) -> CodePiece:
        around = loops_around(self._function, blocks[0])
        return CodePiece(
            self._function.name,
            self._blocks[around[0]].name if around else blocks[0].name,
            len(around),
            self.trips(around[0])[0] if around else 1,
            calls * self.executions[blocks[0].label],
            tuple(code for block in blocks for code in block.instructions),
            loops,
            all(self.trips(loop)[1] for loop in around),
            blocks[0].setting,
            blocks[0].label in self._certain,
            not around or self.trips(around[0])[1],
        )


def _unavoidable_nodes(edges: Mapping[str, Sequence[str]], order: Sequence[str]) -> list[str]:
    """The nodes that no path from the first node to an end goes around."""
    behind: dict[str, int] = {}
    before = {order[0]: 1}
    for node in reversed(order):
        behind[node] = sum(behind.get(successor, 0) for successor in edges[node]) or 1
    for node in order:
        for successor in edges[node]:
            before[successor] = before.get(successor, 0) + before[node]
    return [node for node in order if before[node] * behind[node] == behind[order[0]]]


def _topological(edges: Mapping[str, Sequence[str]], first: str) -> list[str]:
    """The nodes that are reached from the first, each behind those before it; irreducible ways back are passed over."""
    order: list[str] = []
    state: dict[str, bool] = {}
    stack = [(first, iter(edges[first]))]
    state[first] = False
    while stack:
        node, following = stack[-1]
        successor = next((s for s in following if s not in state), None)
        if successor is None:
            order.append(node)
            state[node] = True
            stack.pop()
        else:
            state[successor] = False
            stack.append((successor, iter(edges[successor])))
    return order[::-1]
