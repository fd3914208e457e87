"""Programs in color, and plain where color has no place."""

import io

from tir_mlir.script import display

TEXT = 'for i in T.grid(4, 8):  # a loop\n    A[i] = T.float32("inf") < 0.5'


def test_html_keeps_the_text_and_escapes_it():
    found = display.html(TEXT)
    assert found.startswith("<pre") and found.endswith("</pre>")
    assert "# a loop</span>" in found and ">T.grid</span>" in found and "&lt;" in found
    assert display.Highlighted(TEXT)._repr_html_() == found


def test_a_pipe_gets_plain_text():
    out = io.StringIO()
    display.show(TEXT, out)
    assert out.getvalue() == TEXT + "\n"


def test_a_terminal_gets_color():
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    out = Terminal()
    display.show(TEXT, out)
    assert "grid" in out.getvalue()


def test_very_long_lines_are_cut():
    assert display.truncate_lines("x" * 2500).endswith("...  # 500 characters more")
    assert display.truncate_lines(TEXT) == TEXT
