"""The lowering modules that the equivalence check runs itself, and in which it therefore cannot find bugs."""

from __future__ import annotations

from types import ModuleType

from tir_mlir.passes.lower import registry, retype_module
from tir_mlir.passes.lower.blocks import scopes
from tir_mlir.passes.lower.llvm import abi
from tir_mlir.passes.lower.memory import allocs, bools

TRUSTED_PASSES: dict[ModuleType, str] = {
    scopes: "erases storage scopes and tir.* attributes; no access is changed",
    abi: "adds entry points and attributes of arguments; no function body is changed",
    allocs: "places allocations on the stack or the heap, after the check has filled them with poison",
    bools: "stores i1 as i8, the layout that the arguments have",
    retype_module: "changes the types of memory, by the type map of the caller",
    registry: "the predicate `is_private`; rewrites nothing",
}
"""Module -> why the check may share it with the code that it checks.

Everything else that gives a program its meaning (blocks, inits, views, kernels, loops) is rewritten by the check's own
code, so that a bug of a lowering pass shows as a difference. Its test,
test/tir_mlir/equivalence/test_trusted_passes.py, keeps the list exact.
"""
