"""Programs in colour, and plain where colour has no place."""

import io

from tir_mlir.script import highlight

TEXT = 'for i in T.grid(4, 8):  # a loop\n    A[i] = T.float32("inf") < 0.5'


def test_html_keeps_the_text_and_escapes_it():
    found = highlight.html(TEXT)
    assert found.startswith("<pre") and found.endswith("</pre>")
    assert "# a loop</span>" in found and ">T.grid</span>" in found and "&lt;" in found
    assert highlight.Highlighted(TEXT)._repr_html_() == found


def test_a_pipe_gets_plain_text():
    out = io.StringIO()
    highlight.show(TEXT, out)
    assert out.getvalue() == TEXT + "\n"


def test_a_terminal_gets_colour():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    highlight.show(TEXT, out)
    assert "grid" in out.getvalue()


def test_very_long_lines_are_cut():
    assert highlight.shortened("x" * 2500).endswith("...  # 500 characters more")
    assert highlight.shortened(TEXT) == TEXT
