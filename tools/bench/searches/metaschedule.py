"""A search by TVM's MetaSchedule, in an environment that has TVM and not `tir_mlir`:

python metaschedule.py PROGRAM.py TRIALS FOLDER [CPU]     # writes the best kernel, and what was found

PROGRAM.py is a module of TVMScript in the spelling of `tir_mlir`. Kernels run on one core, and their CPU time counts,
as in our searches: other work on the machine does not mislead the search.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any

SPELLINGS = (
    (r"@T\.prim_func", "@T.prim_func(s_tir=True)"),
    (r"\bT\.block\(", "T.sblock("),
    (r"\bT\.alloc_buffer\(", "T.sblock_alloc_buffer("),
    (r'T\.func_attr\(\{"tir\.noalias": T\.bool\(True\)\}\)', 'T.func_attr({"tirx.noalias": True})'),
)
"""From TensorIR's older spelling to that of TVM 0.27."""
ROUND, ROUNDS = 16, 3
LONGEST = 600.0
"""Wall seconds of a build or a run, on a busy machine."""
SPENT = 0.02
"""CPU seconds of a measurement, at least."""


def main(program: Path, trials: int, folder: Path, cpu: str = "") -> None:
    os.environ["TVM_NUM_THREADS"] = "1"
    tvm = importlib.import_module("tvm")
    ms = importlib.import_module("tvm.s_tir.meta_schedule")
    importlib.import_module("tvm.s_tir.tensor_intrin.x86")  # registers VNNI's dot products

    cpu = cpu or tvm.get_global_func("target.llvm_get_system_cpu")()
    target = tvm.target.Target({"kind": "llvm", "mcpu": cpu, "num-cores": 1})
    module = tvm.script.from_source(in_newer_spelling(program.read_text()))
    folder.mkdir(parents=True, exist_ok=True)
    database = ms.tune_tir(
        module, target, str(folder), trials, num_trials_per_iter=min(ROUND, trials), num_tuning_cores=1, seed=1,
        builder=ms.builder.LocalBuilder(max_workers=1, timeout_sec=LONGEST),
        runner=ms.runner.LocalRunner(timeout_sec=LONGEST, f_run_evaluator=measure),
    )  # fmt: skip
    records = database.get_all_tuning_records()
    times = sorted(min(map(float, record.run_secs)) for record in records if record.run_secs)
    schedule = ms.tir_integration.compile_tir(database, module, target)
    tvm.compile(schedule.mod, target=target).export_library(str(folder / "best.so"))
    found = {"trials": len(records), "seconds": times[0], "what": f"TVM {tvm.__version__}"}
    (folder / "found.json").write_text(json.dumps(found))


def in_newer_spelling(text: str) -> str:
    for pattern, new in SPELLINGS:
        text = re.sub(pattern, new, text, flags=re.MULTILINE)
    return text


def measure(library: Any, device: Any, config: Any, repeated_args: Any) -> list[float]:
    """CPU seconds of a call, some times."""
    call, seconds = library["main"], []
    for arguments in repeated_args:
        call(*arguments)
        number, took = 1, 0.0
        while took < SPENT:
            number = max(2 * number, 1) if took else 1
            took = _seconds(call, arguments, number)
        seconds += [took / number, *(_seconds(call, arguments, number) / number for _ in range(ROUNDS - 1))]
    return [min(seconds)]


def _seconds(call: Any, arguments: Any, number: int) -> float:
    start = time.process_time()
    for _ in range(number):
        call(*arguments)
    return time.process_time() - start


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *sys.argv[4:])
