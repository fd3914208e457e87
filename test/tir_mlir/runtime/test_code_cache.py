"""The compile cache: hits, invalidation, and interference by other processes."""
# ruff: noqa: E501

import os
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import tir_mlir
from tir_mlir import create_llvm
from tir_mlir.build import build
from tir_mlir.dialect.diagnostics import BuildWarning
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.drivers import jit
from tir_mlir.runtime.kernels.registry import _kernels, emit, register_kernel
from tir_mlir.runtime.llvm import llvm_c

ROOT = str(Path(tir_mlir.__file__).parent.parent)
TEXT = """func.func @f(%X: memref<4xf32> {tir.name = "X"}) {
  affine.for %i = 0 to 4 {
    %x = affine.load %X[%i] : memref<4xf32>
    %y = arith.addf %x, %x : f32
    affine.store %y, %X[%i] : memref<4xf32>
  }
  return
}"""
CALLS = """module {
  func.func private @mine_cached(!llvm.ptr) -> i32
  func.func @f(%X: memref<4xf32> {tir.name = "X"}) {
    %0 = memref.extract_aligned_pointer_as_index %X : memref<4xf32> -> index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.inttoptr %1 {tir.access = "rw"} : i64 to !llvm.ptr
    affine.for %i = 0 to 1 {
      %3 = func.call @mine_cached(%2) : (!llvm.ptr) -> i32
    } {ANNOTATIONS}
    return
  }
}"""
KERNEL = "int mine_cached(float *x) { for (int i = 0; i < 4; ++i) x[i] = VALUE; return 0; }"


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TIR_CACHE_SIZE", raising=False)
    return tmp_path / "cache"


def entries(folder):
    return sorted((folder / "code").iterdir()) if (folder / "code").exists() else []


def doubled(lib):
    x = np.arange(4, dtype="f4")
    lib(x)
    return (x == [0, 2, 4, 6]).all()


def filled(lib):
    x = np.zeros(4, "f4")
    lib(x)
    return x[0]


def test_the_second_build_loads(parse, folder):
    first, second, third = build(parse(TEXT)), build(parse(TEXT)), build(parse(TEXT), cache=False)
    assert [lib.timing.cached for lib in (first, second, third)] == [False, True, False]
    assert all(map(doubled, (first, second, third))) and len(entries(folder)) == 1
    assert set(second.timing) == {"key", "load"} and "lower" in first.timing and "compile" in first.timing
    for text in ("mlir", "lowered", "llvm_ir"):
        assert getattr(first, text) == getattr(second, text) == getattr(third, text)
    assert instructions(first) == instructions(second) == instructions(third)


def instructions(lib):
    return lib.assembly.split("Disassembly", 1)[1]


def test_another_program_is_another_entry(parse, folder):
    assert doubled(build(parse(TEXT)))
    x = np.arange(4, dtype="f4")
    lib = build(parse(TEXT.replace("addf", "mulf")))
    lib(x)
    assert not lib.timing.cached and (x == [0, 1, 4, 9]).all() and len(entries(folder)) == 2


def test_places_in_source_do_not_matter(parse, folder):
    build(parse(TEXT))
    assert build(parse("\n\n" + TEXT)).timing.cached


def test_registered_kernels_count(parse, folder):
    def builder(value):
        return lambda: emit(
            f"""llvm.func @mine_cached(%x: !llvm.ptr) -> i32 {{
              %v = llvm.mlir.constant({value} : f32) : f32
              llvm.store %v, %x : f32, !llvm.ptr
              %z = llvm.mlir.constant(0 : i32) : i32
              llvm.return %z : i32
            }}"""
        )

    program = parse(CALLS.replace(" {ANNOTATIONS}", ""))
    for value, known in [(1.0, False), (2.0, False), (1.0, True)]:
        register_kernel("mine_cached", builder(value), override=True)
        lib = build(program)
        assert filled(lib) == value and lib.timing.cached == known


def test_built_in_kernels_are_keyed_by_their_arguments():
    from tir_mlir.intrin.outer_products import outer_product
    from tir_mlir.runtime.drivers.program_key import _package_builder_key

    outer_product(4, 4, 4)
    outer_product(4, 8, 4)
    names = [_package_builder_key(_kernels[f"outer_product_4x{n}x4"]) for n in (4, 8)] + [
        _package_builder_key(_kernels["tmm16"])
    ]
    assert None not in names and len(set(names)) == 3
    assert _package_builder_key(lambda: None) is None


def test_kernels_in_the_program_and_in_files_count(parse, folder, tmp_path):
    def program(text):
        quoted = text.replace("\\", "\\5C").replace('"', "\\22").replace("\n", "\\0A")
        return parse(CALLS.replace("ANNOTATIONS", f'tir.annotations = {{pragma_import_llvm = "{quoted}"}}'))

    texts = {value: create_llvm(KERNEL.replace("VALUE", str(value))) for value in (3, 4)}
    for value, known in [(3, False), (4, False), (3, True)]:
        lib = build(program(texts[value]))
        assert filled(lib) == value and lib.timing.cached == known
    file = tmp_path / "kernel.ll"
    for number, (value, known) in enumerate([(3, False), (3, True), (4, False)]):
        if not known:
            file.write_text(texts[value])
            os.utime(file, (number, number))
        lib = build(program(str(file)))
        assert filled(lib) == value and lib.timing.cached == known


def test_an_edit_of_the_package_under_a_process_keeps_it_from_storing(parse, folder, monkeypatch):
    from tir_mlir.runtime.cache import fingerprint

    assert not fingerprint.sources_changed() and "passes/lower/vector/vectorize.py" in fingerprint._AT_START
    monkeypatch.setattr(fingerprint, "_AT_START", fingerprint._AT_START.replace("vectorize.py", "vectorise.py"))
    assert fingerprint.sources_changed() and doubled(build(parse(TEXT))) and entries(folder) == []


def test_all_that_takes_part_in_a_build_is_in_the_key():
    code = (
        "import sys\nfrom mlir import ir\nfrom tir_mlir import build\nfrom tir_mlir.dialect.ir import enter_context\n"
        f"with enter_context(): module = ir.Module.parse({TEXT!r})\n"
        "build(module, cache=False)\nprint(*[m.__file__ for n, m in sys.modules.items() if n.startswith('tir_mlir')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PYTHONPATH": ROOT}, check=True
    )
    from tir_mlir import sources
    from tir_mlir.runtime.cache import fingerprint

    in_key = tuple(map(sources.path, fingerprint.SOURCES))
    used = set(done.stdout.split()) - {sources.path("__init__.py"), sources.path("passes/__init__.py")}
    assert len(used) > 50 and not {file for file in used if not file.startswith(in_key)}


DAMAGE = {
    "cut short": lambda data: data[:-1],
    "cut to nothing": lambda data: b"",
    "without its content": lambda data: data.partition(b"\n")[0],
    "a changed byte": lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
    "a changed head": lambda data: b"x" + data[1:],
    "other bytes": lambda data: os.urandom(5000),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_a_damaged_entry_is_made_again(parse, folder, kind):
    build(parse(TEXT))
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    entry.write_bytes(DAMAGE[kind](whole))
    lib = build(parse(TEXT))
    assert not lib.timing.cached and doubled(lib) and entry.read_bytes() == whole


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"no head",
        b'{"libs": []}\n',
        b"{}\nrest",
        b'{"libs": ["/nowhere.so"], "calls_out": false, "warned": [], "scratch": 0}\nrest',
        b'{"libs": [], "calls_out": false, "warned": [], "scratch": 0}\nno object file',
    ],
)
def test_an_entry_that_does_not_load_is_made_again(parse, folder, content, capfd):
    build(parse(TEXT))
    (entry,) = entries(folder)
    whole = entry.read_bytes()
    store.save("code", entry.name, content)
    lib = build(parse(TEXT))
    assert not lib.timing.cached and doubled(lib) and entry.read_bytes() == whole
    assert capfd.readouterr().err == ""


def test_a_write_that_fails_leaves_nothing(parse, folder, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    assert doubled(build(parse(TEXT))) and not build(parse(TEXT)).timing.cached
    assert entries(folder) == []


def test_a_folder_that_cannot_be_written(parse, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.warns(BuildWarning, match="TIR_CACHE_DIR=.*/below is not used: it cannot be made: "):
        assert doubled(build(parse(TEXT)))
    (tmp_path / "cache" / "code").parent.mkdir()
    (tmp_path / "cache" / "code").write_text("in the way")
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    assert doubled(build(parse(TEXT)))


def test_turned_off(parse, folder, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_SIZE", "0")
    for _ in range(2):
        lib = build(parse(TEXT))
        assert doubled(lib) and not lib.timing.cached
    assert entries(folder) == []


def test_it_stays_below_its_bound_and_the_longest_unused_go(folder, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_SIZE", "0.1")
    now = time.time()
    for i in range(10):
        store.save("code", f"e{i}", bytes(9_000))
        os.utime(folder / "code" / f"e{i}", (now - 100 + i, now - 100 + i))
    assert store.load("code", "e0") is not None  # used: now it is the newest
    store.save("c", "more", bytes(20_000))
    left = {p.name for p in folder.rglob("*") if p.is_file()}
    assert {"more", "e0", "e9"} <= left and not {"e1", "e2"} & left
    assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) <= 0.1 * 2**20


def test_a_process_looks_for_what_to_evict_now_and_then(folder, monkeypatch):
    searches = []
    trim = store.trim
    monkeypatch.setattr(store, "trim", lambda *args: searches.append(args) or trim(*args))
    for i in range(66):
        store.save("code", f"e{i}", b"small")
    assert len(searches) == 2


def test_leftovers_of_a_dead_process_are_removed(folder, monkeypatch):
    store.save("code", "one", b"1")
    for name, age in (("new-old", 7200), ("new-fresh", 10)):
        (folder / "code" / name).write_bytes(b"half")
        os.utime(folder / "code" / name, (time.time() - age, time.time() - age))
    monkeypatch.setattr(store, "_room", {})  # of the next process
    store.save("code", "two", b"2")
    assert {p.name for p in entries(folder)} == {"one", "two", "new-fresh"}


@pytest.mark.nightly
def test_processes_at_the_same_time(folder):
    code = (
        "import numpy as np\nfrom tir_mlir import build\nfrom tir_mlir.script.parser import parse\n"
        "def program(k):\n"
        "    return parse(f'''@T.prim_func\ndef main(X: T.Buffer((4,), \"float32\")):\n"
        "    for i in range(4):\n"
        "        with T.block(\"X\"):\n            vi = T.axis.spatial(4, i)\n            X[vi] = X[vi] + T.float32({k})''')\n"
        "for k in range(1, 6):\n"
        "    x = np.zeros(4, 'f4'); build(program(k))(x); assert (x == k).all(), x\n"
        "print('right')"
    )
    environment = {**os.environ, "PYTHONPATH": ROOT}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        for _ in range(4)
    ]
    for each in running:
        out, err = each.communicate(timeout=300)
        assert (each.returncode, out) == (0, "right\n"), err
    assert len(entries(folder)) == 5 and not [p for p in entries(folder) if p.name.startswith("new-")]


def test_warnings_are_repeated_on_cache_hits(parse, folder):
    text = """func.func @f(%X: memref<4xf32> {tir.name = "X"}) attributes {tir.id = 0 : i64} {
      %m = memref.alloc() {tir.name = "M", alignment = 64 : i64} : memref<1xf32>
      affine.for %i = 0 to 4 {
        %x = affine.load %X[%i] : memref<4xf32>
        affine.store %x, %m[0] : memref<1xf32>
        %y = affine.load %m[0] : memref<1xf32>
        %z = affine.load %m[0] : memref<1xf32>
        %s = arith.addf %y, %z : f32
        affine.store %s, %X[%i] : memref<4xf32>
      } {tir.kind = "parallel", tir.loop = "i", tir.id = 1 : i64}
      affine.for %i = 0 to 1 {
        %y = affine.load %m[0] : memref<1xf32>
        affine.store %y, %m[0] : memref<1xf32>
      } {tir.loop = "j", tir.id = 2 : i64}
      return
    }"""
    said = []
    for _ in range(2):
        with pytest.warns(LoweringWarning, match="runs serially") as heard:
            lib = build(parse(text))
        said.append([str(w.message) for w in heard])
    assert lib.timing.cached and said[0] == said[1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "llvm.func" in lib.lowered


def test_without_llvms_c_interface(parse, folder, monkeypatch):
    monkeypatch.setattr(llvm_c, "find_llvm", lambda: None)
    for _ in range(2):
        lib = build(parse(TEXT))
        assert doubled(lib) and not lib.timing.cached
    assert entries(folder) == [] and "_mlir_ciface_f" in lib.assembly


def test_timing_prints_as_a_table(parse):
    first = repr(build(parse(TEXT)).timing)
    number = r"+\d+\.\d\d ms"
    assert re.match(rf"build: \d+\.\d\d ms, compiled\n  key {number} {number} CPU  the cache key of the program", first)
    assert [line.split()[0] for line in first.splitlines()[1:8]] == [
        "key",
        "link",
        "lower",
        "translate",
        "compile",
        "store",
        "load",
    ]
    again = build(parse(TEXT)).timing
    assert "code from the cache" in repr(again) and again.total == sum(again.values())


def test_stored_entries_read_back():
    kept = jit.Compiled(b"\n\0data", [6], ["a.so"], True, ["said"])
    assert jit.Compiled.from_bytes(kept.to_bytes()) == kept


def test_the_entry_of_another_program_is_not_used(parse, folder):
    assert doubled(build(parse(TEXT)))
    (path,) = entries(folder)
    other = TEXT.replace("%y = arith.addf %x, %x", "%y = arith.subf %x, %x")
    build(parse(other))
    for twin in entries(folder):
        if twin != path:
            path.write_bytes(twin.read_bytes())
    lib = build(parse(TEXT))
    assert doubled(lib) and not lib.timing.cached
