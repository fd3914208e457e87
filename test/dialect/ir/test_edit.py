"""Edits of the IR that the Python bindings would not survive."""

import pytest
from programs.inlining import FILLED

from tir_mlir.dialect.ir import Func, edit, entered, funcs
from tir_mlir.script.parser import parse


def test_nothing_is_erased_while_it_is_used():
    """MLIR would end the process; a primitive that tries it is at fault, and says so."""
    with entered():
        module = parse(FILLED).mlir
        body = Func(funcs(module)[0].op).body
        loop = body.operations[1].operation
        inner = loop.regions[0].blocks[0].operations[0]
        inner.move_before(loop)
        with pytest.raises(
            RuntimeError, match="affine.for cannot be erased: affine.parallel still uses one of its values"
        ):
            edit.erase(loop)
        inner.move_before(list(loop.regions[0].blocks[0].operations)[-1])
