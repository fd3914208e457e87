"""Samplers of optuna, by name."""

from __future__ import annotations

import importlib.util
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError, short_repr

if TYPE_CHECKING:
    from types import ModuleType

    from optuna.samplers import BaseSampler

STARTUP = 8
"""Candidates before a sampler trusts what it has seen; the library's choice and neighbors are among them."""
_SAMPLERS: dict[str, tuple[str, dict[str, object]]] = {
    "tpe": ("TPESampler", {"n_startup_trials": STARTUP, "multivariate": True, "group": True, "constant_liar": True}),
    "random": ("RandomSampler", {}),
    "gp": ("GPSampler", {"n_startup_trials": STARTUP, "warn_independent_sampling": False}),
    "cmaes": ("CmaEsSampler", {"n_startup_trials": STARTUP, "warn_independent_sampling": False}),
    "qmc": ("QMCSampler", {"warn_independent_sampling": False, "warn_asynchronous_seeding": False}),
    "nsga2": ("NSGAIISampler", {"population_size": STARTUP}),
}
_NEEDS = {"gp": ("torch", "scipy"), "cmaes": ("cmaes",), "qmc": ("scipy",)}


def sampler_of(sampler: str | BaseSampler, seed: int | None) -> BaseSampler:
    """A sampler by its name, or the user's own. Raises TuneError: an unknown name, a package that it needs."""
    optuna = load_optuna()
    if not isinstance(sampler, str) and isinstance(sampler, optuna.samplers.BaseSampler):
        return sampler
    if not isinstance(sampler, str) or sampler not in _SAMPLERS:
        names = ", ".join(map(repr, _SAMPLERS))
        raise TuneError(f"unknown sampler {short_repr(sampler)}; fix: one of {names}, or a sampler of optuna")
    missing = [name for name in _NEEDS.get(sampler, ()) if importlib.util.find_spec(name) is None]
    if missing:
        needs, packages = " and ".join(missing), " ".join(missing)
        raise TuneError(f'the sampler "{sampler}" needs {needs}; fix: pip install {packages}, or sampler="tpe"')
    kind, options = _SAMPLERS[sampler]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        return getattr(optuna.samplers, kind)(seed=seed, **options)


def load_optuna() -> ModuleType:
    """The package optuna. Raises TuneError if it is not installed."""
    try:
        import optuna
    except ImportError:
        raise TuneError('a search needs optuna; fix: pip install "tir-mlir[tune]"') from None
    return optuna


@contextmanager
def quiet() -> Iterator[None]:
    """Without the messages of optuna: the search has its own."""
    optuna = load_optuna()
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(verbosity)
