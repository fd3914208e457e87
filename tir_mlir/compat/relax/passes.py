"""Passes of TVM: functions and classes that rewrite a module, alone and in a row."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeVar

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions import Function
from tir_mlir.script.module import IRModule


@dataclass(frozen=True)
class PassInfo:
    """What a pass is called."""

    name: str
    opt_level: int = 0
    required: tuple[str, ...] = ()


class PassContext:
    """`with tvm.transform.PassContext(opt_level=3):`; options are accepted, and have no effect."""

    _stack: ClassVar[list[PassContext]] = []

    def __init__(self, opt_level: int = 2, **options: object):
        self.opt_level, self.options = opt_level, options

    @staticmethod
    def current() -> PassContext:
        """That of the innermost `with`, or one without options."""
        return PassContext._stack[-1] if PassContext._stack else PassContext()

    def __enter__(self) -> PassContext:
        PassContext._stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        PassContext._stack.pop()


class Pass:
    """A rewrite of a module: `new = pass_(module)`. The module that is given does not change."""

    def __init__(self, run: ModuleTransform, info: PassInfo):
        self._run, self.info = run, info

    def __call__(self, mod: IRModule) -> IRModule:
        if not isinstance(mod, IRModule):
            raise GraphError(f"the pass {self.info.name} takes an IRModule, not {short_repr(mod)}")
        transformed = self._run(mod.clone(), PassContext.current())
        if not isinstance(transformed, IRModule):
            raise GraphError(f"the pass {self.info.name} returns an IRModule; it returned {short_repr(transformed)}")
        return transformed

    def __repr__(self) -> str:
        return f"<pass {self.info.name}>"


class Sequential(Pass):
    """Passes one after the other: `Sequential([LegalizeOps(), FuseTIR()])(module)`."""

    def __init__(self, passes: Sequence[Pass], opt_level: int = 0, name: str = "sequential", **_: object):
        self.passes = list(passes)
        super().__init__(
            lambda mod, _: functools.reduce(lambda m, p: p(m), self.passes, mod), PassInfo(name, opt_level)
        )


ModuleTransform = Callable[[IRModule, PassContext], IRModule]
GraphTransform = Callable[[Function, IRModule, PassContext], Function]
Transform = TypeVar("Transform", bound=Callable[..., object])
Decorated = Pass | Callable[..., Pass]


def module_pass(
    pass_func: ModuleTransform | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] = (),
    **_: object,
) -> Decorated | Callable[[ModuleTransform | type], Decorated]:
    """A pass from a function `(mod, ctx) -> mod`, or from a class with `transform_module(self, mod, ctx)`."""
    return _decorate_pass(pass_func, opt_level, name, required, "transform_module", lambda f: f)


def function_pass(
    pass_func: GraphTransform | type | None = None,
    opt_level: int = 0,
    name: str | None = None,
    required: Sequence[str] = (),
    **_: object,
) -> Decorated | Callable[[GraphTransform | type], Decorated]:
    """A pass from a function `(func, mod, ctx) -> func`, or from a class with `transform_function(...)`.

    It is called for every graph of the module.
    """
    return _decorate_pass(pass_func, opt_level, name, required, "transform_function", _each_graph)


def _each_graph(transform: GraphTransform) -> ModuleTransform:
    def run(mod: IRModule, ctx: PassContext) -> IRModule:
        graphs = {name: f for name, f in mod.functions.items() if isinstance(f, Function)}
        mod.update({name: transform(f, mod, ctx) for name, f in graphs.items()})
        return mod

    return run


def _decorate_pass(
    decorated: Transform | type | None,
    opt_level: int,
    name: str | None,
    required: Sequence[str],
    method: str,
    as_run: Callable[[Transform], ModuleTransform],
) -> Decorated | Callable[[Transform | type], Decorated]:
    def decorate(target: Transform | type) -> Decorated:
        info = PassInfo(name or getattr(target, "__name__", "pass"), opt_level, tuple(required))
        if not isinstance(target, type):
            return Pass(as_run(target), info)
        if not callable(getattr(target, method, None)):
            raise GraphError(f"the pass class {target.__name__} has no method {method}")

        @functools.wraps(target, updated=())
        def make(*args: object, **keywords: object) -> Pass:
            instance = target(*args, **keywords)
            return Pass(as_run(getattr(instance, method)), info)

        return make

    return decorate if decorated is None else decorate(decorated)
