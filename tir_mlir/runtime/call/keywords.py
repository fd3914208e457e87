"""Calls by keyword: arguments in the order of the parameters."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.call.signature import CallSignature


def positional_arguments(signature: CallSignature, args: Sequence[Any], named: Mapping[str, Any]) -> list[Any]:
    """`f(a, C=c, B=b)` -> `[a, b, c]`. Raises ArgumentError for an unknown, repeated or missing name."""
    names = [p.name for p in signature.params]
    for name in named:
        _check_name(signature, names, name, len(args))
    missing = [name for name in names[len(args) :] if name not in named]
    if missing:
        raise ArgumentError(f"{signature.name}: no argument for {', '.join(map(repr, missing))}; it is {signature}")
    return [*args, *(named[name] for name in names[len(args) :])]


def _check_name(signature: CallSignature, names: list[str], name: str, positional: int) -> None:
    if name not in names:
        near = difflib.get_close_matches(name, names, 1) or [n for n in names if n.lower() == name.lower()]
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ArgumentError(f"{signature.name} has no parameter {name!r}{hint}; it is {signature}")
    if names.count(name) > 1:
        raise ArgumentError(
            f"{signature.name}: {names.count(name)} parameters are called {name!r}; pass them by position"
        )
    if names.index(name) < positional:
        raise ArgumentError(
            f"{signature.name}: {name!r} is given twice, as argument {names.index(name)} and by keyword"
        )
