"""Functions of Python that document records: what `help` and the pages show of `T.exp`, `te.exp` and `topi.exp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any, NoReturn


def declare(
    module: str, name: str, params: Sequence[str], doc: str, operand: str = "object", result: str = "Any"
) -> Callable[..., Any]:
    """A function with a name, parameters and a docstring, whose body its decorator supplies.

    operand, result: the types in its signature, as text.
    """

    def signature(*args: object, **keywords: object) -> NoReturn:
        raise NotImplementedError

    signature.__module__, signature.__name__, signature.__qualname__, signature.__doc__ = module, name, name, doc
    operands = [Parameter(p, Parameter.POSITIONAL_OR_KEYWORD, annotation=operand) for p in params]
    vars(signature)["__signature__"] = Signature(operands, return_annotation=result)
    return signature
