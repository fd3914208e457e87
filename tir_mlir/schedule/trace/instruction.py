"""A step of a trace, and its representation in TVM: kind, inputs, attrs, outputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tir_mlir.dialect.diagnostics import TraceError, short_repr
from tir_mlir.dialect.ir import Func
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.passes.schedule.queries.decider import Choices
from tir_mlir.schedule.handles import Handle, handles_in, is_other
from tir_mlir.schedule.step_arguments import handle_types
from tir_mlir.schedule.trace import python_text
from tir_mlir.schedule.trace.python_text import DECISION, NAME

# kinds whose name is not the CamelCase name of the primitive
_KINDS = {"get_block": "GetSBlock", "rfactor": "RFactor", "reindex": "ReIndex", "unsafe_set_dtype": "UnsafeSetDType"}
# the inputs of kinds where TVM has more than the blocks and loops; `*`: flattened
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
    """The kind of a step, with its name in TVM. `inputs`, `attrs`: parameters of the primitive; `*name`: flattened."""

    name: str
    primitive: str
    inputs: tuple[str, ...]
    attrs: tuple[str, ...]
    is_pure: bool

    @staticmethod
    def get(name: str) -> InstructionKind:
        """Look up a kind by its name, old (`GetBlock`) or new (`GetSBlock`). Errors: TraceError if it is unknown."""
        kind = kind_named(name) if not is_other(name, str) else None
        if kind is None:
            raise TraceError(f"unknown instruction kind {name!r}")
        return kind


@dataclass(frozen=True, eq=False)
class Instruction:
    """A step: the primitive, its arguments by name (`*args` as one), and the handles that it returned.

    An output is None for a factor to be inferred. Steps compare by identity.
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
        return PRIMITIVES[self.name].variadic

    @property
    def inputs(self) -> list[object]:
        return self._flat_arguments(self.kind.inputs)

    @property
    def attrs(self) -> list[object]:
        return self._flat_arguments(self.kind.attrs)

    def _flat_arguments(self, keys: tuple[str, ...]) -> list[object]:
        flat: list[object] = []
        for key in keys:
            if key.startswith("*"):
                flat += self.arguments[key[1:]]
            elif key != NAME or self.arguments[key] is not None:
                flat.append(self.arguments[key])
        return flat

    def handles(self) -> Iterator[Handle]:
        """The handles among the arguments."""
        for value in self.arguments.values():
            yield from handles_in(value)

    def __str__(self) -> str:
        return python_text.print_step(self)

    def __repr__(self) -> str:
        args_text = ", ".join(f"{k}={v!r}" for k, v in self.arguments.items())
        return f"{self.name}({args_text})"


def check_step(step: object, number: int) -> None:
    """Refuse what is not a step of a trace, or returns what is not a handle. number: from 1. Errors: TraceError."""
    if not isinstance(step, Instruction):
        raise TraceError(f"step {number} of the trace is {short_repr(step)}; fix: an Instruction")
    where = f"step {number} of the trace, {short_repr(step.name)}"
    if step.name not in PRIMITIVES:
        raise TraceError(f"{where}: unknown primitive")
    if not set(step.arguments) <= set(PRIMITIVES[step.name].signature.parameters):
        raise TraceError(
            f"{where}: it has the arguments {', '.join(step.arguments)}, which are not all parameters of it"
        )
    for handle in step.outputs:
        if handle is not None and is_other(handle, Handle):
            raise TraceError(f"{where}: it returns {short_repr(handle)}; fix: the handle of a block, loop or integer")


def kind_of(primitive: str) -> InstructionKind:
    """The kind of the steps of a primitive."""
    return _kind(PRIMITIVES[primitive])


def kind_named(name: str) -> InstructionKind | None:
    """Look up a kind by its name, old (`GetBlock`) or new (`GetSBlock`). Queries that return a bool have no kind."""
    plain = name.replace("SBlock", "Block")
    kinds = [kind_of(p.name) for p in PRIMITIVES.values() if p.returns is not bool]
    return next((k for k in kinds if k.name == name or k.name.replace("SBlock", "Block") == plain), None)


@lru_cache(maxsize=512)
def _kind(primitive: Primitive) -> InstructionKind:
    parameters = primitive.signature.parameters
    many = primitive.variadic
    keys = [k for k, p in parameters.items() if p.annotation is not Choices and k != DECISION]
    handle_keys = [k for k in keys if parameters[k].annotation is not Func and handle_types(parameters[k].annotation)]
    inputs = _INPUTS.get(primitive.name, tuple(f"*{k}" if k == many else k for k in handle_keys))
    input_keys = {k.lstrip("*") for k in inputs}
    if not input_keys <= set(keys):  # parameters differ from those of TVM: use the order of the primitive
        inputs = tuple(f"*{k}" if k == many else k for k in handle_keys)
        input_keys = set(handle_keys)
    name = _KINDS.get(primitive.name) or "".join(w.capitalize() for w in primitive.name.split("_"))
    attrs = tuple(k for k in keys if k not in input_keys)
    return InstructionKind(name, primitive.name, inputs, attrs, primitive.pure and primitive.name != "enter_postproc")
