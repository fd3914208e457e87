"""Functions of Python that document records: what `help` and the pages show of `T.exp`, `te.exp` and `topi.exp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, Signature
from typing import Any


def declare(module: str, name: str, params: Sequence[str], doc: str, result: Any = Any) -> Callable[..., Any]:
    """A function with a name, parameters and a docstring, whose body its decorator supplies."""

    def signature(*args: Any, **keywords: Any) -> Any:
        raise NotImplementedError

    signature.__module__, signature.__name__, signature.__qualname__, signature.__doc__ = module, name, name, doc
    operands = [Parameter(p, Parameter.POSITIONAL_OR_KEYWORD, annotation=Any) for p in params]
    vars(signature)["__signature__"] = Signature(operands, return_annotation=result)
    return signature
