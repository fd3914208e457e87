"""Programs for GPUs as TVM writes them, on a machine without one: kernels run on the CPU, which is said once."""

import warnings

import numpy as np
import pytest
from harness.opencl import need_opencl
from programs.short import each, main

from tir_mlir.build import build
from tir_mlir.compat import gpu_targets
from tir_mlir.compat.runtime import time_function
from tir_mlir.dialect.diagnostics import ArgumentError, BuildError
from tir_mlir.runtime.gpu.function import DeviceFunction

ADD = main("A:1024 B:1024 C:1024", each("C:1024", "C[vi] = A[vi] + B[vi]"))
WINDOW = main("A:1027 B:1024", each("B i:1024 k:3R", "B[vi] += A[vi + vk]", init="B[vi] = 0.0"))


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch):
    """The tests run as on a machine without a GPU, and nothing was said yet."""
    monkeypatch.setattr(gpu_targets, "has_gpu", lambda: False)
    monkeypatch.setattr(gpu_targets, "_warned_keys", {"cuda"})


def bound(tvm, text: str, block: str):
    sch = tvm.tir.Schedule(tvm.IRModule({"main": tvm.script.from_source(text)}))
    i = sch.get_loops(sch.get_block(block))[0]
    i0, i1 = sch.split(i, [None, 128])
    sch.bind(i0, "blockIdx.x")
    sch.bind(i1, "threadIdx.x")
    return sch, i0


@pytest.mark.parametrize("target", ["cuda", "nvidia/tesla-p100", "opencl", "cuda -arch=sm_86", {"kind": "cuda"}])
def test_vector_add(tvm, target):
    if target == "opencl":
        need_opencl()
    sch, _ = bound(tvm, ADD, "C")
    lib = tvm.build(sch.mod, target=target)
    dev = tvm.device("opencl" if target == "opencl" else "cuda", 0)
    a, b = (tvm.nd.array(np.random.uniform(size=1024).astype("float32"), dev) for _ in range(2))
    c = tvm.nd.array(np.zeros(1024, "float32"), device=dev)
    lib["main"](a, b, c)
    np.testing.assert_allclose(c.numpy(), a.numpy() + b.numpy())
    assert lib.time_evaluator("main", dev, number=2)(a, b, c).mean > 0


def test_kernels_are_timed_by_events_of_the_gpu(tvm, monkeypatch):
    sch, _ = bound(tvm, ADD, "C")
    lib = build(sch.mod, target="sm_80")
    monkeypatch.setattr(DeviceFunction, "seconds", lambda self, args, number, repeat: [number / 8] * repeat)
    assert time_function(lib["main"], (np.zeros(1024, "float32"),) * 3, {}, 2, 3).results == (0.25,) * 3


def test_shared_memory(tvm):
    sch, i0 = bound(tvm, WINDOW, "B")
    fetch = sch.cache_read(sch.get_block("B"), 0, "shared")
    sch.compute_at(fetch, i0)
    _, thread = sch.split(sch.get_loops(fetch)[-1], [None, 128])  # 130 elements by 128 threads
    sch.bind(thread, "threadIdx.x")
    lib = tvm.build(sch.mod, target=tvm.target.Target("cuda"))
    a = tvm.nd.array(np.arange(1027, dtype="float32"), tvm.cuda(0))
    b = tvm.nd.empty((1024,), device=tvm.cuda(0))
    lib["main"](a, b)
    assert (b.numpy() == a.numpy()[:1024] + a.numpy()[1:1025] + a.numpy()[2:1026]).all()


def test_the_source_of_kernels(tvm):
    sch, _ = bound(tvm, ADD, "C")
    (kernels,) = tvm.build(sch.mod, target="cuda").imported_modules
    assert kernels.type_key == "cuda"
    assert 'extern "C" __global__ void __launch_bounds__(128) main_kernel(' in kernels.get_source()
    assert ".visible .entry main_kernel(" in kernels.get_source("ptx")
    assert "__kernel" in tvm.compile(sch.mod, target="opencl").mod.imports[0].inspect_source()
    with pytest.raises(BuildError, match="formats of kernels are 'cu', 'cl' and 'ptx'"):
        kernels.get_source("ll")


def test_a_module_for_the_cpu_imports_nothing(tvm):
    assert tvm.build(tvm.IRModule({"main": tvm.script.from_source(ADD)}), target="llvm").imported_modules == []


def test_what_is_missing_is_said_once(tvm, monkeypatch):
    monkeypatch.setattr(gpu_targets, "_warned_keys", set())
    sch, _ = bound(tvm, ADD, "C")
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for _ in range(2):
            tvm.build(sch.mod, target="cuda")
    texts = [str(w.message) for w in said if "GPU" in str(w.message)]
    assert len(texts) == 1
    assert texts[0].startswith("this machine has no NVIDIA GPU: kernels for sm_80 run on the CPU")


def test_devices(tvm):
    assert repr(tvm.cuda(1)) == "cuda(1)"
    assert (tvm.cuda().device_type, tvm.opencl().device_type, tvm.cpu().device_type) == (2, 4, 1)
    assert tvm.device("cuda:1") == tvm.cuda(1)
    assert tvm.nd.array([1.0], tvm.cuda()).device == tvm.cuda()
    with pytest.raises(ArgumentError, match=r"programs run on the CPU and GPUs here; use tvm.cpu\(\), tvm.cuda\(\)"):
        tvm.device("hexagon")


def test_an_unknown_gpu_is_refused(tvm):
    sch, _ = bound(tvm, ADD, "C")
    with pytest.raises(BuildError, match=r"unknown GPU 'nvidia/tesla-p99' .near: 'nvidia/tesla-p"):
        tvm.build(sch.mod, target="nvidia/tesla-p99")


@pytest.mark.nightly
def test_tuning_for_a_gpu(tvm, tmp_path):
    """As slide 003 does: search, build, time."""
    from tvm import meta_schedule as ms  # type: ignore[import-not-found]

    text = each("C i:32 j:32 k:32R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0")
    module = tvm.IRModule({"main": tvm.script.from_source(main("A:32x32 B:32x32 C:32x32", text))})
    config = ms.TuneConfig(max_trials_global=2, num_trials_per_iter=2)
    target = "nvidia/tesla-p100"
    tuned = ms.tune_tir(mod=module, target=target, config=config, work_dir=str(tmp_path), task_name="main")
    assert 'thread="threadIdx.x"' in tuned.mod.script()
    lib, dev = tvm.build(tuned.mod, target=target), tvm.cuda(0)
    a, b = (tvm.nd.array(np.random.rand(32, 32).astype("float32"), dev) for _ in range(2))
    c = tvm.nd.empty((32, 32), device=dev)
    assert lib.time_evaluator("main", dev, number=1)(a, b, c).mean > 0
    np.testing.assert_allclose(c.numpy(), a.numpy() @ b.numpy(), rtol=1e-5)


def test_intrinsics_of_tensor_cores_have_tvms_names(tvm):
    from tvm.tir.tensor_intrin import cuda  # type: ignore[import-not-found]

    from tir_mlir.intrin import wmma

    assert {name for name in dir(cuda) if name.startswith("WMMA_")} == set(wmma.CONSTANTS)
    assert cuda.WMMA_LOAD_16x16x16_F16_A_DYN_INTRIN == "wmma_load_16x16x16_f16_a_shared_dyn"
    assert cuda.get_wmma_intrin_group("shared", "global")["compute"] == cuda.WMMA_SYNC_16x16x16_f16f16f32_INTRIN
