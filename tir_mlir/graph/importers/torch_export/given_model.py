"""What a user passes as a model, as a module without caches among its results."""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import warnings
from collections.abc import Callable, Collection, Iterator
from typing import TypeAlias

import torch
from torch.nn.modules.batchnorm import _NormBase
from torch.nn.modules.dropout import _DropoutNd

from tir_mlir.dialect.diagnostics import GraphError, short_repr

TorchModel: TypeAlias = "torch.nn.Module | torch.export.ExportedProgram | Callable[..., object]"
"""What is imported: a module, an exported program, or what can be called with tensors."""


def as_module(
    model: TorchModel, positional: int = 0, names: Collection[str] = ()
) -> torch.nn.Module | torch.export.ExportedProgram:
    """A module as it is, without `torch.compile`; a function of tensors, a method of a module or another object that
    can be called, as a module; an ExportedProgram. positional, names: the number of arguments by position, and the
    names of others, of a function that does not tell its own, as those of torch in C. Raises GraphError for others."""
    if isinstance(model, torch.export.ExportedProgram):
        return model
    if isinstance(model, (torch.jit.ScriptModule, torch.jit.ScriptFunction)):
        raise GraphError(
            "from_torch: a program of TorchScript\n  fix: pass the module or the function that it was made of"
        )
    if isinstance(model, torch.nn.Module):
        module = getattr(model, "_orig_mod", model) if type(model).__name__ == "OptimizedModule" else model
        _check_values(module)
        return module
    if isinstance(model, type):
        raise GraphError(f"from_torch: {model.__name__} is a class\n  fix: pass {model.__name__}(...)")
    if not callable(model):
        raise GraphError(
            f"from_torch: {short_repr(model)} is not a model\n"
            "  fix: pass a torch.nn.Module and example inputs, or an ExportedProgram"
        )
    return _module_of_function(model, positional, names)


def number_of_operators(model: torch.nn.Module | torch.export.ExportedProgram) -> int:
    """About how many operators a model has."""
    parts = model.graph.nodes if isinstance(model, torch.export.ExportedProgram) else model.modules()
    return sum(1 for _ in parts)


def warn_of_training(model: torch.nn.Module | torch.export.ExportedProgram) -> None:
    """Warn if a module is in training mode and has layers that compute something else then."""
    if not isinstance(model, torch.nn.Module):
        return
    for name, module in model.named_modules():
        drops = isinstance(module, _DropoutNd) and module.p > 0
        if module.training and (drops or isinstance(module, _NormBase)):
            warnings.warn(
                f"from_torch: the model is in training mode, and is imported as for inference: {name or 'it'} "
                f"({type(module).__name__}) computes something else in training; fix: model.eval()",
                stacklevel=3,
            )
            return


def _module_of_function(function: Callable[..., object], positional: int, names: Collection[str]) -> torch.nn.Module:
    """forward of the module is the function; the weights of a method are those of its module, under the same names."""

    class FunctionModule(torch.nn.Module):
        forward = staticmethod(_with_arguments(function, positional, names))

    module, owner = FunctionModule().eval(), _owner(function)
    if isinstance(owner, torch.nn.Module):
        module._parameters, module._buffers, module._modules = owner._parameters, owner._buffers, owner._modules
        module._non_persistent_buffers_set, module.training = owner._non_persistent_buffers_set, owner.training
        _check_values(module)
    return module


def _owner(function: Callable[..., object]) -> object:
    """The module whose method is called, also with some arguments given (functools.partial)."""
    while isinstance(function, functools.partial):
        function = function.func
    return function.__self__ if isinstance(function, types.MethodType) else function


def _with_arguments(function: Callable[..., object], positional: int, names: Collection[str]) -> Callable[..., object]:
    """A function or a method of Python, which tells its arguments, as it is; for what else can be called a function of
    the same arguments, or of so many and of these names."""
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return function

    def forward(*args: object, **kwargs: object) -> object:
        return function(*args, **kwargs)

    try:
        signature = inspect.signature(function)
    except ValueError:  # it is of C
        kind = inspect.Parameter
        unnamed = [kind(f"input_{number}", kind.POSITIONAL_ONLY) for number in range(positional)]
        signature = inspect.Signature([*unnamed, *(kind(name, kind.KEYWORD_ONLY) for name in names)])
    forward.__signature__ = signature  # type: ignore[attr-defined]
    return forward


def _check_values(model: torch.nn.Module) -> None:
    bare = [name for name, tensor in (*model.named_parameters(), *model.named_buffers()) if tensor.is_meta]
    if bare:
        others = f" and {len(bare) - 1} more" if len(bare) > 1 else ""
        raise GraphError(
            f"from_torch: {bare[0]}{others} of the model have no values: they are on the device meta\n"
            "  fix: model.load_state_dict(weights, assign=True)"
        )


@contextlib.contextmanager
def drop_caches(model: torch.nn.Module | torch.export.ExportedProgram) -> Iterator[None]:
    """A module whose results have None instead of caches (`past_key_values`), which is warned of once.

    Those that have entries by name lose the entry, as they do where a model makes no cache.
    """
    classes: set[str] = set()

    def replace_result(_: torch.nn.Module, __: tuple[object, ...], result: object) -> object:
        return _replace_caches(result, classes)

    hook = model.register_forward_hook(replace_result) if isinstance(model, torch.nn.Module) else None
    try:
        yield
    finally:
        if hook is not None:
            hook.remove()
    for name in sorted(classes):
        warnings.warn(
            f"from_torch: the model returns a {name}, which is left out: a graph has no state; "
            "fix: use_cache=False says so",
            stacklevel=4,
        )


def _replace_caches(value: object, classes: set[str]) -> object:
    """A result with None for each cache; their classes are added."""
    if _is_cache(value):
        classes.add(type(value).__name__)
        return None
    if isinstance(value, dict):
        held = {key: _replace_caches(each, classes) for key, each in value.items()}
        if all(held[key] is each for key, each in value.items()):
            return value
        return type(value)(**{key: each for key, each in held.items() if each is not None or value[key] is None})
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        parts = [_replace_caches(each, classes) for each in value]
        unchanged = all(new is old for new, old in zip(parts, value, strict=True))
        return value if unchanged else type(value)(parts)
    return value


def _is_cache(value: object) -> bool:
    """Whether an object is one of the caches of transformers (DynamicCache, EncoderDecoderCache, MambaCache, ..)."""
    names = [(each.__module__.partition(".")[0], each.__name__) for each in type(value).__mro__]
    return any(package == "transformers" and name.endswith("Cache") for package, name in names)
