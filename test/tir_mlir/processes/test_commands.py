"""Child processes import nothing from the working directory."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from tir_mlir import processes
from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.llm import description
from tir_mlir.llm.checks.matching import StatedTensor
from tir_mlir.runtime.drivers import check_intrinsics
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.tools import clang_codegen, toolchain
from tir_mlir.runtime.workers.pool import Worker, environment
from tir_mlir.tune.report import matmul_libraries
from tir_mlir.tune.trials.pool import WorkerProcess

PACKAGES = ("tir_mlir", "numpy", "torch", "transformers", "mlir", "llvm", "optuna", "sitecustomize", "usercustomize")
PLANT = "import os\nopen(os.path.join(os.path.dirname(__file__), 'mark'), 'a').write(__name__ + ' ')\nraise ImportError"


@pytest.fixture
def planted(tmp_path, monkeypatch):
    """The working directory, which holds a file of the name of each module that a child may import."""
    for name in (*sys.stdlib_module_names, *PACKAGES):
        (tmp_path / f"{name}.py").write_text(PLANT)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder not in ("", str(tmp_path))])
    monkeypatch.chdir(tmp_path)
    return tmp_path


def worker_of_builds(monkeypatch):
    worker = Worker([], environment())
    try:
        worker.greet()
    finally:
        worker.close()


def worker_of_trials(monkeypatch):
    process = WorkerProcess()
    process.close()


def substitute_of_mlir_opt(monkeypatch):
    monkeypatch.setattr(toolchain, "_find_or_substitute", lambda name: toolchain.Tool(name, sys.executable, "bindings"))
    assert "module" in toolchain.run("mlir-opt", [], "module {}")


def compiler_of_an_intrinsic(monkeypatch):
    def missing(*args, **options):
        raise ToolError("not installed")

    monkeypatch.setattr(toolchain, "attempt", missing)
    assert check_intrinsics._compile_in_child(clang_codegen.EMPTY, object_code.target()) == ""


def times_of_a_library(monkeypatch):
    assert matmul_libraries._seconds("NumPy", [[[4, 4], [0, 1]], [[4, 4], [0, 1]], "float32", "perf_counter"], 1)


def description_of_a_language_model(monkeypatch):
    pytest.importorskip("transformers")
    config = {"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 32, "vocab_size": 64}
    config |= {"num_hidden_layers": 1, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
    attention = {"q": (32, 32), "k": (16, 32), "v": (16, 32), "o": (32, 32)}
    shapes = {f"self_attn.{name}_proj.weight": shape for name, shape in attention.items()}
    shapes |= {f"self_attn.{name}_proj.bias": attention[name][:1] for name in "qkv"}
    shapes |= {f"mlp.{name}_proj.weight": (32, 32) for name in ("gate", "up", "down")}
    shapes |= {"input_layernorm.weight": (32,), "post_attention_layernorm.weight": (32,)}
    shapes = {f"layers.0.{name}": shape for name, shape in shapes.items()}
    shapes |= {"embed_tokens.weight": (64, 32), "norm.weight": (32,)}
    tensors = {f"model.{name}": StatedTensor(shape, "F32") for name, shape in shapes.items()}
    tensors["lm_head.weight"] = StatedTensor((64, 32), "F32")
    sizes = (8, 16, 1, "float32")
    answer = description._describe_in_process(
        toolchain.cache_folder(), json.dumps(config), sizes, tensors, lambda running: None
    )
    assert len(json.loads(answer)["forms"]) == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "child",
    [
        worker_of_builds,
        worker_of_trials,
        substitute_of_mlir_opt,
        compiler_of_an_intrinsic,
        times_of_a_library,
        description_of_a_language_model,
    ],
)
def test_a_child_imports_nothing_of_the_working_directory(planted, monkeypatch, child):
    child(monkeypatch)
    mark = planted / "mark"
    assert not mark.exists(), mark.read_text()


def test_nor_where_python_has_no_option_for_it(planted, monkeypatch):
    monkeypatch.setattr("tir_mlir.processes.commands._options", list)
    done = processes.run(processes.Python("import json, tir_mlir; print(json.dumps(sys.argv[1:]))", ["a"]), stdout=-1)
    assert json.loads(done.stdout) == ["a"] and not (planted / "mark").exists()


@pytest.mark.parametrize("start", ["", os.pathsep, f".{os.pathsep}"])
def test_nor_by_a_relative_part_of_pythonpath(planted, monkeypatch, tmp_path_factory, start):
    """A folder that the user names absolutely is still in the path of the child."""
    own = tmp_path_factory.mktemp("own")
    (own / "sitecustomize.py").write_text("import sys; sys.of_the_user = True")
    monkeypatch.setenv("PYTHONPATH", f"{start}{own}")
    done = processes.run(processes.Python("import json; print(sys.of_the_user)"), capture_output=True, text=True)
    assert done.stdout == "True\n" and not (planted / "mark").exists(), done.stderr


def test_a_child_imports_from_where_its_parent_does(tmp_path, monkeypatch):
    (tmp_path / "of_the_user.py").write_text("")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert processes.run(processes.Python("import of_the_user")).returncode == 0


def test_a_child_starts_where_the_working_directory_is_gone(tmp_path):
    code = (
        "import os, sys; from tir_mlir import processes\n"
        "os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone'); sys.path.insert(0, '')\n"
        "sys.exit(processes.run(processes.Python('import tir_mlir')).returncode)"
    )
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env).returncode == 0


def test_an_isolated_python_starts_isolated_ones():
    code = "from tir_mlir.processes.commands import _options; print(_options())"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("['-I', ")
