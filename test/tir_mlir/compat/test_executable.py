"""What TVM's executables have, and functions registered by name."""

import numpy as np
import pytest
from programs.short import each, main

from tir_mlir.compat import global_functions

ADD = main("A:16 B:16", each("B:16", "B[vi] = A[vi] + 1.0"), name="NAME")


@pytest.fixture(autouse=True)
def own_functions(monkeypatch):
    monkeypatch.setattr(global_functions, "_functions", {})


@pytest.mark.parametrize("name", ["main", "add"])
def test_the_module_of_an_executable(tvm, name):
    lib = tvm.compile(tvm.script.from_source(ADD.replace("NAME", name)), target="llvm")
    assert lib.entry_name == name
    a, b = tvm.nd.array(np.arange(16, dtype="float32")), tvm.nd.empty((16,))
    for run in (lib.mod[lib.mod.entry_name], lib.jit()[name], lib.mod):
        b[:] = np.zeros(16)
        run(a, b)
        assert b.numpy().tolist() == list(range(1, 17))
    assert lib.mod.time_evaluator(lib.entry_name, tvm.cpu(), number=1)(a, b).mean > 0
    assert f"@tir.{name}(" in lib.mod.inspect_source("ll")


def test_functions_by_name(tvm):
    @tvm.register_func("test.twice")
    def twice(x):
        return 2 * x

    assert twice(1) == 2
    assert tvm.get_global_func("test.twice")(4) == 8
    assert tvm.register_func("test.thrice", lambda x: 3 * x) is tvm.get_global_func("test.thrice")

    @tvm.register_func
    def four():
        return 4

    assert tvm.get_global_func("four")() == 4
    assert tvm.get_global_func("test.none", allow_missing=True) is None


def test_refused_names(tvm):
    tvm.register_func("test.f", print)
    with pytest.raises(ValueError, match=r"'test.f' is registered already; pass override=True"):
        tvm.register_func("test.f", len)
    tvm.register_func("test.f", len, override=True)
    assert tvm.get_global_func("test.f") is len
    with pytest.raises(ValueError, match=r"no global function 'test.g'; registered by tvm.register_func: test.f"):
        tvm.get_global_func("test.g")
    with pytest.raises(tvm.TVMError, match="takes a function, not 3"):
        tvm.register_func("test.g", 3)
    with pytest.raises(tvm.TVMError, match="takes a name, not 3"):
        tvm.register_func(3)


def test_the_newer_and_older_homes_of_the_names(tvm):
    from tvm import register_global_func
    from tvm._ffi import get_global_func, list_global_func_names, remove_global_func

    register_global_func("test.f", len)
    assert get_global_func("test.f") is len and list_global_func_names() == ["test.f"]
    remove_global_func("test.f")
    assert list_global_func_names() == []
