"""PyTorch models run by us and by torch."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

import tir_mlir


def bits(tensor: Any) -> np.ndarray:
    """The elements of a tensor; bfloat16 as its bits."""
    import torch

    plain = tensor.detach().contiguous()
    return plain.view(torch.uint16).numpy() if plain.dtype == torch.bfloat16 else plain.numpy()


def both(model: Any, *inputs: Any, others: tuple[Any, ...] | None = None, **options: Any) -> list[tuple[Any, Any]]:
    """The results of a module or a function, ours and torch's, in torch's order. others: inputs to run it on, of other
    sizes than those that it is imported with."""
    import torch
    from torch.utils._pytree import tree_leaves

    class Model(torch.nn.Module):
        forward = staticmethod(model)  # type: ignore[assignment]

    module = model if isinstance(model, torch.nn.Module) else Model()
    lib = tir_mlir.build(tir_mlir.from_torch(module, inputs, **options), threads=1)
    given = inputs if others is None else others
    found = lib(*(bits(x) for x in tree_leaves(given) if isinstance(x, torch.Tensor)))
    with torch.no_grad():
        wanted = tree_leaves(module.eval()(*given))
    ours = list(found) if isinstance(found, (tuple, list)) else [found]
    return list(zip(ours, map(bits, wanted), strict=True))


def check(model: Any, *inputs: Any, rtol: float = 1e-5, **options: Any) -> None:
    """Both compute the same: floats up to rtol of the largest, all else exactly."""
    for ours, wanted in both(model, *inputs, **options):
        compare(ours, wanted, rtol)


def compare(ours: np.ndarray, wanted: np.ndarray, rtol: float = 1e-5) -> None:
    """One result of both."""
    assert ours.dtype == wanted.dtype and ours.shape == wanted.shape
    if wanted.dtype.kind != "f":
        np.testing.assert_array_equal(ours, wanted)
    else:
        finite = wanted[np.isfinite(wanted)]
        scale = float(np.abs(finite).max()) if finite.size else 1.0
        np.testing.assert_allclose(ours, wanted, rtol=rtol, atol=rtol * scale)


def _inputs(function: Callable[..., Any]) -> list[str]:
    """The parameters without a default."""
    return [n for n, p in inspect.signature(function).parameters.items() if p.default is p.empty]


class Family:
    """Many small functions of the same inputs, imported and built as one model: a test asks for one by its name."""

    def __init__(self, functions: dict[str, Callable[..., Any]], make: Callable[[], tuple[Any, ...]]):
        self.functions, self.make = functions, make
        self._outcome = functools.cache(self._tried)

    def results(self) -> dict[str, tuple[Any, Any]]:
        """Those of all functions by name. An error is raised in every test, and made once."""
        found, error = self._outcome()
        if error is not None:
            raise error
        return found

    def _tried(self) -> tuple[dict[str, tuple[Any, Any]], Exception | None]:
        try:
            return self._results(), None
        except Exception as error:
            return {}, error

    def _results(self) -> dict[str, tuple[Any, Any]]:
        wanted = [_inputs(f) for f in self.functions.values()]
        given = self.make()
        names = [n for n in dict.fromkeys(name for names in wanted for name in names)]
        assert len(names) <= len(given)
        source = f"def forward({', '.join(names)}): return run({', '.join(names)})"

        def run(*xs: Any) -> list[Any]:
            by_name = dict(zip(names, xs, strict=True))
            pairs = zip(self.functions.values(), wanted, strict=True)
            return [function(*(by_name[n] for n in own)) for function, own in pairs]

        run(*given)  # what the functions keep (weights) is made outside the export
        space: dict[str, Any] = {"run": run}
        exec(source, space)
        return dict(zip(self.functions, both(space["forward"], *given), strict=True))

    def check(self, name: str, rtol: float = 1e-5) -> None:
        """Compare the results of one of them."""
        compare(*self.results()[name], rtol)
