"""Helpers for parser tests: build programs from snippets and inspect them."""
# ruff: noqa: F821, UP037  the element type of T.Buffer[shape, "float32"] is not a forward reference

from __future__ import annotations

from tir_mlir.dialect.ir import Block, Loop, is_block, is_loop, ops
from tir_mlir.script import IRModule, parse
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

N, SHAPE, DTYPE, FACTORS = 16, (16, 8), "float32", [4, 2]


@I.ir_module
class Matmul:
    @T.prim_func
    def main(
        A: T.Buffer[(1024, 1024), "float32"], B: T.Buffer[(1024, 1024), "float32"], C: T.Buffer((1024, 1024), "float32")
    ) -> None:
        T.func_attr({"global_symbol": "main", "tir.noalias": True})
        for i, j, k in T.grid(1024, 1024, 1024):
            with T.block("matmul"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    C[vi, vj] = T.float32(0)
                C[vi, vj] += A[vi, vk] * B[vj, vk]


def body(text: str, params: str = "A: T.Buffer((16, 8)), B: T.Buffer((16, 8)), I: T.Buffer((16,), 'int32')") -> str:
    """Return the MLIR text of a function whose body is inside one block over (16, 8)."""
    lines = "\n".join("            " + line for line in text.splitlines())
    source = f"""
@T.prim_func
def main({params}):
    for i, j in T.grid(16, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
{lines}
"""
    return round_trip(parse(source, {"N": N, "FACTORS": FACTORS})).text()


def function(text: str, params: str = "A: T.Buffer((16, 8)), B: T.Buffer((16, 8))", **names) -> IRModule:
    lines = "\n".join("    " + line for line in text.strip("\n").splitlines())
    return round_trip(parse(f"@T.prim_func\ndef main({params}):\n{lines}\n", names))


def round_trip(mod: IRModule) -> IRModule:
    """Check that a program prints as text that parses back to the same program."""
    assert difference(mod.mlir, parse(mod.script()).mlir) is None
    return mod


def blocks(mod: IRModule) -> list[Block]:
    return [Block(op) for op in ops(mod.mlir.operation) if is_block(op)]


def loops(mod: IRModule) -> list[Loop]:
    return [Loop(op) for op in ops(mod.mlir.operation) if is_loop(op)]
