"""`relax.transform.FuseOpsByPattern`, and the registry of patterns by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from tir_mlir.compat.equality import structural_equal
from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import Node, TensorFunc, free_name, node_of, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.expressions import Call, Expr, Function, TupleGetItem, Var, var_values
from tir_mlir.graph.expressions.pattern_rewriting import variables
from tir_mlir.graph.expressions.read_graph import CALL_TIR, nodes_of
from tir_mlir.graph.rewrite import DFPattern, call_group, group_of
from tir_mlir.graph.transforms.clean import erase_dead_nodes
from tir_mlir.script.module import IRModule, verify_module


@dataclass
class PatternCheckContext:
    """What the `check` of a pattern is given: where it matches."""

    matched_expr: Expr
    """The value that matches the whole pattern."""
    annotated_expr: dict[str, Expr]
    """What the named parts of the pattern stand for."""
    matched_bindings: dict[Var, Expr]
    """The bindings that would become a function."""
    var_usages: dict[Var, list[Var]]
    """The variables whose values read a variable."""
    value_to_bound_var: dict[Expr, Var]
    """The variable that a value is bound to."""


@dataclass
class FusionPattern:
    """A pattern with a name; `annotation_patterns` names parts of it for `check` and `attrs_getter`.

    check: whether to fuse where it matches.
    attrs_getter: more attributes of the function, of the named parts.
    """

    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] = field(default_factory=dict)
    check: Callable[[PatternCheckContext], bool] | None = None
    attrs_getter: Callable[[dict[str, Expr]], Mapping[str, object]] | None = None

    @staticmethod
    def from_tuple(pattern: PatternLike) -> FusionPattern:
        """The pattern of a tuple of 2 to 5 of its fields, (name, pattern, annotation_patterns, check, attrs_getter).

        Errors: GraphError for something else.
        """
        fusion = FusionPattern(*pattern) if isinstance(pattern, tuple) and 2 <= len(pattern) <= 5 else pattern
        if not isinstance(fusion, FusionPattern) or not isinstance(fusion.name, str):
            raise GraphError(
                f'a pattern to fuse is ("name", pattern) or a FusionPattern, not {short_repr(pattern)}; fix: '
                '("mine.conv2d_relu", is_op("relax.nn.relu")(is_op("relax.nn.conv2d")(wildcard(), wildcard())))'
            )
        if not isinstance(fusion.pattern, DFPattern):
            raise GraphError(
                f"the pattern {fusion.name} is {short_repr(fusion.pattern)}; fix: one of tvm.relax.dpl, such as "
                'is_op("relax.add")(wildcard(), wildcard())'
            )
        fusion.annotation_patterns = fusion.annotation_patterns or {}
        return fusion


PatternLike = FusionPattern | tuple[Any, ...]
"""A pattern, or its fields."""


def FuseOpsByPattern(
    patterns: Sequence[PatternLike],
    bind_constants: bool = True,
    annotate_codegen: bool = False,
    entry_functions: Sequence[str] | None = None,
) -> Pass:
    """What matches a pattern becomes a private function with the attribute `Composite`, the name of the pattern.

        lv = R.nn.conv2d(x, w); gv = R.nn.relu(lv)      ->      gv = cls.fused_relax_nn_conv2d_relax_nn_relu(x, w)

    patterns: (name, pattern) or FusionPattern; what an earlier one takes, a later one does not. bind_constants:
    constants become part of the function, else they are parameters. annotate_codegen: the function also has the
    attribute `Codegen`, the first word of the name. entry_functions: the graphs to rewrite, all if None. Equal
    functions are one. Errors: GraphError.
    """
    fusions = [FusionPattern.from_tuple(p) for p in patterns]

    def run(mod: IRModule, _: object) -> IRModule:
        graphs = [n for n, f in mod.graphs.items() if not f.attrs.get("Primitive")]
        names = graphs if entry_functions is None else list(entry_functions)
        if missing := [name for name in names if name not in graphs]:
            raise GraphError(f"the module has no graph {missing[0]}; it has {', '.join(graphs)}")
        fusion_of_module = _Fusion(mod, bind_constants, annotate_codegen)
        for name in names:
            for fusion in fusions:
                fusion_of_module.fuse(name, fusion)
        return mod

    return Pass(run, PassInfo("FuseOpsByPattern"))


class _Fusion:
    """The state of fusing one module, in place."""

    def __init__(self, module: IRModule, bind_constants: bool, annotate_codegen: bool):
        self.module, self.bind_constants, self.annotate_codegen = module, bind_constants, annotate_codegen
        self.groups: list[str] = []

    def fuse(self, name: str, fusion: FusionPattern) -> None:
        """Make a function of each part of a graph that matches a pattern."""
        func = Function.of_module(self.module, name)
        values, usages = var_values(func), uses(func)
        parts = parts_of(func, fusion.pattern, lambda part: _is_wanted(fusion, part, values, usages))
        with enter_context():
            graph = tensor_func(self.module.mlir, name)
            nodes = nodes_of(func, graph)
        for part in parts:
            attributes = self._attrs(fusion, part, values)
            self._outline(graph, [nodes[v] for v in part.members if v in nodes], _name(part, values), attributes)
        with enter_context():
            erase_dead_nodes(graph)
            verify_module(self.module.mlir)

    def _attrs(self, fusion: FusionPattern, part: PatternMatch, values: Mapping[Var, Expr]) -> dict[str, object]:
        extra = fusion.attrs_getter(_annotated_matches(fusion, part, values)) if fusion.attrs_getter else {}
        codegen = {"Codegen": fusion.name.partition(".")[0]} if self.annotate_codegen else {}
        return {"Composite": fusion.name, **codegen, **extra}

    def _outline(self, graph: TensorFunc, nodes: list[Node], prefix: str, attributes: Mapping[str, object]) -> None:
        """Replace nodes by a call of a function that returns their results."""
        prefix += f"_{attributes['Codegen']}" if "Codegen" in attributes else ""
        with enter_context():
            inputs, outputs = self._inputs(graph, nodes), _results(nodes)
            name = free_name(prefix, self.module, "")
            group = group_of(self.module.mlir, graph, name, nodes, inputs, outputs)
            group.op.move_before(graph.op)
            attrs.put(group.op, attrs.ATTRS, attributes)
        equal = [n for n in self.groups if n.startswith(prefix) and structural_equal(self.module[n], self.module[name])]
        with enter_context():
            if equal:
                group.op.erase()
            self.groups += [] if equal else [name]
            call_group(graph, tensor_func(self.module.mlir, (equal or [name])[0]), nodes, list(inputs), outputs)

    def _inputs(self, graph: TensorFunc, nodes: list[Node]) -> dict[ir.Value, str]:
        """What a function of these nodes is given, and the names of its parameters, constants last."""
        results = {result for node in nodes for result in node.results}
        read = dict.fromkeys(value for node in nodes for value in node.inputs if value not in results)
        constants = [v for v in read if (node := node_of(v)) is not None and node.kind == "constant"]
        named = {} if self.bind_constants else {v: f"param_{number}" for number, v in enumerate(constants)}
        return {v: graph.name_of(v) for v in read if v not in constants} | named


def _results(nodes: Sequence[Node]) -> list[ir.Value]:
    """The results of the last node, and those of the others that nodes outside read."""
    ops = {node.op for node in nodes}
    escapes = [r for node in nodes[:-1] for r in node.results if any(use.owner.operation not in ops for use in r.uses)]
    return [*escapes, *nodes[-1].results]


@dataclass
class PatternMatch:
    """The bindings of a graph that match a pattern together."""

    root: Var
    matches: dict[DFPattern, Expr]
    """What each part of the pattern stands for."""
    members: list[Var] = field(default_factory=list)
    """The variables that are bound to what the pattern describes, in the order of the graph."""


def parts_of(func: Function, pattern: DFPattern, is_taken: Callable[[PatternMatch], bool]) -> list[PatternMatch]:
    """The parts of a graph that match a pattern, first the one whose result comes first; each value is in one.

    is_taken: whether to take a part. Errors: GraphError for a part that reads what is computed from it outside of it.
    """
    values, covered = var_values(func), set[Var]()
    order = {var: number for number, var in enumerate(values)}
    parts = []
    for var, value in values.items():
        matches = pattern.find_matches(value, values.get) if isinstance(value, Call | TupleGetItem) else None
        if var in covered or matches is None:
            continue
        described = {e for p, e in matches.items() if p.parts and isinstance(e, Var) and e in values}
        members = sorted({var, *described}, key=order.__getitem__)
        part = PatternMatch(var, matches, members)
        if covered.isdisjoint(members) and is_taken(part):
            _check_closed(func, part, values)
            parts.append(part)
            covered |= set(members)
    return parts


def _check_closed(func: Function, part: PatternMatch, values: Mapping[Var, Expr]) -> None:
    """Errors: GraphError for a part that reads a value that is computed from it outside of it."""
    dependents: set[Var] = set()  # outside, computed from the part
    for var, value in values.items():
        read = set(variables(value))
        if var in part.members:
            if culprit := next((v for v in read if v in dependents), None):
                raise GraphError(
                    f"the part of {func.name} that ends with {part.root!r} reads {culprit!r}, which is computed from "
                    "it outside of the pattern; fix: a pattern that has it as well, or a check that is False here"
                )
        elif not read.isdisjoint(part.members) or not read.isdisjoint(dependents):
            dependents.add(var)


def _name(part: PatternMatch, values: Mapping[Var, Expr]) -> str:
    """`fused_relax_nn_conv2d_relax_nn_relu`: the names of what is called."""
    calls = [value for var in part.members if isinstance(value := values[var], Call)]
    words = [str(c.args[0]) if c.op == CALL_TIR else str(getattr(c.op, "name", c.op)) for c in calls]
    return "_".join(["fused", *(word.replace(".", "_") for word in words)])


def uses(func: Function) -> dict[Var, list[Var]]:
    """The variables that are bound to values that read each variable."""
    readers: dict[Var, list[Var]] = {var: [] for var in (*func.params, *var_values(func))}
    for var, value in var_values(func).items():
        for operand in dict.fromkeys(variables(value)):
            readers.setdefault(operand, []).append(var)
    return readers


def _is_wanted(
    fusion: FusionPattern, part: PatternMatch, values: Mapping[Var, Expr], usages: dict[Var, list[Var]]
) -> bool:
    if fusion.check is None:
        return True
    context = PatternCheckContext(
        values[part.root],
        _annotated_matches(fusion, part, values),
        {var: values[var] for var in part.members},
        usages,
        {value: var for var, value in values.items()},
    )
    return bool(fusion.check(context))


def _annotated_matches(fusion: FusionPattern, part: PatternMatch, values: Mapping[Var, Expr]) -> dict[str, Expr]:
    """What the named parts of a pattern stand for: of a call that it describes the call, else the operand itself."""
    members = set(part.members)
    named = {word: part.matches[p] for word, p in fusion.annotation_patterns.items() if p in part.matches}
    return {word: values[e] if isinstance(e, Var) and e in members else e for word, e in named.items()}


_registered: list[FusionPattern] = []


def register_patterns(patterns: Sequence[PatternLike]) -> None:
    """Keep patterns by name; of two with one name the later one is found."""
    _registered.extend(map(FusionPattern.from_tuple, patterns))


def get_pattern(name: str) -> FusionPattern | None:
    """The pattern of a name, None if there is none."""
    return next((p for p in reversed(_registered) if p.name == name), None)


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """The patterns whose names begin with a prefix, the latest first."""
    return [p for p in reversed(_registered) if p.name.startswith(prefix)]
