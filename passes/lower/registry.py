"""Registry of the lowering passes, for `tir-opt` and `lower_to_llvm`."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import Func, attrs, funcs, walk


@dataclass(frozen=True)
class LoweringPass:
    """A rewrite of a whole module in place. `run` raises LoweringError for an unsupported program."""

    name: str
    help: str
    run: Callable[..., Any]

    def __call__(self, module: ir.Module, **options: Any) -> Any:
        return self.run(module, **options)


LOWERINGS: dict[str, LoweringPass] = {}


def lowering(name: str, help_: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function `run(module, **options)` as the pass `name`."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        LOWERINGS[name] = LoweringPass(name, help_, run)
        return run

    return register


def programs(module: ir.Module) -> list[Func]:
    """The tensor programs of a module: functions with a body, except kernels (private and without an id)."""
    return [f for f in funcs(module) if attrs.ID in f.op.attributes or not is_private(f.op)]


def is_private(func: ir.Operation) -> bool:
    """Whether a function has private visibility."""
    if "sym_visibility" not in func.attributes:
        return False
    return ir.StringAttr(func.attributes["sym_visibility"]).value == "private"


def location_text(op: ir.Operation) -> str:
    """The source location of an op for messages: `file.py:12`, or the op's name and function if unknown."""
    location = op.location
    while location.is_a_name():
        location = location.child_loc
    if location.is_a_file():
        return f"{location.filename}:{location.start_line}"
    return f"{op.name} in {_function_name(op)}"


def _function_name(op: ir.Operation) -> str:
    for parent in walk.parents(op):
        if parent.name == "func.func":
            return f"@{ir.StringAttr(parent.attributes['sym_name']).value}"
    return "the module"


RECORDED_WARNINGS: ContextVar[list[str] | None] = ContextVar(
    "HEARD", default=None
)  # a build records the warnings, to repeat them on a cache hit


class LoweringWarning(UserWarning):
    """The result is correct, but slower than the program asked for."""

    def __init__(self, *args: object):
        super().__init__(*args)
        heard = RECORDED_WARNINGS.get()
        if heard is not None:
            heard.append(str(self))
