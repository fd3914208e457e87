"""Two graphs compared part by part, cut at the values that both have: what a large model is verified by."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.diagnostics import GraphError, NotChecked
from tir_mlir.dialect.graph import TensorFunc, TensorType, create, tensor_func
from tir_mlir.dialect.ir import Func, attrs, funcs
from tir_mlir.equivalence import Result
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.work import work_of
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.buffer_assignment import is_view
from tir_mlir.graph.memory.calls_in_place import in_place_triples
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.runtime import progress

PART = "part"
MOST_WORK = 1 << 31
"""Iterations of a part above which it is not run."""


@dataclass
class ComparedGraph:
    """A graph of calls, without weights of its own, and the names of its values that are known to be the other's.

    numbers: what those of these names are."""

    graph: Graph
    known: dict[ir.Value, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def func(self) -> TensorFunc:
        return self.graph.func

    def unique_results(self) -> dict[str, tuple[ir.Value, TensorType]]:
        """The results of nodes, by the names that occur once; views are left out: they compute nothing."""
        named_results = [
            (name, value, node)
            for node in self.func.nodes
            for name, value in zip(node.names, node.results, strict=False)
        ]
        counts = Counter(name for name, _, _ in named_results)
        return {n: (v, self.func.type_of(v)) for n, v, node in named_results if counts[n] == 1 and not is_view(node)}

    def inputs_of(self, values: Sequence[ir.Value]) -> dict[str, TensorType]:
        """The known values that some values are computed from, by name."""
        return {self.known[v]: self.func.type_of(v) for v in _cone(values, self.known)[1]}

    def program(
        self, values: Sequence[ir.Value], inputs: Mapping[str, TensorType], ranges: Mapping[str, Sequence[int]]
    ) -> ir.Module:
        """The program that computes values from known ones. Errors: GraphError for a size that no input has."""
        module = self.graph.module.mlir
        part = create.graph(module, PART)
        by_name = {name: create.add_input(part, f"x{n}", t) for n, (name, t) in enumerate(inputs.items())}
        ops, leaves = _cone(values, self.known)
        copies = {value: by_name[self.known[value]] for value in leaves}
        with ir.InsertionPoint(part.terminator):
            for op in ops:
                copy = op.clone()
                for number, operand in enumerate(op.operands):
                    copy.operands[number] = copies[operand]
                copies |= dict(zip(op.results, copy.results, strict=True))
        create.set_outputs(part, [copies[v] for v in values])
        numbers = {n: self.numbers[name] for n, name in enumerate(inputs) if name in self.numbers}
        try:
            return lower_to_program(self.graph, part.name, ranges, numbers, as_name=PART)
        finally:
            tensor_func(module, part.name).op.erase()


def _cone(values: Sequence[ir.Value], boundary: Mapping[ir.Value, str]) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The ops that compute values from known ones, in order, and these."""
    ops: dict[ir.Operation, None] = {}
    leaves: dict[ir.Value, None] = {}
    waiting = [(v, False) for v in reversed(values)]
    while waiting:
        value, is_done = waiting.pop()
        if value in boundary:
            leaves[value] = None
            continue
        op = ir.OpResult(value).owner.operation
        if is_done:
            ops[op] = None
        elif op not in ops:
            waiting.append((value, True))
            waiting += [(operand, False) for operand in reversed(list(op.operands))]
    return list(ops), list(leaves)


def lower_to_program(
    graph: Graph,
    name: str,
    ranges: Mapping[str, Sequence[int]],
    numbers: Mapping[int, float] | None = None,
    as_name: str | None = None,
) -> ir.Module:
    """The program of a graph of calls without weights; it is right for sizes in `ranges` only. numbers: inputs that are
    no parameters, but have these values."""
    module = graph.module.mlir
    plan = buffer_assignment.plan(tensor_func(module, name), in_place_triples(module), shared=False)
    if packed := next((c.callee for c in plan.every_call if c.packed), None):
        raise GraphError(f"the graph calls the packed function {packed}, which has no program to run")
    program = lower_main(module, {as_name or name: replace(plan, ranges=ranges)}, in_arena=False)
    if numbers:
        _put_numbers(next(f for f in funcs(program) if f.name == (as_name or name)), numbers)
    return program


def _put_numbers(func: Func, numbers: Mapping[int, float]) -> None:
    """Let buffers that parameters are be allocated, and filled with numbers.

    func.func @main(%x: memref<4xf32>, %c: memref<f32>)   ->   func.func @main(%x: memref<4xf32>)
                                                                 %c = memref.alloc() ; memref.store 2.0, %c[]
    """
    facts = attrs.argument_attrs(func.op)
    with ir.InsertionPoint.at_block_begin(func.body):
        for number, value in numbers.items():
            type_ = ir.MemRefType(func.args[number].type)
            buffer = memref.alloc(type_, [], [])
            buffer.owner.attributes[attrs.NAME] = ir.StringAttr.get(str(facts[number][attrs.NAME]))
            memref.store(arith.constant(type_.element_type, value), buffer, [])
            func.args[number].replace_all_uses_with(buffer)
    for number in sorted(numbers, reverse=True):
        func.body.erase_argument(number)
        del facts[number]
    types = [v.type for v in func.args]
    func.op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])


class ByParts:
    """The comparison of two graphs. A value that both have by one name is proved equal from those that are proved.

    Each part is compared for arbitrary values of what it reads, so that equal parts make equal graphs; parts of equal
    text are not run, and those of layers that repeat are run once.
    """

    def __init__(
        self, original: ComparedGraph, transformed: ComparedGraph, seed: int, ranges: Mapping[str, Sequence[int]]
    ):
        self.sides, self.seed, self.ranges = (original, transformed), seed, ranges
        self.results: dict[tuple[str, str], Result] = {}
        self.found = Result()
        self.same = 0
        self.differing = ""

    def run(self) -> Result:
        """The result. Errors: NotChecked where parts differ that are not the whole, which is too large to run."""
        start = time.perf_counter()
        original, transformed = self.sides
        others, named = original.unique_results(), transformed.unique_results()
        task = progress.current()
        if task is not None:
            task.expect(len(named) + 1, "parts")
        for name, (value, type_) in named.items():
            if name in others and others[name][1] == type_:
                outcome = self._compare_values([others[name][0]], [value])
                if isinstance(outcome, Result) and outcome.equal:
                    original.known[others[name][0]] = transformed.known[value] = f"value {name}"
                elif not self.differing:
                    self.differing = name
            if task is not None:
                task.done += 1
        outcome = self._compare_values(original.func.outputs, transformed.func.outputs)
        if not isinstance(outcome, Result):
            raise NotChecked(f"the graphs cannot be compared part by part: {outcome}")
        if outcome.difference is not None:
            first = self.differing or "what they return"
            raise NotChecked(
                f"the graphs are too large to be run as a whole, and part by part they differ, first in {first}, for "
                f"arbitrary values of what the part reads: {outcome.difference}; fix: verify stage by stage, or the "
                "same model with smaller sizes"
            )
        count = len(self.results)
        self.found.functions = count
        self.found.notes.append(f"by parts: {count} compared, {self.same} of equal text, which are not run")
        self.found.seconds = time.perf_counter() - start
        return self.found

    def _compare_values(self, lhs: Sequence[ir.Value], rhs: Sequence[ir.Value]) -> Result | str:
        """The comparison of some values, or why they cannot be compared."""
        original, transformed = self.sides
        inputs = {**original.inputs_of(lhs), **transformed.inputs_of(rhs)}
        try:
            programs = original.program(lhs, inputs, self.ranges), transformed.program(rhs, inputs, self.ranges)
        except GraphError as error:
            return str(error)
        texts = str(programs[0]), str(programs[1])
        if texts[0] == texts[1]:
            self.same += 1
            return Result()
        if texts not in self.results:
            if max(_work(p) for p in programs) > MOST_WORK:
                return "a part is too large to be run"
            try:
                self.results[texts] = compare(*programs, self.seed)
            except NotChecked as error:
                return str(error)
            self._note(self.results[texts])
        return self.results[texts]

    def _note(self, result: Result) -> None:
        totals = self.found
        totals.runs += result.runs
        totals.data_sets, totals.orders = max(totals.data_sets, result.data_sets), max(totals.orders, result.orders)
        totals.nan_runs += result.nan_runs


def _work(program: ir.Module) -> int:
    """The iterations of the program of a part, where sizes are numbers."""
    return work_of(ir.SymbolTable(program.operation)[PART].operation, {})
