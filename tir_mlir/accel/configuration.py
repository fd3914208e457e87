"""Configuration registers: where a program sets them, so that each instruction finds the values that it needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import Field
from tir_mlir.accel.program import Allocate, Clipped, For, HostCode, Issue, MachineProgram, Node, Value, When
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant, IntExpr, as_expr, equal, names_in

Values = dict[Field, Value]


def configure(program: MachineProgram) -> MachineProgram:
    """The program with the instructions that set registers: each before the outermost loop in which its values are the
    only ones that are needed, and only where the registers have other values.

    Errors: MachineError for a register that no instruction sets.
    """
    setters = _Setters(program)
    body, _ = setters.body(program.body, {})
    return replace(program, body=body)


class _Setters:
    def __init__(self, program: MachineProgram):
        self.machine = program.machine
        self.needs: dict[int, Mapping[Field, list[Value]]] = {}
        self._collect(program.body)

    def _collect(self, body: Sequence[Node]) -> dict[Field, list[Value]]:
        """The values that a body needs, by register."""
        together: dict[Field, list[Value]] = {}
        for node in body:
            if isinstance(node, Issue):
                own = {f: [node.required_value(source)] for f, source in node.instruction.needs.items()}
            elif isinstance(node, For | When):
                own = self._collect(node.body)
            else:
                own = {}
            self.needs[id(node)] = own
            for field, values in own.items():
                known = together.setdefault(field, [])
                known += [v for v in values if not any(is_same(v, k) for k in known)]
        return together

    def body(self, body: Sequence[Node], state: Values) -> tuple[list[Node], Values]:
        """A body with what sets registers, and their values after it; `state`: before it."""
        made: list[Node] = []
        for number, node in enumerate(body):
            wanted = {f: v for f, v in self._values_of(node).items() if not self._is_set_inside(f, node)}
            unmet = {f: v for f, v in wanted.items() if f not in state or not is_same(state[f], v)}
            later: Values = {}
            for follower in reversed(body[number + 1 :] if unmet else ()):
                later |= self._values_of(follower)
            for issue in self._set(unmet, {**later, **state, **wanted}, node):
                made.append(issue)
                state = state | {f: issue.numbers[f.name] for f in issue.instruction.sets}
            node, state = self._inner(node, state)
            made.append(node)
        return made, state

    def _values_of(self, node: Node) -> Values:
        """The fields that have one value in a node. Registers belong to a core: nothing is set before the loop over
        them."""
        if isinstance(node, For) and node.is_over_cores:
            return {}
        return {f: v[0] for f, v in self.needs[id(node)].items() if len(v) == 1 and not _varies(v[0], node)}

    def _is_set_inside(self, field: Field, node: Node) -> bool:
        """Whether what sets a field also sets one that changes inside of a node: it is set there, with that."""
        wanted, others = self._values_of(node), self.needs[id(node)]
        return any(f not in wanted and f in others for f in self._setter(field, wanted).sets)

    def _inner(self, node: Node, state: Values) -> tuple[Node, Values]:
        if not isinstance(node, For | When):
            return node, state
        changed = {f for f, values in self.needs[id(node)].items() if len(values) > 1 or _varies(values[0], node)}
        inside, after = self.body(node.body, {f: v for f, v in state.items() if f not in changed})
        kept = {f: v for f, v in after.items() if f in state and is_same(state[f], v)}
        if isinstance(node, When):
            return When(node.conditions, inside), kept
        return replace(node, body=inside), kept

    def _set(self, unmet: Values, wanted: Values, node: Node) -> list[Issue]:
        """The instructions that set the unmet fields. Of others of their registers, `wanted` has the values; else 0."""
        issues: list[Issue] = []
        while unmet:
            field = next(iter(unmet))
            setter = self._setter(field, unmet)
            values: Values = {f: wanted.get(f, Constant(0)) for f in setter.sets}
            missing = [n.name for n in setter.numbers if n.name not in {f.name for f in setter.sets}]
            if missing:
                raise MachineError(f"{setter} sets {field}, and has an operand that is not a field: {missing[0]}")
            issues.append(Issue(setter, {}, {f.name: v for f, v in values.items()}, _line(node)))
            unmet = {f: v for f, v in unmet.items() if f not in setter.sets}
        return issues

    def _setter(self, field: Field, unmet: Values) -> MachineInstruction:
        able = [i for i in self.machine.instructions.values() if field in i.sets]
        if not able:
            raise MachineError(
                f"no instruction of {self.machine} sets {field}, which a program needs; "
                f"fix: describe one with sets={field.register}"
            )
        return max(able, key=lambda i: (sum(f in unmet for f in i.sets), -len(i.sets)))


def is_same(first: Value, second: Value) -> bool:
    """Whether two values are shown to be equal."""
    if isinstance(first, IntExpr) and isinstance(second, IntExpr):
        return equal(first, second)
    return type(first) is type(second) and first == second


def _varies(value: Value, node: Node) -> bool:
    """Whether a value depends on a loop at or inside of a node."""
    if isinstance(value, float):
        return False
    names = set(names_in(as_expr(value.number if isinstance(value, Clipped) else value)))
    return bool(names & _variables(node))


def _variables(node: Node) -> set[str]:
    if isinstance(node, For | When):
        own = {node.var} if isinstance(node, For) else set[str]()
        return own.union(*map(_variables, node.body))
    return set()


def _line(node: Node) -> str:
    if isinstance(node, Issue | HostCode):
        return node.line
    return "" if isinstance(node, Allocate) else next((line for n in node.body if (line := _line(n))), "")
