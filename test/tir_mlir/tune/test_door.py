"""`tir_mlir.tune`: what its door gives, and what it loads."""

import subprocess
import sys

import pytest

from tir_mlir import tune


@pytest.mark.parametrize("name", sorted(tune._DEFINING_MODULES))
def test_every_name_of_the_door_is_there(name):
    assert getattr(tune, name).__name__ == name


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(AttributeError, match=r"no attribute 'tuna'; it has .*TuneError"):
        _ = tune.tuna


def test_the_door_loads_no_optuna():
    code = "import sys, tir_mlir.tune; sys.exit('optuna' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
