# ruff: noqa: F821  lit defines config
"""lit: the RUN lines of test/lit. `make lit`, or `lit -sv test` (`lit -sv test/lit/schedule/split.mlir` for one file)."""

import os
import shlex
import sys
import tempfile
from pathlib import Path

import lit.formats

here = Path(__file__).resolve().parent
sys.path.insert(0, str(here.parent))

from tir_mlir.runtime import toolchain  # noqa: E402  the checkout, whether it is installed or not

config.name = "tir_mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".py"]
config.test_source_root = str(here)
config.test_exec_root = os.path.join(tempfile.gettempdir(), f"tir-mlir-lit-{os.getuid()}")
# the other folders hold Python tests
config.excludes = [p.name for p in here.iterdir() if p.name != "lit"] + ["Inputs", "lit.cfg.py"]

config.environment["PYTHONPATH"] = os.pathsep.join([str(here.parent), *filter(None, [os.environ.get("PYTHONPATH")])])
for name in ("TMPDIR", "TIR_CACHE_DIR", "HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

# names of tools, not the folder test/lit/tir-opt
python = shlex.quote(sys.executable)
config.substitutions += [
    ("%python", python),
    (r"(?<![\w/.-])tir-opt(?![\w/.-])", f"{python} -m tir_mlir.opt"),
    (r"(?<![\w/.-])FileCheck(?![\w/.-])", f"{shlex.quote(toolchain.find('FileCheck').path)} --enable-var-scope"),
]
