"""Pass options: `loop=i factors=4,32` to the arguments of a primitive, typed by its signature."""

from __future__ import annotations

import ast
import inspect
import types
import typing
from typing import Any

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import Block, Func, Loop
from tir_mlir.opt.name_lookup import HandleLookup
from tir_mlir.opt.pipeline_text import PassInstance, module_pass, pass_name, primitive_name, suggestion
from tir_mlir.passes.schedule import PRIMITIVES, Primitive

HANDLES = (Loop, Block, Func)
_ALIASES = ("loops", "loop", "block", "key", "value", "buffer", "scope", "intrin")

_ALIAS_SUFFIXES = {
    "key": "ann_key",
    "value": "ann_val",
    "buffer": "buffer_index",
    "scope": "storage_scope",
    "intrin": "tensor_intrin",
}
_WORDS = {bool: "true or false", int: "an integer", types.NoneType: "none"}


def split_pairs(text: str) -> list[tuple[str, str]]:
    """`a=1 b="x y" c=[1,2]` -> [("a", "1"), ("b", '"x y"'), ("c", "[1,2]")]. Raises TirError."""
    options: list[tuple[str, str]] = []
    for token in _tokens(text):
        key, equals, value = token.partition("=")
        if not equals or not key:
            raise TirError(f'option "{token}" is not of the form name=value')
        options.append((key, value))
    return options


def _tokens(text: str) -> list[str]:
    """Split at separators outside quotes and brackets."""
    return _cut(text, lambda char: char.isspace())


def split_list(text: str) -> list[str]:
    """`4,32` or `[4, 32]` -> ["4", "32"]."""
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        text = text[1:-1]
    return [part.strip() for part in _cut(text, lambda char: char == ",")]


def _cut(text: str, ends: Any) -> list[str]:
    parts, current, depth, quote = [], "", 0, ""
    for char in text:
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif depth == 0 and ends(char):
            parts.append(current)
            current = ""
            continue
        current += char
    return [part for part in [*parts, current] if part.strip()]


class PassArguments:
    """The arguments of one step, taken from its options."""

    def __init__(self, primitive: Primitive, options: str):
        self.primitive = primitive
        self.parameters = _parameters(primitive)
        self.function: str | None = None
        self.given: dict[str, tuple[str, str]] = {}  # parameter -> (spelling of the user, text)
        for key, value in split_pairs(options):
            if key == "func" and "func" not in self.parameters:
                self.function = _strip_quotes(value)
                continue
            name = self._parameter(key)
            if name in self.given:
                raise TirError(f"duplicate option {key}")
            self.given[name] = (key, value)
        for name, parameter in self.parameters.items():
            if parameter.default is inspect.Parameter.empty and name not in self.given:
                text = f"option {_option_name(self.parameters, name)} is missing; {_usage(self.primitive)}"
                raise TirError(f"{text}{self._commas(name)}")

    def call_arguments(self, names: HandleLookup) -> tuple[list[Any], dict[str, Any]]:
        """Positional and keyword arguments, with names resolved. Raises NotFound, TirError."""
        positional: list[Any] = []
        keywords: dict[str, Any] = {}
        for name, (key, text) in self.given.items():
            parameter = self.parameters[name]
            try:
                if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                    positional = [_convert_option(part, parameter.annotation, names) for part in split_list(text)]
                else:
                    keywords[name] = _convert_option(text, parameter.annotation, names)
            except InvalidOption as error:
                raise TirError(f"option {key}={text}: {error}") from None
        return positional, keywords

    def _commas(self, name: str) -> str:
        """The hint for `loop=i,factors=4`, where the missing option is in the value of another one."""
        return (
            "; options are separated by spaces" if any(f",{name}=" in text for _, text in self.given.values()) else ""
        )

    def _parameter(self, key: str) -> str:
        name = key if key in self.parameters else _resolve_alias(self.parameters, key)
        if name is None:
            names = [_option_name(self.parameters, n) for n in self.parameters]
            raise TirError(f'unknown option "{key}"{suggestion(key, names)}; {_usage(self.primitive)}')
        return name


def summary(primitive: Primitive) -> list[str]:
    """The options of a primitive, those with a default in brackets."""
    parameters = _parameters(primitive)
    texts = {n: _option_name(parameters, n) for n in parameters}
    required = {n for n, p in parameters.items() if p.default is inspect.Parameter.empty}
    return [text if n in required else f"[{text}]" for n, text in texts.items()]


def _usage(primitive: Primitive) -> str:
    return f"{pass_name(primitive.name)} takes {', '.join([*summary(primitive), '[func]'])}"


def _parameters(primitive: Primitive) -> dict[str, inspect.Parameter]:
    return {n: p for n, p in primitive.signature.parameters.items() if p.annotation is not Func}


def _option_name(parameters: dict[str, inspect.Parameter], name: str) -> str:
    """The option of a parameter: its alias if unambiguous."""
    if name in _ALIASES or {Loop, Block} <= set(_alternatives(parameters[name].annotation)):
        return name
    return next((a for a in _ALIASES if a not in parameters and _resolve_alias(parameters, a) == name), name)


def _resolve_alias(parameters: dict[str, inspect.Parameter], key: str) -> str | None:
    """`loop` for the one parameter that takes a loop, `key` for `ann_key`, ..."""
    if key in ("loop", "block"):
        view_type = Loop if key == "loop" else Block
        return next((n for n, p in parameters.items() if view_type in _alternatives(p.annotation)), None)
    if key == "loops":
        return next((n for n, p in parameters.items() if p.kind is inspect.Parameter.VAR_POSITIONAL), None)
    return next((n for n in parameters if key in _ALIAS_SUFFIXES and n.endswith(_ALIAS_SUFFIXES[key])), None)


class InvalidOption(TirError):
    """A value of the wrong type for its option."""


def check(step: PassInstance) -> None:
    """Raise PipelineError for unknown or missing options of a pass of this package."""
    try:
        if step.kind == "primitive":
            parse_arguments(primitive_name(step.name), step.options)
        elif (pass_ := module_pass(step.name)) is not None:
            names = [n for n in inspect.signature(pass_.run).parameters][1:]
            for key, _ in split_pairs(step.options):
                if key not in names:
                    raise TirError(f'unknown option "{key}"; it takes {", ".join(names) or "none"}')
    except TirError as error:
        raise step.error(f"{step.name}: {error}") from None


def parse_arguments(name: str, options: str) -> PassArguments:
    """The arguments of a step. Raises TirError for unknown, doubled or missing options."""
    return PassArguments(PRIMITIVES[name], options)


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    if isinstance(annotation, types.UnionType) or typing.get_origin(annotation) is typing.Union:
        return tuple(a for part in typing.get_args(annotation) for a in _alternatives(part))
    return (annotation,)


def _convert_option(text: str, annotation: Any, names: HandleLookup) -> Any:
    """Convert the text of an option."""
    kinds = _alternatives(annotation)
    if types.NoneType in kinds and text.lower() == "none":
        return None
    handles = [k for k in kinds if k in HANDLES]
    several = len(split_list(text)) > 1 and any(typing.get_origin(k) is list for k in kinds)
    if handles and not several:
        return names.find(_strip_quotes(text), handles)
    if int in kinds and not several and not text.startswith("["):
        return plain(text, kinds)
    for kind in kinds:
        if typing.get_origin(kind) in (list, typing.get_origin(typing.Sequence[int])):
            return [_convert_option(part, typing.get_args(kind)[0], names) for part in split_list(text)]
    return plain(text, kinds)


def plain(text: str, kinds: tuple[Any, ...]) -> Any:
    """A bool, int, string or literal. Raises Mistyped."""
    if bool in kinds and text.lower() in ("true", "false", "0", "1"):
        return text.lower() in ("true", "1")
    if int in kinds:
        try:
            return int(text)
        except ValueError:
            pass
    if str in kinds:
        return _strip_quotes(text)
    words = [w for kind in kinds if typing.get_origin(kind) is typing.Literal for w in typing.get_args(kind)]
    if _strip_quotes(text) in words:
        return _strip_quotes(text)
    if words:
        raise InvalidOption(f"expected {' or '.join(words)}")
    for kind in kinds:
        if hasattr(kind, "from_text") and (Any not in kinds or _strip_quotes(text).startswith("lambda")):
            return kind.from_text(_strip_quotes(text))
    if any(k in (Any, inspect.Parameter.empty) for k in kinds):
        return _literal(text)
    raise InvalidOption(f"expected {' or '.join(_WORDS.get(k, str(k)) for k in kinds)}")


def _literal(text: str) -> Any:
    """A number, true, false, a quoted string, a list or dictionary; anything else is a string."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def _strip_quotes(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "'\"" else text
