"""Where each value of a graph lies when it runs: an argument, the weights, an output, or a slot of the arena."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, encoding
from tir_mlir.dialect.ir import attrs, dtypes
from tir_mlir.graph import size_code
from tir_mlir.graph.memory import arena
from tir_mlir.graph.memory.arena import Arena, Request
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.size_code import Size

INPUT, WEIGHT, OUTPUT, ARENA = "input", "weight", "output", "arena"
SCRATCH = "graph.scratch"
"""Of a TensorIR function: the bytes that it needs for buffers of its own."""
ADDRESSES = 2**63
"""Bytes that can be addressed: offsets are signed numbers of 64 bits."""


@dataclass(frozen=True)
class Place:
    """The memory of a value: the number of an input, output or slot, or the offset of a weight; and its type."""

    space: str
    index: int
    type: TensorType


@dataclass(frozen=True)
class Call:
    """A call of a function of TensorIR, or of a packed one: what it reads and writes. `name`: of its first result.

    in_place: pairs of parameters, an input and a result, that are one buffer. scratch: bytes for the function itself.
    """

    callee: str
    name: str
    inputs: tuple[Place, ...]
    outputs: tuple[Place, ...]
    packed: bool = False
    in_place: tuple[tuple[int, int], ...] = ()
    scratch: Place | None = None


@dataclass
class Plan:
    """A graph as calls on memory, in order, and copies at its end."""

    inputs: list[tuple[str, TensorType]] = field(default_factory=list)
    outputs: list[TensorType] = field(default_factory=list)
    weights: dict[str, tuple[int, TensorType]] = field(default_factory=dict)
    weight_bytes: int = 0
    calls: list[Call] = field(default_factory=list)
    copies: list[tuple[Place, Place]] = field(default_factory=list)
    arena: Arena = field(default_factory=lambda: arena.plan([]))

    @property
    def symbols(self) -> list[str]:
        """The names of the sizes, sorted."""
        return sorted({s for _, t in self.inputs for size in t.shape for s in size_code.symbols(size)})


def byte_size(type_: TensorType) -> Size:
    """The bytes of a tensor."""
    bits = dtypes.bits(type_.dtype)
    return size_code.product((*type_.shape, max(1, bits // 8)))


def parts(main_plan: Plan, apart: Collection[str]) -> list[Plan | Call]:
    """A plan as parts in order: calls of the packed functions in `apart`, and plans of what is between them."""
    segments: list[Plan | Call] = []
    run: list[Call] = []
    for call in main_plan.calls:
        if call.packed and call.callee in apart:
            segments += [replace(main_plan, calls=run, copies=[])] if run else []
            segments.append(call)
            run = []
        else:
            run.append(call)
    return [*segments, replace(main_plan, calls=run)] if run or main_plan.copies or not segments else segments


def plan(
    func: TensorFunc,
    in_place: Collection[tuple[str, int, int]] = (),
    shared: bool = True,
    scratch: Mapping[str, int] | None = None,
) -> Plan:
    """Assign memory to the values of a graph, whose nodes are views, calls of TensorIR and packed functions.

    in_place: (function, input, result), of parameters that may be one buffer. shared: let buffers that are not needed
    at the same time share memory. scratch: bytes that functions need for themselves, by name. Errors: GraphError for
    other nodes, and for tensors, or all of them together, of more bytes than there are addresses.
    """
    return _Planner(_Nodes(func), in_place, shared, scratch or {}).run()


def arena_sizes(func: TensorFunc, scratch: Mapping[str, int]) -> Callable[[Collection[tuple[str, int, int]]], int]:
    """The bytes of the arena of a graph for what may be in place, where symbolic sizes are what they are taken for."""
    nodes = _Nodes(func)
    return lambda in_place: _Planner(nodes, in_place, True, scratch).run(arena_only=True).arena.guess


def wanted_in_place(func: TensorFunc) -> list[tuple[str, int, int]]:
    """What `in_place` of `plan` could have: inputs of the type of a result that no later node reads."""
    planner = _Planner(_Nodes(func), (), True, {})
    planner.run(arena_only=True)
    return list(planner.wanted)


@dataclass(frozen=True)
class _Step:
    """What plans need of a node. callee: the function of TensorIR, or the packed one, that it calls; kind: see
    `encoding`, "" of a view."""

    callee: str
    kind: str
    name: str
    inputs: list[ir.Value]
    results: list[ir.Value]


class _Nodes:
    """The nodes of a graph, read once for all its plans. Values of views have roots: what they are views of.

    Errors: GraphError for nodes other than views and calls of functions."""

    def __init__(self, func: TensorFunc):
        self.func = func
        self.types: dict[ir.Value, TensorType] = {}
        self.roots: dict[ir.Value, ir.Value] = {}
        self.arguments = [self._argument(number) for number in range(len(func.inputs))]
        self.steps = [self._step(node) for node in func.nodes]
        for step in self.steps:
            for value in step.results:
                _check_bytes(func, byte_size(self.type_of(value)), f"{func.name_of(value)} of")

    def _argument(self, number: int) -> tuple[str, str | None]:
        """The name of an argument, and that of the weight that it is."""
        name = self.func.input_name(number)
        _check_bytes(self.func, byte_size(self.func.input_type(number)), f"{name} of")
        return name, self.func.weight(number)

    def _step(self, node: Node) -> _Step:
        callee = node.callee
        kind = "" if callee is None or names_view(callee) else callee.kind
        if callee is None or kind not in ("", encoding.CALL_TIR, encoding.PACKED):
            raise GraphError(
                f"{node!r} is no call of a TensorIR function; fix: legalize(graph) makes one of each operator"
            )
        inputs, results = node.inputs, node.results
        if not kind:
            self.roots[results[0]] = self.roots.get(inputs[0], inputs[0])
        return _Step(callee.callee if kind else "", kind, node.names[0], inputs, results)

    def type_of(self, value: ir.Value) -> TensorType:
        if value not in self.types:
            self.types[value] = self.func.type_of(value)
        return self.types[value]


def _check_bytes(func: TensorFunc, size: Size, what: str) -> None:
    """Errors: GraphError for more bytes than there are addresses."""
    if isinstance(size, int) and size >= ADDRESSES:
        raise GraphError(
            f"{what} the graph {func.name} takes {size} bytes, and at most 2**63 - 1 can be addressed; "
            "fix: smaller tensors"
        )


class _Planner:
    """The state of planning one graph. Values are roots."""

    def __init__(
        self, nodes: _Nodes, in_place: Collection[tuple[str, int, int]], shared: bool, scratch: Mapping[str, int]
    ):
        self.shared, self.scratch = shared, scratch
        self.func, self.in_place, self.steps = nodes.func, in_place, nodes.steps
        self.type_of, self.roots, self.arguments = nodes.type_of, nodes.roots, nodes.arguments
        self.made = Plan()
        self.fixed: dict[ir.Value, tuple[str, int]] = {}
        self.first: dict[ir.Value, int] = {}
        self.last: dict[ir.Value, int] = {}
        self.shares: dict[ir.Value, ir.Value] = {}
        self.wanted: dict[tuple[str, int, int], None] = {}
        self.joined: dict[int, list[tuple[int, int]]] = {}
        self.own: dict[int, Place] = {}

    def run(self, arena_only: bool = False) -> Plan:
        """The plan. arena_only: without its calls."""
        self._arguments()
        for number, step in enumerate(self.steps):
            for value in (*step.inputs, *step.results):
                root = self._root(value)
                self.first.setdefault(root, number)
                self.last[root] = number
        self._outputs()
        self._share()
        self._arena()
        if not arena_only:
            self.made.calls = [self._call(number, step) for number, step in enumerate(self.steps) if step.kind]
        return self.made

    def _arguments(self) -> None:
        for value, (name, weight) in zip(self.func.inputs, self.arguments, strict=True):
            type_ = self.type_of(value)
            if weight is None:
                self.fixed[value] = INPUT, len(self.made.inputs)
                self.made.inputs.append((name, type_))
                continue
            size = byte_size(type_)
            if not isinstance(size, int):
                raise GraphError(f"the weight {weight} has the shape {type_}; a weight has a shape of numbers")
            self.fixed[value] = WEIGHT, self.made.weight_bytes
            self.made.weights[weight] = self.made.weight_bytes, type_
            self.made.weight_bytes += -(-size // arena.LINE) * arena.LINE
            _check_bytes(self.func, self.made.weight_bytes, "the memory of the weights of")

    def _root(self, value: ir.Value) -> ir.Value:
        return self.roots.get(value, value)

    def _outputs(self) -> None:
        """Nodes write to outputs directly, one to each; what is an argument, or returned twice, is copied."""
        for number, value in enumerate(self.func.outputs):
            type_, root = self.type_of(value), self._root(value)
            self.made.outputs.append(type_)
            if root in self.fixed:
                space, index = self.fixed[root]
                self.made.copies.append((Place(space, index, type_), Place(OUTPUT, number, type_)))
            else:
                self.fixed[root] = OUTPUT, number

    def _share(self) -> None:
        """Let results overwrite inputs that are not used later, where the function allows it."""
        for number, step in enumerate(self.steps):
            if step.kind == encoding.CALL_TIR:
                for result in range(len(step.results)):
                    self._share_result(number, step, result)

    def _share_result(self, number: int, step: _Step, result: int) -> None:
        inputs, value = step.inputs, step.results[result]
        roots, type_ = [self._root(v) for v in inputs], self.type_of(value)
        for operand, root in enumerate(roots):
            holder = self._holder(root)
            if (
                holder not in self.fixed
                and roots.count(root) == 1
                and self.last[holder] == number
                and self.type_of(inputs[operand]) == type_
            ):
                candidate = step.callee, operand, len(inputs) + result
                self.wanted[candidate] = None
                if candidate in self.in_place:
                    self._join(holder, value)
                    self.joined.setdefault(number, []).append(candidate[1:])
                    return

    def _holder(self, root: ir.Value) -> ir.Value:
        while root in self.shares:
            root = self.shares[root]
        return root

    def _join(self, holder: ir.Value, value: ir.Value) -> None:
        if value in self.fixed:  # an output: what it overwrites lies there too
            self.fixed[holder] = self.fixed[value]
        self.shares[value] = holder
        self.last[holder] = max(self.last[holder], self.last[value])

    def _arena(self) -> None:
        roots = [r for r in self.first if r not in self.fixed and r not in self.shares]
        end = len(self.steps)
        spans = [(self.first[r], self.last[r]) if self.shared else (0, end) for r in roots]
        requests = [Request(byte_size(self.type_of(r)), *span) for r, span in zip(roots, spans, strict=True)]
        needs = {number: size for number, step in enumerate(self.steps) if (size := self._needs(step))}
        requests += [Request(size, number, number) for number, size in needs.items()]
        self.made.arena = arena.plan(requests)
        _check_bytes(self.func, self.made.arena.total, "the memory of the results between the nodes of")
        slots = self.made.arena.slots
        self.fixed |= {r: (ARENA, slots[i]) for i, r in enumerate(roots)}
        for slot, (number, size) in zip(slots[len(roots) :], needs.items(), strict=True):
            self.own[number] = Place(ARENA, slot, TensorType((size,), "int8"))

    def _needs(self, step: _Step) -> int:
        """The bytes that the function of a node needs for itself."""
        return self.scratch.get(step.callee, 0) if step.kind == encoding.CALL_TIR else 0

    def place(self, value: ir.Value) -> Place:
        root = self._root(value)
        space, index = self.fixed[root] if root in self.fixed else self.fixed[self._holder(root)]
        return Place(space, index, self.type_of(value))

    def _call(self, number: int, step: _Step) -> Call:
        inputs, outputs = tuple(map(self.place, step.inputs)), tuple(map(self.place, step.results))
        pairs, packed = tuple(self.joined.get(number, ())), step.kind == encoding.PACKED
        return Call(step.callee, step.name, inputs, outputs, packed, pairs, self.own.get(number))


def is_view(node: Node) -> bool:
    """Whether a node only gives its first input another shape."""
    return kind_of(node.operator) is OperatorKind.VIEW


def names_view(callee: TensorFunc) -> bool:
    """Whether a function stands for an operator that only gives its input another shape."""
    return kind_of(attrs.get(callee.op, encoding.OP)) is OperatorKind.VIEW
