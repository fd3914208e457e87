"""What a graph knows of an operator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Operator:
    """An operator: `te(*tensors, **attrs)` is its result, a tensor or several.

    name: as in relax, without `relax.`; attrs: attributes with their defaults (`REQUIRED` for those without);
    linalg: the named linalg op ("linalg.add") that computes the same where operand and result types are equal, or None.
    """

    name: str
    te: Callable[..., Any]
    attrs: Mapping[str, Any]
    linalg: str | None = None


class _Required:
    """The mark of an attribute without a default."""

    def __repr__(self) -> str:
        return "REQUIRED"


REQUIRED = _Required()
