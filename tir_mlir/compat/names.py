"""The TVM names that tir_mlir has: module -> name -> where it lives, as "module:name", or "module" for a whole module.

Nothing here is imported before a program asks for it.
"""

from __future__ import annotations

_RUNTIME = "tir_mlir.compat.runtime"
_NDARRAY = "tir_mlir.compat.ndarray"
_ERRORS = "tir_mlir.dialect.errors"

_devices = {"cpu": f"{_NDARRAY}:cpu", "device": f"{_NDARRAY}:device", "Device": f"{_NDARRAY}:Device"}
_arrays = {
    "array": f"{_NDARRAY}:array",
    "tensor": f"{_NDARRAY}:array",
    "empty": f"{_NDARRAY}:empty",
    "NDArray": f"{_NDARRAY}:NDArray",
    "Tensor": f"{_NDARRAY}:NDArray",
}
_schedule = {
    "Schedule": "tir_mlir.schedule:Schedule",
    "ScheduleError": f"{_ERRORS}:ScheduleError",
    "BlockRV": "tir_mlir.schedule:BlockHandle",
    "SBlockRV": "tir_mlir.schedule:BlockHandle",
    "LoopRV": "tir_mlir.schedule:LoopHandle",
    "Trace": "tir_mlir.schedule:Trace",
}
_programs = {
    "PrimFunc": "tir_mlir.script.module:PrimFunc",
    "TensorIntrin": "tir_mlir.intrin:TensorIntrin",
    "IRModule": "tir_mlir.script.module:IRModule",
}
_module = {
    "IRModule": "tir_mlir.script.module:IRModule",
    "structural_equal": f"{_RUNTIME}:structural_equal",
    "assert_structural_equal": f"{_RUNTIME}:assert_structural_equal",
    "load_text": "tir_mlir.script.module:IRModule.from_mlir",
}
_script = {
    "ir_module": "tir_mlir.script.ir:ir_module",
    "ir": "tir_mlir.script.ir",
    "tir": "tir_mlir.script.tir",
    "tirx": "tir_mlir.script.tir",
    "from_source": "tir_mlir.script.parser:parse",
}

MODULES: dict[str, dict[str, str]] = {
    "tvm": {
        "IRModule": "tir_mlir.script.module:IRModule",
        "build": f"{_RUNTIME}:build",
        "compile": f"{_RUNTIME}:build",
        "TVMError": f"{_ERRORS}:TirError",
        "__version__": f"{_RUNTIME}:VERSION",
        **_devices,
    },
    "tvm.script": _script,
    "tvm.script.parser": {"parse": "tir_mlir.script.parser:parse", **_script},
    "tvm.ir": _module,
    "tvm.ir.module": {"IRModule": "tir_mlir.script.module:IRModule"},
    "tvm.error": {"TVMError": f"{_ERRORS}:TirError"},
    # today's spelling of tvm.tir is tvm.s_tir (schedules) and tvm.tirx (programs)
    "tvm.tir": {**_programs, **_schedule, "build": f"{_RUNTIME}:build"},
    "tvm.tir.schedule": _schedule,
    "tvm.tir.schedule.schedule": _schedule,
    "tvm.s_tir": {**_programs, **_schedule},
    "tvm.s_tir.schedule": _schedule,
    "tvm.tirx": {**_programs, "build": f"{_RUNTIME}:build"},
    "tvm.nd": {**_arrays, **_devices},
    "tvm.runtime": {"Module": f"{_RUNTIME}:Module", **_arrays, **_devices},
    "tvm.runtime.ndarray": {**_arrays, **_devices},
    "tvm.target": {"Target": f"{_RUNTIME}:Target"},
    "tvm.testing": {"assert_allclose": f"{_RUNTIME}:assert_allclose"},
    "tvm.contrib": {},
    "tvm.contrib.clang": {"create_llvm": "tir_mlir.runtime.clang:create_llvm"},
    "tvm.contrib.utils": {
        "tempdir": "tir_mlir.compat.tempdir:tempdir",
        "TempDirectory": "tir_mlir.compat.tempdir:TempDirectory",
    },
}
