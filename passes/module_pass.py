"""A registered pass over a whole module, what modules have that passes work on, and the decorator that registers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.dialect.ir.op_views import FuncOp, isa

THREAD = "thread"
"""The kind, in a `Content`, of all loops that are bound to threads."""
_LOOP_KINDS = frozenset({"serial", "parallel", "vectorized", "unrolled"})


@dataclass(frozen=True)
class Content:
    """What a module has, or what a pass works on."""

    ops: Set[str] = frozenset()
    """The names of ops."""
    attributes: Set[str] = frozenset()
    """The names of attributes of ops."""
    kinds: Set[str] = frozenset()
    """The kinds of loops."""
    annotations: Set[str] = frozenset()
    """The keys of annotations."""
    elements: Set[str] = frozenset()
    """The types of numbers: of values, and of elements of buffers and vectors."""

    def meets(self, other: Content) -> bool:
        """Whether anything is in both."""
        return not (
            self.ops.isdisjoint(other.ops)
            and self.attributes.isdisjoint(other.attributes)
            and self.kinds.isdisjoint(other.kinds)
            and self.annotations.isdisjoint(other.annotations)
            and self.elements.isdisjoint(other.elements)
        )


def content_of(module: ir.Module) -> Content:
    """What a module has."""
    ops, names, kinds, annotations, types = set[str](), set[str](), set[str](), set[str](), set[ir.Type]()
    for op in walk.ops(module.operation):
        ops.add(op.name)
        types.update(result.type for result in op.results)
        attributes = op.attributes
        own = list(attributes)
        names.update(own)
        if attrs.KIND in own:
            kind = ir.StringAttr(attributes[attrs.KIND]).value
            kinds.add(kind if kind in _LOOP_KINDS else THREAD)
        if attrs.ANNOTATIONS in own:
            annotations.update(attrs.get(op, attrs.ANNOTATIONS))
        if isa(op, FuncOp):
            function = ir.FunctionType(ir.TypeAttr(attributes["function_type"]).value)
            types.update(function.inputs, function.results)
    return Content(ops, names, kinds, annotations, _elements(types))


def _elements(types: Iterable[ir.Type]) -> set[str]:
    return {str(type_.element_type if isinstance(type_, ir.ShapedType) else type_) for type_ in types}


@dataclass(frozen=True)
class ModulePass:
    """A rewrite of a module in place.

    `run(module, **options)` raises `LoweringError` or another `TirError` for an unsupported program. In a `tir-opt`
    pipeline the options are strings. works_on: what a module has any of where the pass has anything to do; None: any
    module.
    """

    name: str
    help: str
    run: Callable[..., Any]
    works_on: Content | None = None

    def __call__(self, module: ir.Module, **options: Any) -> Any:
        return self.run(module, **options)

    def is_needed(self, content: Content) -> bool:
        """Whether a module with this content has something that the pass works on. The passes before it make none."""
        return self.works_on is None or self.works_on.meets(content)

    def run_if_needed(self, module: ir.Module, content: Content) -> Any:
        """What the pass returns; None if it has nothing to do. content: of the module before all passes."""
        return self.run(module) if self.is_needed(content) else None


def register_in(
    passes: dict[str, ModulePass],
) -> Callable[..., Callable[[Callable[..., Any]], Callable[..., Any]]]:
    """Make a decorator `(name, help, works_on)` that registers a function `run(module, **options)` in `passes`."""

    def pass_decorator(
        name: str, help_: str, *, works_on: Content | None = None
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def register(run: Callable[..., Any]) -> Callable[..., Any]:
            passes[name] = ModulePass(name, help_, run, works_on)
            return run

        return register

    return pass_decorator
