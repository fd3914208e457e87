"""Where each value of a graph lies when it runs: an argument, the weights, an output, or a slot of the arena."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import LoopFacts, Node, TensorFunc, TensorType, encoding, passed_inputs, tensor_funcs
from tir_mlir.dialect.ir import attrs, dtypes
from tir_mlir.graph import size_code
from tir_mlir.graph.memory import arena
from tir_mlir.graph.memory.arena import Arena, ArenaRequest
from tir_mlir.graph.memory.control_calls import (
    CONDITION,
    STEP,
    Control,
    PlannedBranch,
    PlannedLoop,
    RegionSteps,
    SizeCount,
    every_call,
    remap_steps,
    slot_remapping,
)
from tir_mlir.graph.memory.data_sizes import storage_type
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.size_code import Size

INPUT, WEIGHT, OUTPUT, ARENA = "input", "weight", "output", "arena"
SCRATCH = "graph.scratch"
"""Of a TensorIR function: the bytes that it needs for buffers of its own."""
Claim = tuple[ArenaRequest, Callable[[int], None]]
"""What has to lie in the arena, and what takes the number of its slot."""
ADDRESSES = 2**63
"""Bytes that can be addressed: offsets are signed numbers of 64 bits."""


@dataclass(frozen=True)
class BufferSlot:
    """The memory of a value: the number of an input, output or slot, or the offset of a weight; and its type."""

    space: str
    index: int
    type: TensorType


@dataclass(frozen=True)
class PlannedCall:
    """A call of a function of TensorIR, or of a packed one: what it reads and writes.

    name: of its first result.
    in_place: pairs of parameters, an input and a result, that are one buffer.
    scratch: bytes for the function itself.
    control: what a branch or a loop runs, instead of a function.
    """

    callee: str
    name: str
    inputs: tuple[BufferSlot, ...]
    outputs: tuple[BufferSlot, ...]
    packed: bool = False
    in_place: tuple[tuple[int, int], ...] = ()
    scratch: BufferSlot | None = None
    control: Control | None = None


@dataclass
class ExecutionPlan:
    """A graph as calls on memory, in order, and copies at its end.

    donated: see `donations`; such results are no outputs of the function.
    bounds: of the sizes that data decide on.
    ranges: the least and the greatest value (-1: none) of sizes that it is right for.
    """

    inputs: list[tuple[str, TensorType]] = field(default_factory=list)
    outputs: list[TensorType] = field(default_factory=list)
    weights: dict[str, tuple[int, TensorType]] = field(default_factory=dict)
    weight_bytes: int = 0
    calls: list[PlannedCall] = field(default_factory=list)
    copies: list[tuple[BufferSlot, BufferSlot]] = field(default_factory=list)
    arena: Arena = field(default_factory=lambda: arena.plan([]))
    donated: dict[int, int] = field(default_factory=dict)
    bounds: dict[str, Size] = field(default_factory=dict)
    ranges: Mapping[str, Sequence[int]] = field(default_factory=dict)

    @property
    def symbols(self) -> list[str]:
        """The names of the sizes, sorted."""
        return sorted({s for _, t in self.inputs for size in t.shape for s in size_code.symbols(size)})

    @property
    def made_outputs(self) -> list[tuple[int, TensorType]]:
        """The results that have memory of their own, by number."""
        return [(number, type_) for number, type_ in enumerate(self.outputs) if number not in self.donated]

    @property
    def every_call(self) -> list[PlannedCall]:
        """The calls of functions, also those in branches and loops."""
        return list(every_call(self.calls))


def byte_size(type_: TensorType) -> Size:
    """The bytes of a tensor."""
    bits = dtypes.bits(type_.dtype)
    return size_code.product((*type_.shape, max(1, bits // 8)))


def parts(main_plan: ExecutionPlan, apart: Collection[str]) -> list[ExecutionPlan | PlannedCall]:
    """A plan as parts in order: calls of the packed functions in `apart`, and plans of what is between them."""
    segments: list[ExecutionPlan | PlannedCall] = []
    run: list[PlannedCall] = []
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
    donated: Mapping[int, int] | None = None,
) -> ExecutionPlan:
    """Assign memory to the values of a graph, whose nodes are views, calls of TensorIR and packed functions.

    donated: results that are put where inputs lie, by their numbers, see `donations`; nothing is written to them.
    in_place: (function, input, result), of parameters that may be one buffer. shared: let buffers that are not needed
    at the same time share memory. scratch: bytes that functions need for themselves, by name. Errors: GraphError for
    other nodes, and for tensors, or all of them together, of more bytes than there are addresses.
    """
    return _Planner(_Nodes(func), in_place, shared, scratch or {}, donated).run()


def donations(func: TensorFunc) -> dict[int, int]:
    """The results of a graph that are put where inputs lie: the number of the result, and that of the input among those
    that are no weights. Of the body of a loop: what it carries, where it may be written over."""
    if func.kind == encoding.REGION:
        loops = (f for f in tensor_funcs(func.module) if f.kind == encoding.LOOP)
        facts = next((LoopFacts.from_func(f) for f in loops if func.name in attrs.get(f.op, encoding.REGIONS)), None)
        return {} if facts is None else _Nodes(func).in_place_states(facts)
    named = attrs.get(func.op, encoding.DONATED, {})
    names = [func.input_name(number) for number in passed_inputs(func)] if named else []
    return {result: names.index(name) for name, result in named.items()}


def arena_sizes(func: TensorFunc, scratch: Mapping[str, int]) -> Callable[[Collection[tuple[str, int, int]]], int]:
    """The bytes of the arena of a graph for what may be in place, where symbolic sizes are what they are taken for."""
    nodes, donated = _Nodes(func), donations(func)

    def size(in_place: Collection[tuple[str, int, int]]) -> int:
        plan = _Planner(nodes, in_place, True, scratch, donated).run(arena_only=True)
        return plan.arena.guess + sum(source.space == ARENA for source, _ in plan.copies)

    return size


def in_place_candidates(func: TensorFunc) -> list[tuple[str, int, int]]:
    """What `in_place` of `plan` could have: inputs of the type of a result that no later node reads."""
    planner = _Planner(_Nodes(func), (), True, {}, donations(func))
    planner.run(arena_only=True)
    return list(planner.wanted)


@dataclass(frozen=True)
class _Step:
    """What plans need of a node. callee: the function of TensorIR, or the packed one, that it calls; kind: see
    `encoding`, "" of a view. regions: what a branch or a loop runs; loop: the facts of a loop; least: of a count."""

    callee: str
    kind: str
    name: str
    inputs: list[ir.Value]
    results: list[ir.Value]
    regions: tuple[_Nodes, ...] = ()
    loop: LoopFacts | None = None
    least: int = 0


class _Nodes:
    """The nodes of a graph, read once for all its plans. Values of views have roots: what they are views of.

    Errors: GraphError for nodes other than views and calls of functions."""

    def __init__(self, func: TensorFunc, bounds: dict[str, Size] | None = None):
        self.func = func
        self.bounds: dict[str, Size] = {} if bounds is None else bounds
        self.types: dict[ir.Value, TensorType] = {}
        self.roots: dict[ir.Value, ir.Value] = {}
        self.arguments = [self._argument(number) for number in range(len(func.inputs))]
        self.steps = [self._step(node) for node in func.nodes]
        for step in self.steps:
            for value in step.results:
                _check_bytes(func, self.bytes_of(value), f"{func.name_of(value)} of")

    def _argument(self, number: int) -> tuple[str, str | None]:
        """The name of an argument, and that of the weight that it is."""
        name = self.func.input_name(number)
        _check_bytes(self.func, byte_size(self.func.input_type(number)), f"{name} of")
        return name, self.func.weight(number)

    def _step(self, node: Node) -> _Step:
        callee = node.callee
        if callee is not None and _names_counted(callee):
            return self._counted_step(node)
        kind = "" if callee is None or names_view(callee) else callee.kind
        calls = ("", encoding.CALL_TIR, encoding.PACKED, encoding.BRANCH, encoding.LOOP)
        if callee is None or kind not in calls:
            raise GraphError(
                f"{node!r} is not a call of a TensorIR function; fix: legalize(graph) makes one of each operator"
            )
        inputs, results = node.inputs, node.results
        if not kind:
            self.roots[results[0]] = self.roots.get(inputs[0], inputs[0])
        if callee.is_control:
            regions = tuple(_Nodes(region, self.bounds) for region in callee.regions)
            loop = LoopFacts.from_func(callee) if kind == encoding.LOOP else None
            return _Step(callee.name, kind, node.names[0], inputs, results, regions, loop)
        return _Step(callee.callee if kind else "", kind, node.names[0], inputs, results)

    def _counted_step(self, node: Node) -> _Step:
        """A size of a name, and the tensor whose rows have it, in the memory of the tensor that has all."""
        whole, (result,), rows = node.inputs[0], node.results, node.types[0].shape[0]
        if not isinstance(rows, str) or not rows.isidentifier() or rows in self.bounds:
            raise GraphError(f"{node!r} makes the size {rows}; fix: a name that no other node makes")
        self.roots[result] = self.roots.get(whole, whole)
        self.bounds[rows] = self.type_of(whole).shape[0]
        least = int(node.attributes.get("least", 0))
        return _Step(rows, encoding.COUNTED, node.names[0], node.inputs, [result], least=least)

    @property
    def non_weight_inputs(self) -> list[ir.Value]:
        """The inputs that are no weights."""
        inputs = self.func.inputs
        return [inputs[number] for number in passed_inputs(self.func)]

    def unchanged_states(self, facts: LoopFacts) -> set[int]:
        """Of the body of a loop: the numbers of what is carried that it returns as it is given."""
        arguments, outputs = self.non_weight_inputs[1:], self.func.outputs[facts.tests :]
        return {n for n in range(facts.carried) if outputs[n] == arguments[n]}

    def in_place_states(self, facts: LoopFacts) -> dict[int, int]:
        """Of the body of a loop: the results that may be put where the old state lies, with the number of that input:
        they are computed, each once, and no result is a view of that state."""
        roots = [self.roots.get(value, value) for value in self.func.outputs]
        arguments, positions = self.non_weight_inputs[1:], range(facts.tests, facts.tests + facts.carried)
        return {
            n: 1 + n - facts.tests
            for n in positions
            if not isinstance(roots[n], ir.BlockArgument)
            and roots.count(roots[n]) == 1
            and arguments[n - facts.tests] not in roots
        }

    def type_of(self, value: ir.Value) -> TensorType:
        if value not in self.types:
            self.types[value] = self.func.type_of(value)
        return self.types[value]

    def bytes_of(self, value: ir.Value) -> Size:
        """The bytes of the memory of a value."""
        return byte_size(storage_type(self.type_of(value), self.bounds))


def _check_bytes(func: TensorFunc, size: Size, what: str) -> None:
    """Errors: GraphError for more bytes than there are addresses."""
    if isinstance(size, int) and size >= ADDRESSES:
        raise GraphError(
            f"{what} the graph {func.name} takes {size} bytes, and at most 2**63 - 1 can be addressed; "
            "fix: smaller tensors"
        )


class _Planner:
    """The state of planning one graph, or a region of it. Values are roots.

    Time passes from call to call. A branch or a loop takes the time of its regions, one after the other, so that what
    they need lies in the same arena, and those of a branch share memory.
    """

    def __init__(
        self,
        nodes: _Nodes,
        in_place: Collection[tuple[str, int, int]],
        shared: bool,
        scratch: Mapping[str, int],
        donated: Mapping[int, int] | None = None,
    ):
        self.shared, self.scratch, self.donated = shared, scratch, donated or {}
        self.given: set[ir.Value] = set()  # the inputs whose memory results take
        self.nodes, self.func, self.in_place, self.steps = nodes, nodes.func, in_place, nodes.steps
        self.type_of, self.roots, self.arguments = nodes.type_of, nodes.roots, nodes.arguments
        ranges = attrs.get(self.func.op, encoding.RANGES, {})
        self.made = ExecutionPlan(donated=dict(self.donated), bounds=nodes.bounds, ranges=ranges)
        self.fixed: dict[ir.Value, tuple[str, int]] = {}
        self.first: dict[ir.Value, int] = {}
        self.last: dict[ir.Value, int] = {}
        self.shares: dict[ir.Value, ir.Value] = {}
        self.wanted: dict[tuple[str, int, int], None] = {}
        self.joined: dict[int, list[tuple[int, int]]] = {}
        self.own: dict[int, BufferSlot] = {}
        self.kept: dict[int, dict[tuple[str, int], BufferSlot]] = {}
        self.regions = {
            number: [_Planner(region, in_place, shared, scratch, _in_place_states(step)) for region in step.regions]
            for number, step in enumerate(self.steps)
            if step.regions
        }
        self.spans: list[tuple[int, int]] = []
        self.time = 0

    def run(self, arena_only: bool = False) -> ExecutionPlan:
        """The plan. arena_only: without its calls."""
        self.prepare()
        claims = self.claims(0)
        self.made.arena = arena.plan([request for request, _ in claims])
        _check_bytes(self.func, self.made.arena.total, "the memory of the results between the nodes of")
        for slot, (_, take) in zip(self.made.arena.slots, claims, strict=True):
            take(slot)
        self._copy_donated_results()
        if not arena_only:
            self.made.calls = self.calls()
        return self.made

    def prepare(self) -> None:
        """All but the positions in the arena."""
        for region in self._inner_planners():
            region.prepare()
        self._arguments()
        for number, step in enumerate(self.steps):
            inner = [region.time for region in self.regions.get(number, ())]
            start, end = self.time, self.time + (sum(inner) + 1 if inner else 0)
            self.spans.append((start, end))
            self.time = end + 1
            for value in (*step.inputs, *step.results):
                root = self._root(value)
                self.first.setdefault(root, start)
                self.last[root] = end
        self._outputs()
        self._share()

    def calls(self) -> list[PlannedCall]:
        """The calls, where all positions are known."""
        return [self._call(number, step) for number, step in enumerate(self.steps) if step.kind]

    def _inner_planners(self) -> list[_Planner]:
        return [region for regions in self.regions.values() for region in regions]

    def _arguments(self) -> None:
        for value, (name, weight) in zip(self.func.inputs, self.arguments, strict=True):
            type_ = self.type_of(value)
            if weight is None:
                self.fixed[value] = INPUT, len(self.made.inputs)
                self.made.inputs.append((name, type_))
                continue
            self.fixed[value] = WEIGHT, self._weight(weight, type_)
        for region in self._inner_planners():
            for weight, (_, type_) in region.made.weights.items():
                self._weight(weight, type_)

    def _weight(self, weight: str, type_: TensorType) -> int:
        """The offset of a weight."""
        if weight in self.made.weights:
            return self.made.weights[weight][0]
        size, offset = byte_size(type_), self.made.weight_bytes
        if not isinstance(size, int):
            raise GraphError(f"the weight {weight} has the shape {type_}; a weight has a shape of numbers")
        self.made.weights[weight] = offset, type_
        self.made.weight_bytes += -(-size // arena.LINE) * arena.LINE
        _check_bytes(self.func, self.made.weight_bytes, "the memory of the weights of")
        return offset

    def _root(self, value: ir.Value) -> ir.Value:
        return self.roots.get(value, value)

    def _outputs(self) -> None:
        """Nodes write to outputs directly, one to each; what is an argument, or returned twice, is copied."""
        for number, value in enumerate(self.func.outputs):
            type_, root = self.type_of(value), self._root(value)
            self.made.outputs.append(type_)
            if number in self.donated:
                self.last[root] = self.time  # it is copied at the end, or lies there
                self.first.setdefault(root, 0)
                self.given.add(self.nodes.non_weight_inputs[self.donated[number]])
            elif root in self.fixed:
                self.last[root] = self.time
                space, index = self.fixed[root]
                self.made.copies.append((BufferSlot(space, index, type_), BufferSlot(OUTPUT, number, type_)))
            else:
                self.fixed[root] = OUTPUT, number

    def _copy_donated_results(self) -> None:
        """Copy donated results, where their memory is not that of the input already. Errors: GraphError for two that
        are swapped."""
        for region in self._inner_planners():
            region._copy_donated_results()
        targets = set(self.donated.values())
        for number, target in self.donated.items():
            value = self.func.outputs[number]
            source, slot = self.slot_of(value), BufferSlot(INPUT, target, self.type_of(value))
            if source.space == INPUT and source.index in targets - {target}:
                name = self.made.inputs[target][0]
                raise GraphError(f"the new {name} is another input that is written; fix: a copy of it, x.clone()")
            if (source.space, source.index) != (INPUT, target):
                self.made.copies.append((source, slot))

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
            free = holder not in self.fixed or (self._is_given(holder, value) and value not in self.fixed)
            if (
                free
                and roots.count(root) == 1
                and self.last[holder] == self.spans[number][1]
                and self.type_of(inputs[operand]) == type_
            ):
                candidate = step.callee, operand, len(inputs) + result
                self.wanted[candidate] = None
                if candidate in self.in_place:
                    self._join(holder, value)
                    self.joined.setdefault(number, []).append(candidate[1:])
                    return

    def _is_given(self, holder: ir.Value, value: ir.Value) -> bool:
        """Whether the memory of a value is that of an input that a result may take: in a loop only its own new state,
        so that no two states are swapped."""
        if holder not in self.given or self.fixed[holder][0] != INPUT:
            return False
        if self.func.kind != encoding.REGION:
            return True
        results = [n for n, target in self.donated.items() if self.nodes.non_weight_inputs[target] == holder]
        return any(self._root(self.func.outputs[n]) == value for n in results)

    def _holder(self, root: ir.Value) -> ir.Value:
        while root in self.shares:
            root = self.shares[root]
        return root

    def _join(self, holder: ir.Value, value: ir.Value) -> None:
        if value in self.fixed:  # an output: what it overwrites lies there too
            self.fixed[holder] = self.fixed[value]
        self.shares[value] = holder
        self.last[holder] = max(self.last[holder], self.last[value])

    def claims(self, at: int) -> list[Claim]:
        """What has to lie in the arena, from a time on, each with what takes its slot."""
        roots = [r for r in self.first if r not in self.fixed and r not in self.shares]
        claims: list[Claim] = [
            (self._request(self.nodes.bytes_of(r), self.first[r] + at, self.last[r] + at), partial(self._take, r))
            for r in roots
        ]
        for number, step in enumerate(self.steps):
            start, end = self.spans[number][0] + at, self.spans[number][1] + at
            if size := self._needs(step):
                claims.append((ArenaRequest(size, start, end), partial(self._take_own, number, size)))
            if step.regions:
                claims += self._claims_of_regions(number, step, start, end)
        return claims

    def _claims_of_regions(self, number: int, step: _Step, start: int, end: int) -> list[Claim]:
        claims: list[Claim] = []
        for key, type_ in _own_types(step).items():
            request = self._request(byte_size(storage_type(type_, self.nodes.bounds)), start, end)
            claims.append((request, partial(self._take_kept, number, key, type_)))
        position = start + 1
        for region in self.regions[number]:
            claims += region.claims(position)
            position += region.time
        return claims

    def _request(self, size: Size, first: int, last: int) -> ArenaRequest:
        return ArenaRequest(size, first, last) if self.shared else ArenaRequest(size, 0, ADDRESSES)

    def _take(self, root: ir.Value, slot: int) -> None:
        self.fixed[root] = ARENA, slot

    def _take_own(self, number: int, size: int, slot: int) -> None:
        self.own[number] = BufferSlot(ARENA, slot, TensorType((size,), "int8"))

    def _take_kept(self, number: int, key: tuple[str, int], type_: TensorType, slot: int) -> None:
        self.kept.setdefault(number, {})[key] = BufferSlot(ARENA, slot, type_)

    def _needs(self, step: _Step) -> int:
        """The bytes that the function of a node needs for itself."""
        return self.scratch.get(step.callee, 0) if step.kind == encoding.CALL_TIR else 0

    def slot_of(self, value: ir.Value) -> BufferSlot:
        root = self._root(value)
        space, index = self.fixed[root] if root in self.fixed else self.fixed[self._holder(root)]
        return BufferSlot(space, index, self.type_of(value))

    def _call(self, number: int, step: _Step) -> PlannedCall:
        if step.kind == encoding.COUNTED:
            count = self.slot_of(step.inputs[1])
            control = SizeCount(step.callee, count, step.least, self.nodes.bounds[step.callee])
            return PlannedCall(step.callee, step.name, (count,), (), control=control)
        inputs, outputs = tuple(map(self.slot_of, step.inputs)), tuple(map(self.slot_of, step.results))
        if step.regions:
            form = self._branch if step.loop is None else self._loop
            return PlannedCall(step.callee, step.name, inputs, outputs, control=form(number, step, inputs, outputs))
        pairs, packed = tuple(self.joined.get(number, ())), step.kind == encoding.PACKED
        return PlannedCall(step.callee, step.name, inputs, outputs, packed, pairs, self.own.get(number))

    def _branch(
        self, number: int, step: _Step, inputs: Sequence[BufferSlot], results: Sequence[BufferSlot]
    ) -> PlannedBranch:
        then, otherwise = (self._steps_of(region, inputs[1:], results) for region in self.regions[number])
        return PlannedBranch(inputs[0], then, otherwise)

    def _loop(
        self, number: int, step: _Step, inputs: Sequence[BufferSlot], results: Sequence[BufferSlot]
    ) -> PlannedLoop:
        facts, (body,), own = step.loop, self.regions[number], self.kept[number]
        assert facts is not None
        states, first = results[: facts.carried], inputs[facts.first_carried :]
        rows = [own["row", n] for n in range(facts.scanned)]
        following = [own.get(("next", n)) for n in range(len(results))]
        condition = [slot for key, slot in own.items() if key == ("condition", 0)]
        given = [own["index", 0], *states, *rows, *first[facts.carried + facts.scanned :]]
        before = [(inputs[facts.given], slot) for slot in condition] + list(zip(first, states, strict=False))
        return PlannedLoop(
            steps=inputs[0] if facts.given else facts.steps,
            condition=condition[0] if condition else None,
            index=own["index", 0],
            before=tuple((source, target) for source, target in before if source != target),
            rows=tuple(zip(first[facts.carried :], rows, strict=False)),
            body=self._steps_of(body, given, [*condition, *following]),
            after=tuple((s, t) for s, t in zip(following, states, strict=False) if s is not None),
            stacked=tuple((s, t) for s, t in list(zip(following, results, strict=True))[facts.carried :] if s),
            backward=facts.backward,
        )

    def _steps_of(
        self, region: _Planner, inputs: Sequence[BufferSlot], outputs: Sequence[BufferSlot | None]
    ) -> RegionSteps:
        """What a region does with inputs and outputs in the memory of this graph. None: an output that remains
        there."""
        buffer_places = {(INPUT, n): slot for n, slot in enumerate(inputs)}
        buffer_places |= {(OUTPUT, n): slot for n, slot in enumerate(outputs) if slot is not None}
        names = {offset: name for name, (offset, type_) in region.made.weights.items() if byte_size(type_)}
        offsets = {offset: self.made.weights[name][0] for offset, name in names.items()}
        copies = [(s, t) for s, t in region.made.copies if (t.space, t.index) in buffer_places]
        to = slot_remapping(buffer_places, lambda offset: offsets.get(offset, 0), (WEIGHT, ARENA))
        return remap_steps(RegionSteps(tuple(region.calls()), tuple(copies)), to)


def _own_types(step: _Step) -> dict[tuple[str, int], TensorType]:
    """What a branch or a loop needs besides its regions, by what it is for."""
    if step.loop is None:
        return {}
    facts, (body,) = step.loop, step.regions
    types = {("index", 0): STEP} | ({("condition", 0): CONDITION} if facts.tests else {})
    rows = body.non_weight_inputs[1 + facts.carried :][: facts.scanned]
    types |= {("row", n): body.type_of(value) for n, value in enumerate(rows)}
    outputs, unchanged = body.func.outputs[facts.tests :], body.unchanged_states(facts)
    unchanged |= {n - facts.tests for n in body.in_place_states(facts)}
    return types | {("next", n): body.type_of(v) for n, v in enumerate(outputs) if n not in unchanged}


def _in_place_states(step: _Step) -> dict[int, int]:
    """See `_Nodes.carried`; nothing of a branch."""
    return {} if step.loop is None else step.regions[0].in_place_states(step.loop)


def is_view(node: Node) -> bool:
    """Whether a node only gives its first input another shape."""
    return kind_of(node.operator) is OperatorKind.VIEW


def names_view(callee: TensorFunc) -> bool:
    """Whether a function stands for an operator that only gives its input another shape."""
    return kind_of(attrs.get(callee.op, encoding.OP)) is OperatorKind.VIEW


def _names_counted(callee: TensorFunc) -> bool:
    """Whether a function stands for the operator whose number of rows is computed."""
    return kind_of(attrs.get(callee.op, encoding.OP)) is OperatorKind.COUNTED
