"""Calls between the programs of a module, and typed views of arenas: what they access, what sizes they bind, and the
symbols of compiled code; the texts of functions and of their calls.

    func.call @dense(%x, %w, %v) : (...)                    destination passing: results go to buffers
    %v = memref.view %arena[%c64][] : memref<4096xi8> to memref<1x128xf32>

Imports only `diagnostics` and `ir`; `analysis` and `verify` build on it.
"""

from __future__ import annotations

from tir_mlir.dialect.calls.arena_views import ArenaView as ArenaView
from tir_mlir.dialect.calls.arena_views import is_arena_view as is_arena_view
from tir_mlir.dialect.calls.arena_views import view_bytes as view_bytes
from tir_mlir.dialect.calls.callee import C_INTERFACE as C_INTERFACE
from tir_mlir.dialect.calls.callee import CALL as CALL
from tir_mlir.dialect.calls.callee import Effect as Effect
from tir_mlir.dialect.calls.callee import body_symbol as body_symbol
from tir_mlir.dialect.calls.callee import callee_of as callee_of
from tir_mlir.dialect.calls.callee import caller_of as caller_of
from tir_mlir.dialect.calls.callee import calls_in as calls_in
from tir_mlir.dialect.calls.callee import effects_of as effects_of
from tir_mlir.dialect.calls.callee import function_name as function_name
from tir_mlir.dialect.calls.callee import is_program_call as is_program_call
from tir_mlir.dialect.calls.first_fit import first_fit as first_fit
from tir_mlir.dialect.calls.size_binding import bound_sizes as bound_sizes
from tir_mlir.dialect.calls.size_binding import passed_dims as passed_dims
