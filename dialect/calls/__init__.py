"""Calls between the programs of a module, and typed views of arenas: what they access, what sizes they bind, and the
symbols of compiled code.

    func.call @dense(%x, %w, %v) : (...)                    destination passing: results go to buffers
    %v = memref.view %arena[%c64][] : memref<4096xi8> to memref<1x128xf32>

Imports only `diagnostics` and `ir`; `analysis` and `verify` build on it.
"""

from __future__ import annotations

from tir_mlir.dialect.calls.arena_views import ArenaView, is_arena_view, view_bytes
from tir_mlir.dialect.calls.callee import CALL, callee_of, caller_of, calls_in, is_program_call
from tir_mlir.dialect.calls.effects import Effect, effects_of
from tir_mlir.dialect.calls.size_binding import bound_sizes, passed_dims
from tir_mlir.dialect.calls.symbols import C_INTERFACE, body_symbol, function_name

__all__ = [
    "CALL",
    "C_INTERFACE",
    "ArenaView",
    "Effect",
    "body_symbol",
    "bound_sizes",
    "callee_of",
    "caller_of",
    "calls_in",
    "effects_of",
    "function_name",
    "is_arena_view",
    "is_program_call",
    "passed_dims",
    "view_bytes",
]
