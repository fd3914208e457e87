"""Files that `tir-opt --import` runs."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PASS = """
from tir_mlir.passes.lower.registry import lowering

@lowering("tir-lower-nothing", "leave the module as it is")
def nothing(module):
    "Change nothing."
"""


@pytest.mark.nightly
def test_passes_of_an_imported_file_are_listed(tmp_path):
    (tmp_path / "nothing.py").write_text(PASS)
    command = [sys.executable, "-m", "tir_mlir.opt", "--import", str(tmp_path / "nothing.py"), "--list-passes"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"^  tir-lower-nothing +leave the module as it is$", listed, re.MULTILINE)
