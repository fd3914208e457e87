"""swizzle: the same results without bank conflicts."""

import numpy as np
import pytest
from programs.transposes import tiled

from tir_mlir import build, interpret
from tir_mlir.errors import LoweringError
from tir_mlir.passes.lower.gpu.swizzles import AddressXor
from tir_mlir.passes.lower.registry import LoweringWarning


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("tile", [(32, 32), (16, 32), (32, 16)])
@pytest.mark.parametrize("vector", [1, 2, 4])
def test_a_transpose_has_no_conflicts(dtype, tile, vector):
    plain, sch = tiled(tile, dtype, vector), tiled(tile, dtype, vector)
    sch.swizzle("A_shared", 0)
    lib = build(sch, target="sm_80")
    assert build(plain, target="sm_80").report().bank_conflicts > 0 == lib.report().bank_conflicts
    a, b = np.random.default_rng(0).random((128, 128)).astype(dtype), np.zeros((128, 128), dtype)
    interpret(sch, a, b, target="sm_80")
    np.testing.assert_array_equal(b, a.T)
    assert sch.verify()


@pytest.mark.parametrize("size", [(1, 127), (15, 17)])
def test_tiles_of_a_ragged_matrix(size):
    sch = tiled((32, 32), size=size)
    sch.swizzle("A_shared", 0)
    a = np.random.default_rng(0).random(size, np.float32)
    b = np.zeros(size[::-1], np.float32)
    interpret(sch, a, b, target="sm_80")
    np.testing.assert_array_equal(b, a.T)


@pytest.mark.parametrize("field", [AddressXor(0, 5, 5), AddressXor(1, 3, 1), AddressXor(2, 4, 2), AddressXor(0, 1, 9)])
def test_a_field_permutes_each_aligned_range(field):
    addresses = np.arange(4096)
    permuted = field.permute(addresses)
    assert (np.sort(permuted) == addresses).all()
    width = 1 << (field.low + field.width)
    assert (permuted // width == addresses // width).all()


def test_no_conflicts_nothing_to_do():
    sch = tiled((1, 32))
    sch.swizzle("A_shared", 0)
    with pytest.warns(LoweringWarning, match='buffer "A_shared" has no bank conflicts: swizzle has no effect on it'):
        build(sch, target="sm_80", cache=False)


def test_padded_rows_have_no_permutation():
    sch = tiled((32, 32))
    sch.swizzle("A_shared", 0)
    sch.annotate("A_shared", "buffer_dim_align", [[0, 0, 32, 1]])
    with pytest.raises(
        LoweringError, match=r'buffer "A_shared" has padded rows and permuted .* unannotate "buffer_dim'
    ):
        build(sch, target="sm_80")


def test_other_back_ends():
    sch = tiled((32, 32))
    sch.swizzle("A_shared", 0)
    assert " ^ " in build(sch, target="sm_80").source
    with pytest.warns(LoweringWarning, match='"swizzle" has no effect'):
        build(sch, target="llvm", cache=False)
