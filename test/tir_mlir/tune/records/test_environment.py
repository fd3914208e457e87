"""Targets, versions and machines as records name them."""

from dataclasses import replace

import pytest

from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.target import AVX2, NEON_I8MM, ZEN4, Target, host
from tir_mlir.tune.records.environment import machine, same_code, target_key, target_of, versions


def test_a_target_in_words():
    assert target_key(AVX2) == "x86_64 256x16 threads=1 avx avx2 f16c fma"
    assert target_key("neon_i8mm") == target_key(NEON_I8MM) == "aarch64 128x32 threads=1 bf16 dotprod i8mm neon"


def test_features_without_influence_on_code_do_not_count():
    more = replace(AVX2, features=AVX2.features | {"smep", "ibrs", "rdrand"})
    assert target_key(more) == target_key(AVX2)


def test_features_of_code_count():
    assert target_key(replace(AVX2, features=AVX2.features | {"avx512f"})) != target_key(AVX2)


def test_threads_count():
    assert target_key(ZEN4, 4) == target_key(replace(ZEN4, cores=4)) != target_key(ZEN4)
    assert target_of(ZEN4, 4).cores == 4


def test_caches_do_not_count():
    assert target_key(replace(ZEN4, l2=2 << 20)) == target_key(ZEN4)


def test_this_machine_is_the_default():
    assert target_key() == target_key("llvm") == target_key(host())


def test_a_target_without_an_architecture_has_a_key():
    assert target_key(Target(512, 32)) == "any 512x32 threads=1"


@pytest.mark.parametrize("threads", [0, -1, True, "2"])
def test_threads_are_a_number(threads):
    with pytest.raises(TuneError, match="threads is a number >= 1, not"):
        target_key(None, threads)


def test_patch_levels_are_the_same_code():
    assert same_code({"tir_mlir": "0.1.0", "llvm": "22.1.8"}, {"tir_mlir": "0.1.4", "llvm": "22.1.2"})
    assert not same_code({"tir_mlir": "0.1.0", "llvm": "22.1.8"}, {"tir_mlir": "0.2.0", "llvm": "22.1.8"})
    assert not same_code({"tir_mlir": "0.1.0", "llvm": "22.1.8"}, {"tir_mlir": "0.1.0", "llvm": "23.1.0"})
    assert same_code(versions(), versions())


def test_the_versions_are_those_loaded():
    import tir_mlir

    assert versions()["tir_mlir"] == tir_mlir.__version__ and versions()["llvm"].count(".") == 2


def test_a_machine_in_words():
    assert machine().endswith(f", {host().cores} core{'s' * (host().cores != 1)}")
