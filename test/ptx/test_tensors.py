"""Tensor copies: tiles of arrays into shared memory and back, their swizzles, what lies outside of the array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx
from tir_mlir.errors import PtxError


def tile_kernel(rank: int, size: int, coordinates: tuple[int, ...], back: bool = False) -> str:
    """Copy a tile of `size` bytes to shared memory; its bytes go to `out`, or by the map `to` to the start of an
    array."""
    at = ", ".join(f"%c{i}" for i in range(rank))
    zeros = ", ".join(["%zero"] * rank)
    moves = "\n".join(f"mov.b32 %c{i}, {c};" for i, c in enumerate(coordinates))
    store = f"""fence.proxy.async.shared::cta;
@%first cp.async.bulk.tensor.{rank}d.global.shared::cta.tile.bulk_group [%to, {{{zeros}}}], [%tile];
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;"""
    copy = """LOOP:
add.s32 %a, %tile, %i;
ld.shared.b32 %v, [%a];
cvt.u64.u32 %p, %i;
add.s64 %p, %out, %p;
st.global.b32 [%p], %v;
add.s32 %i, %i, 128;
setp.lt.u32 %more, %i, SIZE;
@%more bra LOOP;"""
    return f""".version 8.0
.target sm_90a
.address_size 64
.visible .entry tile(.param .align 64 .b8 map[128], .param .align 64 .b8 to[128], .param .u64 out)
{{
.reg .b32 %t, %bar, %tile, %i, %a, %v, %zero, %c<5>;
.reg .b64 %map, %to, %out, %p;
.reg .pred %first, %ready, %more;
.shared .align 1024 .b8 tile_bytes[8192];
.shared .align 8 .b8 bar[8];
mov.b64 %map, map;
cvta.param.u64 %map, %map;
mov.b64 %to, to;
cvta.param.u64 %to, %to;
ld.param.b64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %t, %tid.x;
shl.b32 %i, %t, 2;
mov.b32 %zero, 0;
mov.b32 %bar, bar;
mov.b32 %tile, tile_bytes;
{moves}
setp.eq.s32 %first, %t, 0;
@%first mbarrier.init.shared.b64 [%bar], 1;
bar.sync 0;
@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], {size};
@%first cp.async.bulk.tensor.{rank}d.shared::cluster.global.mbarrier::complete_tx::bytes [%tile], [%map, {{{at}}}],
[%bar]; WAIT:
mbarrier.try_wait.parity.shared.b64 %ready, [%bar], 0;
@!%ready bra WAIT;
{store if back else copy.replace("SIZE", str(size))}
ret;
}}
"""


def run(array, box, swizzle, coordinates, back=None):
    """The bytes of a tile in shared memory, or `back`, an array that it is copied to."""
    tensor = ptx.TensorMap(array, box, swizzle)
    out = np.zeros(tensor.bytes // 4, np.uint32)
    target = ptx.TensorMap(back, box, swizzle) if back is not None else tensor
    text = tile_kernel(array.ndim, tensor.bytes, coordinates, back is not None)
    ptx.launch(text, "tile", (1,), (32,), [tensor, target, out])
    return out.view(np.uint8)


ARRAY = np.arange(40 * 72, dtype=np.float16).reshape(40, 72)


@pytest.mark.parametrize(("swizzle", "columns"), [(0, 64), (32, 16), (64, 32), (128, 64)])
def test_a_tile_lies_where_its_swizzle_says(swizzle, columns):
    """Chunk j of 16 bytes of row r is at chunk j ^ (r % 8) for rows of 128 bytes, j ^ (r // 2 % 4) for 64, j ^ (r //
    4 % 2)."""
    rows = 16
    raw = run(ARRAY, (rows, columns), swizzle, (8, 4)).view(np.float16).reshape(rows, columns // 8, 8)
    tile = ARRAY[4 : 4 + rows, 8 : 8 + columns].reshape(rows, columns // 8, 8)
    for r in range(rows):
        flip = {0: 0, 32: r // 4 % 2, 64: r // 2 % 4, 128: r % 8}[swizzle]
        for j in range(columns // 8):
            np.testing.assert_array_equal(raw[r, j ^ flip], tile[r, j])


@pytest.mark.parametrize("coordinates", [(-8, -2), (64, 35), (104, 100)])
def test_outside_of_the_array_there_are_zeros(coordinates):
    x, y = coordinates
    raw = run(ARRAY, (16, 16), 0, coordinates).view(np.float16).reshape(16, 16)
    expected = np.zeros((16, 16), np.float16)
    for i in range(16):
        for j in range(16):
            if 0 <= y + i < 40 and 0 <= x + j < 72:
                expected[i, j] = ARRAY[y + i, x + j]
    np.testing.assert_array_equal(raw, expected)


@pytest.mark.parametrize(("swizzle", "columns"), [(0, 16), (128, 64)])
def test_rows_that_do_not_start_at_16_bytes_are_refused(swizzle, columns):
    """An illegal instruction on an H200."""
    with pytest.raises(PtxError, match="rows start at element -3 of 2 bytes, which is not a multiple of 16 bytes"):
        run(ARRAY, (16, columns), swizzle, (-3, -2))


def test_three_dimensions_of_f32():
    array = np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8)
    raw = run(array, (2, 3, 8), 0, (0, 2, 1)).view(np.float32).reshape(2, 3, 8)
    np.testing.assert_array_equal(raw, array[1:3, 2:5])


@pytest.mark.parametrize("swizzle", [0, 128])
def test_a_tile_goes_back(swizzle):
    back = np.zeros((20, 64), np.float16)
    run(ARRAY, (16, 64), swizzle, (8, 4), back)
    np.testing.assert_array_equal(back[:16], ARRAY[4:20, 8:72])
    assert not back[16:].any()


def test_ptxas_accepts_the_kernels(tmp_path: Path):
    assert kernels.assemble(tile_kernel(2, 2048, (8, 4)), tmp_path) == ""
    assert kernels.assemble(tile_kernel(3, 192, (0, 2, 1), True), tmp_path) == ""


@pytest.mark.parametrize(
    ("box", "swizzle", "message"),
    [
        ((16, 64), 48, "a swizzle of 0, 32, 64 or 128 bytes, not 48"),
        ((16, 64), 64, "at most the swizzle of 64 bytes"),
        ((512, 8), 0, "at most 256 elements"),
        ((16,), 0, "a box of as many dimensions"),
    ],
)
def test_a_map_that_cannot_be_is_refused(box, swizzle, message):
    with pytest.raises(PtxError, match=message):
        ptx.TensorMap(ARRAY, box, swizzle)


def test_a_copy_of_another_number_of_dimensions_is_refused():
    text = tile_kernel(3, 512, (0, 0, 0))
    with pytest.raises(PtxError, match="the tensor map has 2 dimensions, the copy 3"):
        ptx.launch(text, "tile", (1,), (32,), [ptx.TensorMap(ARRAY, (16, 16))] * 2 + [np.zeros(128, np.uint32)])


def test_an_address_that_is_no_map_is_refused():
    text = tile_kernel(2, 512, (0, 0)).replace(
        "cvta.param.u64 %map, %map;", "cvta.param.u64 %map, %map;\nadd.s64 %map, %map, 8;"
    )
    with pytest.raises(PtxError, match="the arguments have none there"):
        ptx.launch(text, "tile", (1,), (32,), [ptx.TensorMap(ARRAY, (16, 16))] * 2 + [np.zeros(128, np.uint32)])
