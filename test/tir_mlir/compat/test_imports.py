"""Modules and names that `import tvm` provides, and errors for the others."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT

from tir_mlir.compat import NotInCompat
from tir_mlir.compat.import_hook import MODULES
from tir_mlir.script.language.words import REFUSED


@pytest.mark.parametrize("module", MODULES)
def test_every_name_of_the_table_exists(module):
    found = importlib.import_module(module)
    assert set(MODULES[module]) <= set(dir(found))
    for name in MODULES[module]:
        assert getattr(found, name) is not None


def test_both_spellings_are_our_own_objects(tvm):
    import tvm.script.tir as alias  # type: ignore[import-not-found]
    from tvm import s_tir, tirx  # type: ignore[import-not-found]
    from tvm.ir.module import IRModule  # type: ignore[import-not-found]
    from tvm.script import ir as I  # type: ignore[import-not-found]
    from tvm.script import tir as T  # type: ignore[import-not-found]
    from tvm.script import tirx as Tx  # type: ignore[import-not-found]

    import tir_mlir
    import tir_mlir.script

    assert T is Tx is alias is tir_mlir.script.tir
    assert I is tir_mlir.script.ir
    assert IRModule is tvm.IRModule is tir_mlir.script.IRModule
    assert tvm.tir.Schedule is s_tir.Schedule is tir_mlir.Schedule
    assert tvm.tir.TensorIntrin is s_tir.TensorIntrin is tir_mlir.TensorIntrin
    assert tvm.tir.PrimFunc is tirx.PrimFunc
    assert tvm.script.ir_module is tir_mlir.script.ir_module


def test_absent_modules_and_names_import(tvm):
    import tvm.relax.frontend.torch  # type: ignore[import-not-found]  # noqa: F401
    from tvm import auto_scheduler, relax, relay, te, topi  # type: ignore[import-not-found]  # noqa: F401
    from tvm.relax.training import SetupTrainer  # type: ignore[import-not-found]

    with pytest.raises(NotInCompat, match=r"tvm\.relay\.var is not part of tir_mlir: .* tvm\.relax"):
        relay.var("x")
    with pytest.raises(NotInCompat, match=r"tvm\.relax\.If is not part of tir_mlir: `if` is written in the text"):
        relax.If(None, None, None)
    with pytest.raises(NotInCompat, match=r"tvm\.te\.create_schedule .*te\.create_prim_func"):
        te.create_schedule([])
    with pytest.raises(NotInCompat, match=r"tvm\.auto_scheduler\.TuningOptions .* tvm\.meta_schedule\.tune_tir"):
        auto_scheduler.TuningOptions(num_measure_trials=64)
    with pytest.raises(NotInCompat, match=r"tvm\.relax\.training\.SetupTrainer .* not differentiated"):
        SetupTrainer(None)
    with pytest.raises(NotInCompat, match=r"tvm\.relax\.op\.ad is not part of tir_mlir: .* near: add"):
        relax.op.ad()


ABSENT = [f"{module}.NoSuchName" for module in MODULES]
ABSENT += [f"tvm.script.{module}.NoSuchName" for module in ("ir", "tir", "relax", "relax.nn")]
ABSENT += [f"tvm.{module}.NoSuchName" for module in ("topi", "topi.nn", "relax.op", "relax.op.nn", "relay", "relay.op")]
ABSENT += ["tvm.relay", "tvm.te.extern", f"tvm.script.tir.{next(iter(REFUSED))}", "tvm.vulkan"]


@pytest.mark.parametrize("name", ABSENT)
def test_an_absent_name_is_not_an_attribute(name):
    home, _, word = name.rpartition(".")
    try:
        module = importlib.import_module(home)
    except ImportError:  # a space of operators, of which the module above has the name
        parent, _, last = home.rpartition(".")
        module = getattr(importlib.import_module(parent), last)
    assert not hasattr(module, word)
    assert getattr(module, word, None) is None
    with pytest.raises(AttributeError, match=word):
        getattr(module, word)


def test_an_imported_absent_module_is_not_an_attribute(tvm):
    import tvm.relay.op as op  # type: ignore[import-not-found]
    from tvm import relay  # type: ignore[import-not-found]
    from tvm.relay import Call  # type: ignore[import-not-found]

    assert relay is sys.modules["tvm.relay"] and op.__name__ == "tvm.relay.op" and Call.__name__ == "tvm.relay.Call"
    assert not hasattr(tvm, "relay") and not hasattr(relay, "op") and not hasattr(Call, "span")


def test_every_use_of_an_absent_name_is_reported():
    from tvm.relay import Call, ExprMutator  # type: ignore[import-not-found]

    uses = [
        Call,
        lambda: Call[0],
        lambda: list(Call),
        lambda: isinstance(1, Call),
        lambda: bool(Call),
        lambda: Call + 1,
        lambda: setattr(Call, "x", 1),
        lambda: type("X", (object, *Call.__mro_entries__(())), {}),
    ]
    for use in uses:
        with pytest.raises(NotInCompat, match=r"tvm\.relay\.Call is not part"):
            use()
    with pytest.raises(NotInCompat), Call:
        pass
    with pytest.raises(NotInCompat):

        class Rewriter(ExprMutator): ...


def test_a_misspelt_name_gets_a_suggestion(tvm):
    from tvm.tir import Schedul  # type: ignore[import-not-found]

    for use in (Schedul, lambda: tvm.tir.Schedul):
        with pytest.raises(NotInCompat, match=r"did you mean tvm\.tir\.Schedule\?"):
            use()
    with pytest.raises(NotInCompat, match=r"programs run on tvm\.cpu\(\), tvm\.cuda\(\)"):
        tvm.vulkan(0)
    for word, near in (("adds", "topi.add"), ("nn.conv2", "topi.nn.conv2d")):
        with pytest.raises(AttributeError, match=rf"topi.* has no .*; did you mean {near}\?\n  fix: write it with te"):
            getattr(tvm.topi.nn if "." in word else tvm.topi, word.rpartition(".")[2])
    for word, way in REFUSED.items():
        with pytest.raises(AttributeError) as caught:
            getattr(tvm.script.tir, word)
        assert str(caught.value) == f"T.{word} is not supported: {way}"
    with pytest.raises(AttributeError, match=r"T has no exq; did you mean T\.exp\?"):
        getattr(tvm.script.tir, "exq")  # noqa: B009


def run(code: str, *paths: Path) -> subprocess.CompletedProcess:
    path = ":".join(map(str, [ROOT, *paths]))
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": path, "PATH": ""}
    )


def real_tvm(folder: Path) -> Path:
    (folder / "tvm").mkdir()
    (folder / "tvm" / "__init__.py").write_text("real = True\n")
    return folder


@pytest.mark.nightly
def test_an_installed_tvm_is_hidden_only_on_request(tmp_path):
    real = real_tvm(tmp_path)
    assert run("import tir_mlir.script, tir_mlir.schedule, tvm; assert tvm.real is True", real).returncode == 0
    done = run("import tir_mlir.compat, tvm; print(tvm, tvm.build.__module__)", real)
    assert (done.returncode, done.stderr) == (0, "")
    assert "tir_mlir.compat" in done.stdout
    back = "import tir_mlir.compat as c, tvm; c.uninstall(); import tvm; assert tvm.real is True"
    assert run(back, real).returncode == 0


def test_a_tvm_that_is_loaded_already_is_an_error(tmp_path):
    done = run("import tvm, tir_mlir.compat", real_tvm(tmp_path))
    assert done.returncode == 1
    assert "tvm is already imported" in done.stderr
    assert "before the first `import tvm`" in done.stderr


def test_importing_makes_no_mlir_context():
    code = "import tir_mlir.compat, tvm, sys; from tvm import relax, te; assert 'mlir' not in sys.modules, 'mlir'"
    assert run(code).stderr == ""


def test_without_the_hook_tvm_is_not_found():
    done = run("import tir_mlir, tvm")
    assert "No module named 'tvm'" in done.stderr or done.returncode == 0  # 0: a real TVM is installed here


def test_modules_below_those_of_tir_mlir_are_theirs(tvm):
    import tvm.relax.op.nn as nn  # type: ignore[import-not-found]
    import tvm.topi.nn  # type: ignore[import-not-found]
    import tvm.topi.testing  # type: ignore[import-not-found]
    from tvm.relax.op.nn import relu  # type: ignore[import-not-found]

    import tir_mlir.compat
    import tir_mlir.topi

    assert tvm.topi is tir_mlir.topi and tvm.topi.nn.conv2d is tir_mlir.topi.nn.conv2d and relu is nn.relu
    tir_mlir.compat.uninstall()
    assert not hasattr(tir_mlir.topi, "testing")
