"""Numbers that forward reads from tensors without inputs: of buffers, of literals, of masks that it makes."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_leaves, tree_map

from tir_mlir.dialect.diagnostics import GraphError

Arguments: TypeAlias = tuple[object, ...]
Keywords: TypeAlias = dict[str, object]
_LARGEST = 1 << 20
"""The most elements of a tensor whose values are followed."""
_READS = frozenset("item tolist __bool__ __int__ __float__ __index__ __complex__ equal is_nonzero allclose".split())
"""Functions that make Python values of the elements of tensors."""
_DRAWS = ("rand", "normal", "bernoulli", "multinomial", "poisson", "dropout", "uniform", "exponential_", "cauchy")
"""Parts of names of functions that draw random numbers."""
_JOINS = ("stack", "cat", "block_diag", "meshgrid", "broadcast_tensors", "cartesian_prod", "einsum")
"""Parts of names of functions of sequences of tensors."""
_ERRORS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
"""What functions of torch raise on arguments that do not fit: forward meets the same on its own tensors."""


@contextlib.contextmanager
def constant_numbers(model: torch.nn.Module) -> Iterator[None]:
    """While a model is exported: what it reads of tensors that no input decides on are numbers, those of now.

    Raises GraphError where forward writes to a buffer of which it read a number: that is another one in the next call.
    """
    mode = _ConstantTracker(model)
    hook = model.register_forward_pre_hook(mode.begin)
    try:
        with mode:
            yield
    finally:
        hook.remove()


class _ConstantTracker(TorchFunctionMode):
    """Computes what depends on no input a second time, with values."""

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self._stored = {
            name: tensor.detach()
            for name, tensor in (*model.named_parameters(), *model.named_buffers())
            if tensor.numel() <= _LARGEST
        }
        self._owned = {_memory(tensor): name for name, tensor in self._stored.items()}
        self._values: dict[int, torch.Tensor] = {}  # by the ids of the tensors that forward has
        self._sources: dict[int, frozenset[str]] = {}  # the buffers and parameters that a value depends on, by its id
        self._kept: list[torch.Tensor] = []  # an id belongs to its tensor as long as that lives
        self._written: set[int] = set()  # memory that inputs were written to
        self._read: set[str] = set()

    def begin(self, module: torch.nn.Module, _: object) -> None:
        """What forward sees of parameters and buffers: torch has replaced them by other tensors."""
        named = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        for name, tensor in named.items():
            if name in self._stored:
                self._follow(tensor, self._stored[name], frozenset([name]))

    def __torch_function__(
        self, func: Callable[..., object], types: Sequence[type], args: Arguments = (), kwargs: Keywords | None = None
    ) -> object:
        with torch._C.DisableTorchFunction():  # the questions asked here are none of forward's
            args, kwargs, result, sources = self._follow_call(func, args, kwargs or {})
        if result is not None and getattr(func, "__name__", "") in _READS:
            return result
        returned = func(*args, **kwargs)
        with torch._C.DisableTorchFunction():
            self._follow_all(returned, result, sources)
        return returned

    def _follow_call(
        self, func: Callable[..., object], args: Arguments, kwargs: Keywords
    ) -> tuple[Arguments, Keywords, object, frozenset[str]]:
        """The arguments with numbers, the result on values, None where there is none, and what that depends on."""
        name = getattr(func, "__name__", "")
        args, kwargs = self._replace_by_numbers(name, args, kwargs)
        operands = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        values = [self._value(operand) for operand in operands]
        writes = (name.endswith("_") and not name.endswith("__")) or name == "__setitem__" or "out" in kwargs
        known = all(value is not None for value in values) and not any(word in name for word in _DRAWS)
        sources = frozenset().union(*(self._sources.get(id(value), frozenset()) for value in values))
        owned = any(value is not None and _memory(value) in self._owned for value in values[:1])
        if writes and (owned or not known):
            self._forget(operands)
            known = False
        result = self._evaluate_call(func, args, kwargs) if known else None
        if name in _READS and result is not None and values:
            self._read |= sources
        return args, kwargs, result, sources

    def _replace_by_numbers(self, name: str, args: Arguments, kwargs: Keywords) -> tuple[Arguments, Keywords]:
        """Arguments with numbers where torch wants them, for tensors of one integer that no input decides on."""

        def numbers(arg: object, is_size: bool) -> object:
            if isinstance(arg, (tuple, list)):
                return type(arg)(numbers(each, True) for each in arg) if type(arg) in (tuple, list) else arg
            value = self._value(arg) if is_size and isinstance(arg, torch.Tensor) else None
            if value is None or value.dim() or value.is_floating_point() or value.dtype == torch.bool:
                return arg
            self._read |= self._sources.get(id(value), frozenset())
            return int(value)

        if any(word in name for word in _JOINS):
            return args, kwargs
        taken = tuple(numbers(arg, _takes_number(name, position)) for position, arg in enumerate(args))
        return taken, {key: numbers(arg, _takes_number(name, key)) for key, arg in kwargs.items()}

    def _follow_all(self, returned: object, result: object, sources: frozenset[str]) -> None:
        """Know the values of the tensors that a function returns."""
        if isinstance(result, (torch.Tensor, tuple, list)):
            for tensor, value in zip(tree_leaves(returned), tree_leaves(result), strict=False):
                if isinstance(tensor, torch.Tensor) and isinstance(value, torch.Tensor):
                    self._follow(tensor, value, sources)

    def _follow(self, tensor: torch.Tensor, value: torch.Tensor, sources: frozenset[str]) -> None:
        if value.numel() <= _LARGEST:
            self._kept += [tensor, value]
            self._values[id(tensor)] = value
            self._sources[id(value)] = sources | self._sources.get(id(value), frozenset())

    def _value(self, tensor: torch.Tensor) -> torch.Tensor | None:
        """The values of a tensor that no input decides on."""
        value = self._values.get(id(tensor))
        return None if value is None or _memory(value) in self._written else value

    def _evaluate_call(self, func: Callable[..., object], args: Arguments, kwargs: Keywords) -> object:
        """The result of a call on known values; None if it cannot be computed."""
        if any(isinstance(leaf, (torch.SymInt, torch.SymBool, torch.SymFloat)) for leaf in tree_leaves((args, kwargs))):
            return None

        def value_of_leaf(leaf: object) -> object:
            return self._value(leaf) if isinstance(leaf, torch.Tensor) else leaf

        try:
            with _disable_current_modes(), torch._C.DisableTorchFunction(), torch.no_grad():
                return func(*tree_map(value_of_leaf, args), **tree_map(value_of_leaf, kwargs))
        except _ERRORS:
            return None

    def _forget(self, operands: list[torch.Tensor]) -> None:
        """The values in the memory of a first operand, which inputs are written to. Raises GraphError."""
        value = self._values.get(id(operands[0])) if operands else None
        if value is None:
            return
        self._written.add(_memory(value))
        name = self._owned.get(_memory(value))
        if name is not None and name in self._read:
            raise GraphError(
                f"from_torch: forward reads a number from {name}, and writes to it\n"
                "  fix: keep the number as a Python attribute of the module"
            )


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage()._cdata


@functools.cache
def _takes_number(function: str, position: int | str) -> bool:
    """Whether torch's function of this name takes a Python number as its argument at a position, or of a name: a size,
    an axis, or a bound where it makes a tensor, as arange does. Not an operand that may be a number, as of add."""
    return any(_is_number(schema, position) for schema in _schemas(function))


def _is_number(schema: torch._C.FunctionSchema, position: int | str) -> bool:
    arguments, positional = schema.arguments, [each for each in schema.arguments if not each.kwarg_only]
    one_by_one = isinstance(position, int) and position >= len(positional)  # view(2, 3), for view((2, 3))
    if isinstance(position, int):
        taken = positional[-1:] if one_by_one else positional[position : position + 1]
    else:
        taken = [each for each in arguments if each.name == position]
    makes = any(each.name == "pin_memory" for each in arguments)
    words = ("List[int]",) if one_by_one else ("int", "number") if makes else ("int",)
    return any(word in str(each.type) for each in taken for word in words)


def _schemas(function: str) -> list[torch._C.FunctionSchema]:
    """The schemas of the operators of torch of this name; TorchScript has others for its lists and numbers."""
    schemas = torch._C._jit_get_schemas_for_operator(f"aten::{function}")
    return [s for s in schemas if torch._C._dispatch_has_kernel(".".join(filter(None, (s.name, s.overload_name))))]
