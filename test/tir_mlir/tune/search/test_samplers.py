"""Samplers by name."""

import importlib.util

import optuna
import pytest

from tir_mlir.errors import TuneError
from tir_mlir.tune.search.samplers import quiet, sampler_of


@pytest.mark.parametrize(
    ("name", "kind"), [("tpe", "TPESampler"), ("random", "RandomSampler"), ("nsga2", "NSGAIISampler")]
)
def test_samplers_have_names(name, kind):
    assert type(sampler_of(name, 1)).__name__ == kind


def test_a_sampler_of_optuna_is_taken_as_it_is():
    own = optuna.samplers.RandomSampler()
    assert sampler_of(own, None) is own


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(TuneError, match=r"unknown sampler 'tpi'; fix: one of 'tpe', 'random'"):
        sampler_of("tpi", None)


def test_a_package_that_a_sampler_needs_is_named(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(TuneError, match='"gp" needs torch and scipy; fix: pip install torch scipy, or sampler="tpe"'):
        sampler_of("gp", None)


def test_the_verbosity_of_optuna_is_given_back():
    before = optuna.logging.get_verbosity()
    with quiet():
        assert optuna.logging.get_verbosity() == optuna.logging.ERROR
    assert optuna.logging.get_verbosity() == before
