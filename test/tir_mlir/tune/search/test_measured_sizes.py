"""Sizes of shape variables, which a search measures at: checked before anything is built."""

import pytest
from programs.short import each, program

from tir_mlir import tune
from tir_mlir.errors import TuneError

twice = program("X:nxm Y:nxm", each("Y i:n j:m", "Y[vi, vj] = X[vi, vj] * T.float32(2)"))


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({}, r"measured at sizes, and m, n has none; fix: pass sizes=\{'m': \.\.\., 'n': \.\.\.\}"),
        ({"n": 4}, "measured at sizes, and m has none"),
        ({"n": 4, "m": 4, "q": 4}, "sizes has 'q', which is not a shape variable; the program has m, n"),
        ({"n": 4, "m": 0}, "the size m is a number >= 1, not 0"),
        ({"n": 4, "m": "4"}, "the size m is a number >= 1, not '4'"),
    ],
)
def test_wrong_sizes_are_refused(sizes, said):
    with pytest.raises(TuneError, match=said):
        tune.tune(twice, trials=1, sizes=sizes)
