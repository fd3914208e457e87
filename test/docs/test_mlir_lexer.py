"""The highlighting of MLIR on the site knows all that our programs print."""

from __future__ import annotations

import pytest
from pygments.token import Keyword, Name, Number, String

from docsite.mlir_lexer import MlirLexer
from tir_mlir.examples import matmul


def tokens(text: str) -> list[tuple[object, str]]:
    return [(kind, piece) for kind, piece in MlirLexer().get_tokens(text) if piece.strip()]


@pytest.mark.parametrize(
    ("piece", "kind"),
    [
        ("affine.for", Keyword),
        ("%arg0", Name.Variable),
        ("@main", Name.Function),
        ("#map", Name.Decorator),
        ("memref", Keyword.Type),
        ("f32", Keyword.Type),
        ("128", Number.Integer),
        ('"block"', String),
    ],
)
def test_kinds(piece, kind):
    line = 'func.func @main(%arg0: memref<?x128xf32>) { affine.for %i = 0 to 8 {} {tir.block = "block", m = #map} }'
    assert (kind, piece) in tokens(line)


def test_a_scheduled_program_has_no_unknown_text():
    text = matmul.schedule_matmul(64, 64, 64).mod.text()
    assert "".join(piece for _, piece in MlirLexer().get_tokens(text)) == text.strip("\n") + "\n"
    assert {"affine.parallel", "func.call", "memref.alloc"} <= {p for kind, p in tokens(text) if kind is Keyword}
