"""`relax.transform.FuseOpsByPattern`, and the registry of patterns by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tir_mlir.compat.equality import structural_equal
from tir_mlir.compat.relax.passes import Pass, PassInfo
from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import free_name
from tir_mlir.graph.expressions import Function, Var, var_values
from tir_mlir.graph.expressions.partition import Part, outlined, parts_of, uses
from tir_mlir.graph.rewrite import DFPattern
from tir_mlir.script.module import IRModule


@dataclass
class PatternCheckContext:
    """What the `check` of a pattern is given: where it matches."""

    matched_expr: Any
    """The value that matches the whole pattern."""
    annotated_expr: dict[str, Any]
    """What the named parts of the pattern stand for."""
    matched_bindings: dict[Var, Any]
    """The bindings that would become a function."""
    var_usages: dict[Var, list[Var]]
    """The variables whose values read a variable."""
    value_to_bound_var: dict[Any, Var]
    """The variable that a value is bound to."""


@dataclass
class FusionPattern:
    """A pattern with a name; `annotation_patterns` names parts of it for `check` and `attrs_getter`.

    check: whether to fuse where it matches. attrs_getter: more attributes of the function, of the named parts.
    """

    name: str
    pattern: DFPattern
    annotation_patterns: Mapping[str, DFPattern] = field(default_factory=dict)
    check: Callable[[PatternCheckContext], bool] | None = None
    attrs_getter: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None

    @staticmethod
    def of(pattern: Any) -> FusionPattern:
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


def FuseOpsByPattern(  # noqa: N802
    patterns: Sequence[Any],
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
    fusions = [FusionPattern.of(p) for p in patterns]

    def run(mod: IRModule, _: Any) -> IRModule:
        graphs = {n: f for n, f in mod.graphs.items() if not f.attrs.get("Primitive")}
        names = list(graphs) if entry_functions is None else list(entry_functions)
        if missing := [name for name in names if name not in graphs]:
            raise GraphError(f"the module has no graph {missing[0]}; it has {', '.join(graphs)}")
        state = _Fusion(dict(mod.functions), bind_constants, annotate_codegen)
        new = {name: state.fused(graphs[name], fusions) for name in names}
        mod.update({**state.added, **{name: func for name, func in new.items() if func is not graphs[name]}})
        return mod

    return Pass(run, PassInfo("FuseOpsByPattern"))


class _Fusion:
    """The state of fusing one module."""

    def __init__(self, functions: dict[str, Any], bind_constants: bool, annotate_codegen: bool):
        self.functions, self.bind_constants, self.annotate_codegen = functions, bind_constants, annotate_codegen
        self.added: dict[str, Function] = {}

    def fused(self, func: Function, fusions: Sequence[FusionPattern]) -> Function:
        """The function after all patterns, in their order."""
        for fusion in fusions:
            values, usages = var_values(func), uses(func)
            parts = parts_of(func, fusion.pattern, lambda p: _is_wanted(fusion, p, values, usages))  # noqa: B023
            func = outlined(
                func,
                parts,
                lambda p: self._attrs(fusion, p, values),
                self._add,
                self.bind_constants,  # noqa: B023
            )
            func.home = self
        return func

    def _attrs(self, fusion: FusionPattern, part: Part, values: Mapping[Var, Any]) -> dict[str, Any]:
        more = fusion.attrs_getter(_named(fusion, part, values)) if fusion.attrs_getter else {}
        codegen = {"Codegen": fusion.name.partition(".")[0]} if self.annotate_codegen else {}
        return {"Primitive": 1, "Composite": fusion.name, **codegen, **more}

    def _add(self, prefix: str, func: Function) -> str:
        """The name of an equal function, or of this one, added."""
        prefix += f"_{func.attrs['Codegen']}" if "Codegen" in func.attrs else ""
        for name, other in self.added.items():
            if name.startswith(prefix) and structural_equal(other, func):
                return name
        name = free_name(prefix, self.functions, "")
        func.home = self
        self.added[name] = self.functions[name] = func.named(name)
        return name


def _is_wanted(fusion: FusionPattern, part: Part, values: Mapping[Var, Any], usages: dict[Var, list[Var]]) -> bool:
    if fusion.check is None:
        return True
    context = PatternCheckContext(
        values[part.root],
        _named(fusion, part, values),
        {var: values[var] for var in part.members},
        usages,
        {value: var for var, value in values.items()},
    )
    return bool(fusion.check(context))


def _named(fusion: FusionPattern, part: Part, values: Mapping[Var, Any]) -> dict[str, Any]:
    """What the named parts of a pattern stand for: of a call that it describes the call, else the operand itself."""
    inside = set(part.members)
    named = {word: part.matches[p] for word, p in fusion.annotation_patterns.items() if p in part.matches}
    return {word: values[e] if isinstance(e, Var) and e in inside else e for word, e in named.items()}


_registered: list[FusionPattern] = []


def register_patterns(patterns: Sequence[Any]) -> None:
    """Keep patterns by name; of two with one name the later one is found."""
    _registered.extend(map(FusionPattern.of, patterns))


def get_pattern(name: str) -> FusionPattern | None:
    """The pattern of a name, None if there is none."""
    return next((p for p in reversed(_registered) if p.name == name), None)


def get_patterns_with_prefix(prefix: str) -> list[FusionPattern]:
    """The patterns whose names begin with a prefix, the latest first."""
    return [p for p in reversed(_registered) if p.name.startswith(prefix)]
