"""What `import tir_mlir` and the command line show first."""

import pytest

import tir_mlir
from tir_mlir.__main__ import main
from tir_mlir.opt.driver import main as tir_opt


@pytest.mark.parametrize("name", tir_mlir._PACKAGES)
def test_packages_come_with_the_package(name):
    assert getattr(tir_mlir, name).__name__ == f"tir_mlir.{name}"
    assert name in dir(tir_mlir)


def test_versions_and_commands(capsys):
    assert main([]) == 0
    assert "tir_mlir.examples.demo" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert tir_mlir.__version__ in capsys.readouterr().out


@pytest.mark.parametrize("args", [["--emit=nonsense"], ["--nonsense"], ["--tir-split=loop="]])
def test_a_wrong_command_line_is_told_from_a_wrong_input(args, tmp_path, capsys):
    def code(*args: str) -> int:
        try:
            return tir_opt(args)
        except SystemExit as stop:
            return int(stop.code or 0)

    (tmp_path / "empty.mlir").write_text("module {}")
    assert code(*args, str(tmp_path / "empty.mlir")) == 2
    assert code(str(tmp_path / "missing.mlir")) == 1
