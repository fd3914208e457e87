# ruff: noqa: F821  lit puts `config` there
"""The FileCheck tests: `make lit`; one: `lit -v test/lit/passes/schedule/loops/split.mlir`.

A file runs `tir-opt` on itself.

`tir-opt` and `python FILE` are forks of one warm process (warm/server.py), where nearly all the time of a run, its
start, is spent once. TIR_LIT_COLD=1 starts a process for each run, as a user does; `cold-tir-opt` always does.
"""

import atexit
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import lit.formats

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT))  # this checkout, installed or not

from tir_mlir.runtime.tools import toolchain  # noqa: E402

config.name = "tir_mlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".py"]
config.excludes = ["lit.cfg.py", "Inputs", "warm"]
config.test_source_root = str(HERE)
config.test_exec_root = tempfile.mkdtemp(prefix="tir-mlir-lit-")
atexit.register(shutil.rmtree, config.test_exec_root, ignore_errors=True)

config.environment["PYTHONPATH"] = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
config.environment["TIR_WORKERS"] = "1"  # the tests are on all cores already
config.environment["MALLOC_PERTURB_"] = "128"  # glibc overwrites what is freed: a use of it is seen
config.environment["GLIBC_TUNABLES"] = "glibc.malloc.tcache_count=0"  # also what the cache of a thread has
config.environment["TMPDIR"] = config.test_exec_root  # reproducers of failing passes go with it
for name in ("HOME", "TIR_CACHE_DIR", "COVERAGE_PROCESS_CONFIG"):
    if name in os.environ:
        config.environment[name] = os.environ[name]


def warm_socket() -> str:
    """The socket of a warm process that lasts as long as this one; "" where there is to be none."""
    if os.environ.get("TIR_LIT_COLD") or not hasattr(os, "fork"):
        return ""
    path = os.path.join(config.test_exec_root, "warm")
    server = subprocess.Popen([sys.executable, str(HERE / "warm" / "server.py"), path], env=config.environment)
    atexit.register(server.terminate)
    while not os.path.exists(path):
        if server.poll() is not None:
            raise SystemExit(f"test/lit/warm/server.py ended with {server.returncode}; TIR_LIT_COLD=1 does without it")
        time.sleep(0.05)
    return path


python = shlex.quote(sys.executable)
cold = f"{python} -m tir_mlir.opt"
socket = warm_socket()
client = f"{python} -I -S {shlex.quote(str(HERE / 'warm' / 'client.py'))} {shlex.quote(socket)}"
config.substitutions += [
    (r"%python (?=[^-])", f"{client} python " if socket else f"{python} "),
    ("%python", python),
    (r"(?<![\w/.-])cold-tir-opt(?![\w/.-])", cold),
    # names of tools, not of folders
    (r"(?<![\w/.-])%?tir-opt(?![\w/.-])", f"{client} tir-opt" if socket else cold),
    (r"(?<![\w/.-])FileCheck(?![\w/.-])", f"{shlex.quote(toolchain.find('FileCheck').path)} --enable-var-scope"),
]
