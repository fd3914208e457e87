"""A buffer that is plainly used whole is kept without a question to isl; any other is asked about."""

from __future__ import annotations

import pytest

from tir_mlir.dialect.ir import enter_context, walk
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.memory.compact import compact, is_used_whole
from tir_mlir.passes.lower.registry import programs

WHOLE = "affine.for %i = 0 to 8 { affine.for %j = 0 to 4 { affine.store %x, %t[%i, %j] : memref<8x4xf32> } }"
NESTS = {
    "each dimension by a loop": (WHOLE, True),
    "in parts, one of which is whole": (
        f"{WHOLE} affine.for %k = 0 to 2 {{ affine.store %x, %t[%k, 0] : memref<8x4xf32> }}", True
    ),
    "dimensions by different accesses": (
        "affine.for %k = 0 to 8 { affine.store %x, %t[%k, 0] : memref<8x4xf32> }"
        "affine.for %k = 0 to 4 { affine.store %x, %t[0, %k] : memref<8x4xf32> }", True
    ),
    "fewer rows": (WHOLE.replace("0 to 8", "0 to 7"), False),
    "from another row on": (WHOLE.replace("0 to 8", "1 to 8"), False),
    "shifted": (WHOLE.replace("%t[%i, %j]", "%t[%i - 0, 3 - %j]"), False),
    "under a condition": (
        "affine.for %i = 0 to 8 { affine.for %j = 0 to 4 { affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i) {"
        " affine.store %x, %t[%i, %j] : memref<8x4xf32> } } }", False
    ),
    "in a loop that may not run": (f"affine.for %k = 0 to 0 {{ {WHOLE} }}", False),
    "under a common loop": (f"affine.for %k = 0 to 3 {{ {WHOLE} }}", False),
    "by one access only": (WHOLE, False),
    "by another op": (f"{WHOLE} memref.copy %t, %t : memref<8x4xf32> to memref<8x4xf32>", False),
    "never": ("", False),
}  # fmt: skip


def program(name: str) -> str:
    """The nests of a name, twice, so that no loop is around all accesses; a nest that is to be alone, once."""
    nests = NESTS[name][0] * (1 if name in ("under a common loop", "by one access only") else 2)
    return f"""
func.func @main(%X: memref<4xf32>) attributes {{tir.id = 0 : i64}} {{
  %x = arith.constant 1.0 : f32
  %t = memref.alloc() {{tir.name = "t"}} : memref<8x4xf32>
  {nests}
  return
}}"""


@pytest.mark.parametrize("name", NESTS)
def test_which_buffers_are_used_whole(name, parse):
    with enter_context():
        module = parse(program(name))
        (func,) = programs(module)
        (value,) = [op.results[0] for op in walk.ops(func.op) if op.name == "memref.alloc"]
        assert is_used_whole(value) == NESTS[name][1]


@pytest.mark.parametrize(("name", "asked"), [("each dimension by a loop", 0), ("fewer rows", 1)])
def test_only_others_are_asked_about(name, asked, parse, monkeypatch):
    found, timed = [], lifetimes.timed_accesses
    monkeypatch.setattr(lifetimes, "timed_accesses", lambda *args: (found.append(1), timed(*args))[1])
    with enter_context():
        module = parse(program(name))
        (func,) = programs(module)
        compact(func)
    assert len(found) == asked
