"""tools/update_checks.py: the CHECK lines that it wrote are those of today, and a change is seen."""

from harness import ROOT

import update_checks

PRINTER = ROOT / "test" / "lit" / "tir_mlir" / "script" / "printer"


def test_no_file_is_out_of_date(capsys):
    assert update_checks.main(["--check"]) == 0, capsys.readouterr().out
    assert all(update_checks.NOTE in path.read_text() for path in PRINTER.glob("*.py"))


def test_outdated_blocks_are_rewritten(tmp_path, capsys):
    whole = (PRINTER / "loops.py").read_text()
    path = tmp_path / "loops.py"
    path.write_text(whole.replace("# CHECK-NEXT: for i, j in T.grid(4, 8):\n", "", 1))
    assert update_checks.main(["--check", str(path)]) == 1
    assert "out of date" in capsys.readouterr().out
    assert update_checks.main([str(path)]) == 0
    assert path.read_text() == whole


def test_text_that_filecheck_would_read_as_a_pattern_is_escaped():
    assert update_checks.checks(["def f():", "[[x]] {{y}}", "", "z", ""]) == (
        "# CHECK-LABEL: def f():\n# CHECK-NEXT: {{[[][[]}}x]] {{[{][{]}}y}}\n# CHECK-EMPTY:\n# CHECK-NEXT: z\n"
    )
