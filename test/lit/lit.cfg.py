# ruff: noqa: F821  lit puts `config` there
"""The FileCheck tests: `make lit`; one: `lit -v test/lit/schedule/split.mlir`. A file runs `tir-opt` on itself."""

import atexit
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import lit.formats

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, installed or not

from tir_mlir.runtime.tools import toolchain  # noqa: E402

config.name = "tir_mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".py"]
config.excludes = ["lit.cfg.py", "Inputs"]
config.test_source_root = str(HERE)
config.test_exec_root = tempfile.mkdtemp(prefix="tir-mlir-lit-")
atexit.register(shutil.rmtree, config.test_exec_root, ignore_errors=True)

config.environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
config.environment["TMPDIR"] = config.test_exec_root  # reproducers of failing passes go with it
for name in ("HOME", "TIR_CACHE_DIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# names of tools, not the folder test/lit/tir-opt
python = shlex.quote(sys.executable)
config.substitutions += [
    ("%python", python),
    (r"(?<![\w/.-])%?tir-opt(?![\w/.-])", f"{python} -m tir_mlir.opt"),
    (r"(?<![\w/.-])FileCheck(?![\w/.-])", f"{shlex.quote(toolchain.find('FileCheck').path)} --enable-var-scope"),
]
