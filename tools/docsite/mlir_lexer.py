"""A Pygments lexer for MLIR."""

from __future__ import annotations

import re

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Text

__all__ = ["MlirLexer"]

_KEYWORDS = ("to", "step", "else", "ins", "outs", "attributes", "private", "iter_args", "loc", "strided", "offset")


class MlirLexer(RegexLexer):
    """Ops, values, symbols, attributes, types, numbers and strings of MLIR's textual form."""

    name = "MLIR"
    aliases = ["mlir"]  # noqa: RUF012  as Pygments declares it
    filenames = ["*.mlir"]  # noqa: RUF012
    flags = re.MULTILINE
    tokens = {  # noqa: RUF012
        "root": [
            (r"//.*$", Comment.Single),
            (r'"(\\.|[^"\\])*"', String),
            (r"%[\w$.#-]+", Name.Variable),
            (r"@[\w$.-]+", Name.Function),
            (r"\^[\w$.-]+", Name.Label),
            (r"[#!][\w$.-]+", Name.Decorator),
            (r"\btir\.\w+", Name.Attribute),
            (r"\b[a-z_]\w*\.[\w.]+", Keyword),
            (r"\b(?:memref|vector|tensor|affine_map|affine_set)\b", Keyword.Type),
            (r"(?:(?<![\w.])|(?<=x))(?:index|none|[su]?i\d+|b?f\d+)\b", Keyword.Type),
            (r"\d+(?=x)", Number.Integer),
            (r"\?(?=x)", Number.Integer),
            (r"x(?=[\d?]|[su]?i\d|b?f\d|index|vector)", Punctuation),
            (r"-?\b\d+(?:\.\d*)?(?:[eE][+-]?\d+)?\b", Number),
            (words(_KEYWORDS, prefix=r"\b", suffix=r"\b"), Keyword),
            (r"\bmodule\b", Keyword),
            (r"->|==|>=|<=|[-+*=<>]", Operator),
            (r"[\w$]+", Text),
            (r"[{}()\[\],:?;|]", Punctuation),
            (r"\s+", Text),
            (r".", Text),
        ]
    }
