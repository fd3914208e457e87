"""Traces in the JSON format of TVM: `[[[kind, inputs, attrs, outputs], ...], [[index, decision], ...]]`.

In inputs, a plain string is a result of an earlier step (`"b0"`, or `"v1 * 4"`), and string values are quoted twice; in
attrs, a result is `{"rv": "v3"}`. Index maps are source text. A trace is checked as a whole before any step runs.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter
from typing import Any, NoReturn, get_args, get_origin

from tir_mlir.dialect.diagnostics import TirError, TraceError, short_repr
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.symbolic import Formula, parse_formula
from tir_mlir.passes.schedule import PRIMITIVES, Primitive
from tir_mlir.schedule import step_arguments as types
from tir_mlir.schedule.handles import (
    BlockHandle,
    ExprHandle,
    Handle,
    LoopHandle,
    handles_in,
    is_dict,
    is_list,
    is_other,
    new_serial,
)
from tir_mlir.schedule.trace.instruction import DECISION, Instruction, InstructionKind, kind_named
from tir_mlir.schedule.trace.python_text import TraceHandleNames, unknown

_HANDLES = {"b": BlockHandle, "l": LoopHandle, "v": ExprHandle}
_NAME = re.compile(r"[blv](0|[1-9][0-9]{0,8})")
_INFERRED = "_"


# --- writing ----------------------------------------------------------------------------------------------------------


def encode_trace(steps: Sequence[Instruction], decisions: Mapping[Instruction, Any]) -> list[Any]:
    """Encode a trace as lists, strings and numbers.

    Errors: TraceError for a value without a JSON representation, and for a handle that no earlier step returned.
    """
    names = TraceHandleNames()
    listed: list[list[Any]] = []
    for number, step in enumerate(steps):
        for handle in step.handles():
            if not names.has(handle):
                raise TraceError(f"step {number + 1} of the trace, {step.name}, {unknown(handle)}")
        inputs = [_encode_value(v, names, True) for v in step.inputs]
        attrs = [_encode_value(v, names, False) for v in step.attrs]
        listed.append([step.kind.name, inputs, attrs, names.give(step.outputs)])
    sampled = [[n, _encode_value(decisions[s], names, False)] for n, s in enumerate(steps) if s in decisions]
    return [listed, sampled]


def _encode_value(value: Any, names: TraceHandleNames, is_input: bool) -> Any:
    if isinstance(value, Handle):
        return names.name_of(value) if is_input else {"rv": names.name_of(value)}
    if isinstance(value, Formula):
        return value.text(names.name_of) if is_input else {"rv": value.text(names.name_of)}
    if isinstance(value, IndexMap):
        if clash := [n for n in value.sizes if _NAME.fullmatch(n)]:
            raise TraceError(f"the size {clash[0]} in an index map is called like a result of a step; rename it")
        value = value.text(names.name_of)
    if hasattr(value, "from_text"):
        value = repr(value)
    if isinstance(value, str):
        return json.dumps(value) if is_input else str(value)
    if is_list(value):
        return [_encode_value(v, names, is_input) for v in value]
    if is_dict(value):
        return {str(k): _encode_value(v, names, is_input) for k, v in value.items()}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TraceError(f"{short_repr(value)} ({type(value).__name__}) cannot be represented in JSON")


def step_of(kind: InstructionKind, inputs: Sequence[Any], attrs: Sequence[Any], outputs: Sequence[Any]) -> Instruction:
    """Create a step from TVM's arguments of `Instruction`: kind, inputs, attrs, and handles for its results.

    Errors: TraceError for arguments that are not those of the kind, and results that are not handles of its types.
    """
    if is_other(kind, InstructionKind):
        raise TraceError(f"the kind of a step is {short_repr(kind)}; fix: InstructionKind.get(name)")
    reader = _TraceReader()
    reader.where = f"step {kind.name}"
    for what, values in (("inputs", inputs), ("attrs", attrs), ("outputs", outputs)):
        if is_other(values, Sequence) or isinstance(values, str):
            reader.fail(f"its {what} are {short_repr(values)}; fix: a list")
    arguments, primitive = reader.arguments(kind, list(inputs), list(attrs)), PRIMITIVES[kind.primitive]
    reader.check_handles(primitive, outputs)
    return Instruction(kind.primitive, arguments, tuple(outputs), _gives_list(primitive))


# --- reading ----------------------------------------------------------------------------------------------------------


def decode_trace(source: Any) -> tuple[list[Instruction], dict[Instruction, Any]]:
    """Decode a trace from text or from the result of `json.loads`. Errors: TraceError."""
    try:
        return _TraceReader().read(json.loads(source) if isinstance(source, (str, bytes, bytearray)) else source)
    except RecursionError:
        raise TraceError("the trace is nested too deeply") from None
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise TraceError(f"the trace is not valid JSON: {error}") from None


class _TraceReader:
    def __init__(self) -> None:
        self.known: dict[str, Handle] = {}
        self.where = "the trace"

    def fail(self, message: str) -> NoReturn:
        raise TraceError(f"{self.where}: {message}")

    def read(self, source: Any) -> tuple[list[Instruction], dict[Instruction, Any]]:
        if not _is_list(source, 2) or not all(map(_is_list, source)):
            self.fail("expected a list of two lists, the steps and the decisions")
        steps: list[Instruction] = []
        for number, entry in enumerate(source[0]):
            self.where = f"step {number + 1} of the trace"
            steps.append(self.step(entry))
        decisions: dict[Instruction, Any] = {}
        for number, entry in enumerate(source[1]):
            self.where = f"decision {number + 1} of the trace"
            step, decision = self.decision(entry, steps)
            if step in decisions:
                self.fail(f"step {entry[0]} already has a decision")
            decisions[step] = decision
        return steps, decisions

    def step(self, entry: Any) -> Instruction:
        if not _is_list(entry, 4) or not isinstance(entry[0], str) or not all(map(_is_list, entry[1:])):
            self.fail("expected [kind, inputs, attrs, outputs]: a string and three lists")
        kind = kind_named(entry[0])
        if kind is None:
            self.fail(f"unknown instruction kind {entry[0]!r}")
        self.where += f", {kind.name}"
        primitive = PRIMITIVES[kind.primitive]
        arguments = self.arguments(kind, [self.value(v) for v in entry[1]], [self.attr(v) for v in entry[2]])
        return Instruction(kind.primitive, arguments, self.outputs(primitive, entry[3]), _gives_list(primitive))

    def arguments(self, kind: InstructionKind, inputs: list[Any], attrs: list[Any]) -> dict[str, Any]:
        """The arguments of a step by name. Attributes missing in older traces get their defaults."""
        primitive = PRIMITIVES[kind.primitive]
        parameters = primitive.signature.parameters
        later = [parameters[k].default for k in kind.attrs[len(attrs) :] if not k.startswith("*")]
        attrs = attrs if Parameter.empty in later else [*attrs, *later]
        by_key = self.assign_parameters(kind.inputs, inputs, "inputs") | self.assign_parameters(
            kind.attrs, attrs, "attrs"
        )
        return {k: self.convert_argument(primitive, k, by_key[k]) for k in parameters if k in by_key}

    def assign_parameters(self, keys: Sequence[str], values: list[Any], what: str) -> dict[str, Any]:
        """Assign values to parameters; `*name` takes the rest."""
        many = bool(keys) and keys[-1].startswith("*")
        least = len(keys) - many
        if len(values) < least or (not many and len(values) > least):
            self.fail(f"it has {len(values)} {what}, expected {least}{' or more' if many else ''} ({', '.join(keys)})")
        by_key = dict(zip(keys[:least], values, strict=False))
        return by_key | {keys[-1][1:]: values[least:]} if many else by_key

    def decision(self, entry: Any, steps: list[Instruction]) -> tuple[Instruction, Any]:
        number = entry[0] if _is_list(entry, 2) else None
        if isinstance(number, bool) or not isinstance(number, int):
            self.fail("expected [index of the step, decision]")
        if not 0 <= number < len(steps):
            self.fail(f"step {number} is out of range: the trace has {len(steps)} steps, counted from 0")
        step = steps[number]
        primitive = PRIMITIVES[step.name]
        if not primitive.samples:
            self.fail(f"step {entry[0]} is {step.kind.name}, which is not a sampling step")
        return step, self.convert_argument(primitive, DECISION, self.attr(entry[1]))

    # --- values -------------------------------------------------------------------------------------------------------

    def value(self, value: Any) -> Any:
        """An input."""
        if isinstance(value, str):
            return self.parse_string(value) if value.startswith('"') else self.handle(value)
        return self.inner(value, self.value)

    def attr(self, value: Any) -> Any:
        """An attribute, or a part of a decision."""
        if is_dict(value) and set(value) == {"rv"}:
            return self.handle(value["rv"])
        return self.inner(value, self.attr)

    def inner(self, value: Any, read: Callable[[Any], Any]) -> Any:
        if is_list(value) and not isinstance(value, tuple):
            return [read(v) for v in value]
        if is_dict(value):
            if not all(isinstance(k, str) for k in value):
                self.fail("the keys of a dictionary must be strings")
            return {k: read(v) for k, v in value.items()}
        if value is None or isinstance(value, (bool, int, float, str)):
            return value
        self.fail(f"{short_repr(value)} is not a JSON value")

    def parse_string(self, text: str) -> str:
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if not isinstance(value, str):
            self.fail(f"{text!r} is not a quoted string")
        return value

    def handle(self, name: Any) -> Any:
        """The result of an earlier step, or a formula over such results."""
        try:
            formula = parse_formula(name, self.known) if isinstance(name, str) else None
            if any(True for _ in handles_in(formula)):
                return formula
        except (KeyError, ValueError):
            pass
        self.fail(f"{name!r} is not a result of an earlier step; string values in inputs must be quoted twice")

    def convert_argument(self, primitive: Primitive, key: str, value: Any) -> Any:
        """Convert a value to the type of a parameter: 0 and 1 to bool, text to an index map."""
        annotation = primitive.signature.parameters[key].annotation
        parts = types.alternatives(annotation)
        if bool in parts and int not in parts and isinstance(value, int) and value in (0, 1):
            value = bool(value)
        maps = [p for p in parts if hasattr(p, "from_text")]
        if maps and isinstance(value, str) and (str not in parts or value.startswith("lambda")):
            try:
                value = IndexMap.from_text(value, self.known) if maps[0] is IndexMap else maps[0].from_text(value)
            except (TirError, ValueError, TypeError, SyntaxError) as error:
                self.fail(f"{key} is not an index map: {error}")
        try:
            return types.convert_argument(primitive, key, value)
        except TypeError as error:
            self.fail(str(error))

    def check_handles(self, primitive: Primitive, handles: Sequence[Any]) -> None:
        """Refuse results of a step that are not different handles of its types."""
        letters = self.letters(primitive, len(handles))
        for number, handle in enumerate(handles):
            if getattr(handle, "letter", _INFERRED if handle is None else "") not in (*letters,):
                words = " or ".join(_HANDLES[x].word for x in letters if x != _INFERRED) or "nothing"
                self.fail(f"its output {number} is {short_repr(handle)}; fix: the handle of a {words}")
            if handle is not None and any(handle is earlier for earlier in handles[:number]):
                self.fail(f"its output {number} is that of an earlier one; fix: a handle of its own")

    def letters(self, primitive: Primitive, count: int) -> str:
        """The letters of the result types of a step that has this number of results."""
        letters, single = _results(primitive)
        if single is not None and count != single:
            self.fail(f"it has {count} outputs, expected {single}")
        return letters

    def outputs(self, primitive: Primitive, names: list[Any]) -> tuple[Handle | None, ...]:
        """Create handles for the results of a step; their names must match its result types."""
        letters = self.letters(primitive, len(names))
        handles: list[Handle | None] = []
        for name in names:
            if name == _INFERRED and _INFERRED in letters:
                handles.append(None)
                continue
            if not isinstance(name, str) or not _NAME.fullmatch(name) or name[0] not in letters:
                expected = " or ".join(f"{x}N" if x != _INFERRED else x for x in letters) or "nothing"
                self.fail(f"invalid output name {name!r}, expected {expected}")
            if name in self.known:
                self.fail(f"duplicate output name {name}")
            serial = new_serial()
            self.known[name] = _HANDLES[name[0]](serial, -1, serial)
            handles.append(self.known[name])
        return tuple(handles)


def _is_list(value: Any, length: int | None = None) -> bool:
    return is_list(value) and (length is None or len(value) == length)


def _gives_list(primitive: Primitive) -> bool:
    return get_origin(primitive.returns) in (list, tuple)


def _results(primitive: Primitive) -> tuple[str, int | None]:
    """The letters of the result types of a primitive, and the number of results (None: any)."""
    returns = primitive.returns
    if returns is inspect.Parameter.empty:
        return "blv", None
    inner = [p for a in get_args(returns) for p in types.alternatives(a)] if _gives_list(primitive) else []
    parts = inner or list(types.alternatives(returns))
    classes = {h for p in parts for h in types.handle_types(p)}
    if primitive.samples and int in parts:
        classes.add(ExprHandle)
    letters = "".join(sorted(h.letter for h in classes)) + (_INFERRED if inner and type(None) in parts else "")
    return letters, None if inner else int(bool(letters))
