"""Intel's OpenCL for CPUs, of its wheels: run as a program of its own, as a process has one list of runtimes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from harness import ROOT

LIBRARY = Path(sys.prefix, "lib", "libintelocl.so")
MISSING = "no OpenCL of Intel; pip install intel-opencl-rt intel-cmplr-lib-rt"


def results(folder: Path) -> dict[str, str]:
    """ "FAMILY warp W spirv S" -> "" or what is wrong, of all bound programs. folder: an empty one."""
    (folder / "intel.icd").write_text(f"{LIBRARY}\n")
    path = os.pathsep.join((str(ROOT), str(ROOT / "test")))  # the package before the folder of its tests
    env = {**os.environ, "OCL_ICD_VENDORS": str(folder), "PYOPENCL_NO_CACHE": "1", "PYTHONPATH": path}
    command = [sys.executable, "-W", "ignore", "-m", "harness.intel_opencl"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, env=env, cwd=folder)
    return json.loads(done.stdout)


def _run_all() -> dict[str, str]:
    from programs.bound import BOUND

    from tir_mlir import build
    from tir_mlir.target import OpenCL

    found = {}
    for name, program in BOUND.items():
        for target in (OpenCL(warp=warp, spirv=spirv) for warp in (1, 32) for spirv in (False, True)):
            try:
                program.check(build(program.schedule(), target=target))
                found[f"{name} warp {target.warp} spirv {target.spirv}"] = ""
            except Exception as error:  # each is shown by its test
                found[f"{name} warp {target.warp} spirv {target.spirv}"] = f"{type(error).__name__}: {error}"
    return found


if __name__ == "__main__":
    print(json.dumps(_run_all()))
