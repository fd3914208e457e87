"""One step as the trace keeps it, and how it reads for programs written for TVM: kind, inputs, attrs, outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tir_mlir.dialect.diagnostics import TraceError
from tir_mlir.dialect.index_maps import Formula
from tir_mlir.dialect.ir import Func
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.queries.rng import Random
from tir_mlir.schedule.arguments import handle_types, variadic
from tir_mlir.schedule.handles import Handle
from tir_mlir.schedule.trace import python_text
from tir_mlir.schedule.trace.python_text import DECISION

# names of kinds that are not the name of the primitive in CamelCase
_KINDS = {"get_block": "GetSBlock", "rfactor": "RFactor", "reindex": "ReIndex", "unsafe_set_dtype": "UnsafeSetDType"}
# the arguments that TVM counts as inputs, where those are not the blocks and loops alone; `*`: laid out one by one
_INPUTS = {
    "split": ("loop", "*factors"),
    "loop_partition": ("loop", "*factors"),
    "annotate": ("block_or_loop", "ann_val"),
    "reorder_block_iter_var": ("block", "new_order"),
    "transform_layout": ("block", "index_map"),
    "reindex_cache_read": ("block", "index_map"),
    "reindex_cache_write": ("block", "index_map"),
    "unsafe_hide_buffer_access": ("block", "buf_type", "buf_index_array"),
    "annotate_buffer_access": ("block", "buffer_index", "buf_type", "gen_new_ranges"),
}


@dataclass(frozen=True)
class InstructionKind:
    """What a step does, by TVM's name; `inputs` and `attrs` are parameters of the primitive, `*name` laid out."""

    name: str
    primitive: str
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]
    is_pure: bool

    @staticmethod
    def get(name: str) -> InstructionKind:
        """The kind of a name, in the old spelling or today's. Errors: TraceError when there is none."""
        found = kind_named(name)
        if found is None:
            raise TraceError(f"there is no kind of step called {name!r}")
        return found


@dataclass(frozen=True, eq=False)
class Instruction:
    """One step: the primitive, its arguments by name (`*args` under their own name), and the handles it gave.

    `outputs` has None where the step left a value to be inferred. Two steps are never equal.
    """

    name: str
    arguments: dict[str, Any]
    outputs: tuple[Handle | None, ...]
    returns_list: bool = False

    @property
    def kind(self) -> InstructionKind:
        return kind_of(self.name)

    @property
    def variadic(self) -> str | None:
        return variadic(PRIMITIVES[self.name])

    @property
    def inputs(self) -> list[Any]:
        return self._laid_out(self.kind.inputs)

    @property
    def attrs(self) -> list[Any]:
        return self._laid_out(self.kind.attrs)

    def _laid_out(self, keys: tuple[str, ...]) -> list[Any]:
        found: list[Any] = []
        for key in keys:
            if key.startswith("*"):
                found += self.arguments[key[1:]]
            else:
                found.append(self.arguments[key])
        return found

    def handles(self) -> Iterator[Handle]:
        """The handles among the arguments."""
        for value in self.arguments.values():
            yield from handles_in(value)

    def __str__(self) -> str:
        return python_text.alone(self)

    def __repr__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"{self.name}({shown})"


def handles_in(value: Any) -> Iterator[Handle]:
    """Every handle in a value, in lists and dictionaries too."""
    if isinstance(value, Handle):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from handles_in(item)
    elif isinstance(value, Formula):
        for side in value.sides():
            yield from handles_in(side)
    elif isinstance(value, dict):
        for item in value.values():
            yield from handles_in(item)


def kind_of(primitive: str) -> InstructionKind:
    """The kind of a primitive's steps."""
    return _kind(PRIMITIVES[primitive])


def kind_named(name: str) -> InstructionKind | None:
    """The kind of a name, in the old spelling or today's (`GetBlock`, `GetSBlock`). Questions are no steps."""
    plain = name.replace("SBlock", "Block")
    kinds = [kind_of(p.name) for p in PRIMITIVES.values() if p.returns is not bool]
    return next((k for k in kinds if k.name == name or k.name.replace("SBlock", "Block") == plain), None)


@lru_cache(maxsize=512)
def _kind(primitive: Primitive) -> InstructionKind:
    parameters = primitive.signature.parameters
    many = variadic(primitive)
    shown = [k for k, p in parameters.items() if p.annotation is not Random and k != DECISION]
    held = [k for k in shown if parameters[k].annotation is not Func and handle_types(parameters[k].annotation)]
    inputs = _INPUTS.get(primitive.name, tuple(f"*{k}" if k == many else k for k in held))
    known = {k.lstrip("*") for k in inputs}
    if not known <= set(shown):  # the primitive has other parameters than TVM's: its own order will do
        inputs = tuple(f"*{k}" if k == many else k for k in held)
        known = set(held)
    name = _KINDS.get(primitive.name) or "".join(w.capitalize() for w in primitive.name.split("_"))
    attrs = tuple(k for k in shown if k not in known)
    return InstructionKind(name, primitive.name, inputs, attrs, primitive.pure and primitive.name != "enter_postproc")
