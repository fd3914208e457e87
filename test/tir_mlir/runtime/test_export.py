"""Libraries for C programs: files, names, arguments that are checked, what the linker sees."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.llvm import object_code
from tir_mlir.runtime.tools import c_tools, toolchain

SCALE = """
@T.prim_func
def scale(a: T.handle, b: T.handle, s: T.float32):
    n = T.int64()
    A = T.match_buffer(a, (n, n * 2 + 1), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("B"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi, 0] * s
"""
ADD = main("A:4x8 B:4x8 C:4x8", each("C:4x8", "C[vi, vj] = A[vi, vj] + B[vi, vj]"), name="add")
NARROW = main("A:64 B:64:bfloat16", each("B:64", "B[vi] = T.cast(A[vi], 'bfloat16')"), name="narrow")


def scheduled(text: str) -> Schedule:
    """Its function is called main."""
    (function,) = parse(text).prim_funcs.values()
    return Schedule(function)


PROGRAM = r"""
#include "add.h"
#include "scale.h"
#include "twice.h"
#include <stdio.h>

static float a[32], b[32], c[32];

static void tell(int result, const char *(*error)(void)) { printf("%d %s\n", result, error()); }

int main(void) {
  for (int i = 0; i < 32; i++) a[i] = (float)i, b[i] = 2;
  if (add(a, b, c) || twice(c, b, a)) return 1;
  printf("%g %g\n", (double)c[31], (double)a[31]);
  if (scale(3, a, b, 0.5f)) return 2;
  printf("%g %g\n", (double)b[0], (double)b[2]);
  tell(add(a, NULL, c), add_error);
  tell(add(a, b, a + 8), add_error);
  tell(scale(-1, a, b, 1), scale_error);
  tell(scale(0, NULL, NULL, 1), add_error);
  return 0;
}
"""
PRINTED = """\
33 35
2 9
-1 add: B is NULL
-1 add: A and C overlap
-1 scale: n is negative
0 add: A and C overlap
"""


@pytest.fixture(scope="module")
def kernels(tmp_path_factory):
    """A folder with the objects of three kernels, two of one program, and a C program that calls them."""
    folder = tmp_path_factory.mktemp("kernels")
    for name in ("add", "twice"):
        build(scheduled(ADD)).export(folder / f"{name}.o")
    build(parse(SCALE)).export(folder / "scale.a")
    (folder / "main.c").write_text(PROGRAM)
    return folder


START = "int main(void); void exit(int); __attribute__((force_align_arg_pointer)) void _start(void) { exit(main()); }"
"""What a C library starts a program with. That of this machine may have no files for linkers, and `zig cc` would build
one first, for a minute."""


def linked_by_zig(folder, objects: list[str], program: str) -> None:
    """A program that is linked with the C library that this process runs on."""
    (folder / "start.c").write_text(START)
    for name in ("main", "start"):
        options = ["-Wall", "-Wextra", "-Werror", "-fno-sanitize=all", "-c", str(folder / f"{name}.c")]
        toolchain.run("zig", ["cc", *options, "-o", str(folder / f"{name}.o")])
    loader = next(iter(re.findall(r"/\S+/ld-linux\S+", Path("/proc/self/maps").read_text())), None)
    if loader is None:
        pytest.skip("no C library that is known")
    own = [str(folder / "main.o"), str(folder / "start.o")]
    libraries = [str(path) for path in c_tools.system_libraries()]
    toolchain.run("zig", ["ld.lld", *own, *objects, *libraries, "-dynamic-linker", loader, "-o", program])


@pytest.mark.parametrize("compiler", ["cc", "zig"])
def test_a_c_program_calls_several_kernels(kernels, compiler):
    warnings, objects = ["-Wall", "-Wextra", "-Werror"], [str(kernels / f) for f in ("add.o", "twice.o", "scale.a")]
    program = str(kernels / f"program_{compiler}")
    if compiler == "zig":
        linked_by_zig(kernels, objects, program)
    elif (cc := shutil.which("cc")) is None:
        pytest.skip("no C compiler installed")
    else:
        subprocess.run([cc, *warnings, str(kernels / "main.c"), *objects, "-o", program], check=True)
    assert subprocess.run([program], capture_output=True, text=True, check=True).stdout == PRINTED


def test_a_c_plus_plus_program_reads_the_headers(kernels):
    (kernels / "main.cc").write_text('#include "add.h"\n#include "scale.h"\nint f() { return add(0, 0, 0); }\n')
    options = ["c++", "-Wall", "-Wextra", "-Werror", "-c", str(kernels / "main.cc"), "-o", str(kernels / "main.o")]
    toolchain.run("zig", options)


def shown(path) -> set[str]:
    """The symbols that an object or a library defines for others."""
    table = toolchain.run("llvm-objdump", ["-T" if path.suffix == ".so" else "-t", str(path)])
    rows = [line.split() for line in table.splitlines() if re.match(r"[0-9a-f]{16} [gw]", line)]
    return {row[-1] for row in rows if "*UND*" not in row and ".hidden" not in row}


@pytest.mark.parametrize("driver", ["jit", "tools"])
def test_nothing_else_is_visible(tmp_path, driver):
    shared, obj, header = build(parse(NARROW), driver=driver).export(tmp_path / "narrow.so")
    assert shown(shared) == shown(obj) == {"narrow", "narrow_error"}
    assert "const float *A, uint16_t *B" in header.read_text()
    library = ctypes.CDLL(str(shared))
    x, y = np.linspace(-3, 3, 64, dtype=np.float32), np.zeros(64, np.uint16)
    assert library.narrow(x.ctypes.data_as(ctypes.c_void_p), y.ctypes.data_as(ctypes.c_void_p)) == 0
    np.testing.assert_allclose((y.astype(np.uint32) << 16).view(np.float32), x, rtol=2**-8)


@pytest.mark.parametrize("cpu", ["neon", "sve", "rvv", "wasm_simd"])
def test_objects_for_other_cpus(tmp_path, cpu):
    obj, header = build(parse(ADD), target=cpu, driver="object").export(tmp_path / "add.o")
    assert "int add(const float *A" in header.read_text()
    assert ("add_vectors_fit" in header.read_text()) == (cpu in ("sve", "rvv"))
    if cpu != "wasm_simd":
        assert shown(obj) == {"add", "add_error"}


def test_an_object_for_another_cpu_is_compiled_once(tmp_path, monkeypatch):
    compiled = []
    compiler = object_code._compile
    monkeypatch.setattr(object_code, "_compile", lambda *args: compiled.append(args) or compiler(*args))
    lib = build(parse(ADD), target="neon", driver="object")
    lib.export(tmp_path / "add.o")
    assert len(compiled) == 1


def test_objects_with_support_functions_are_linked_together(tmp_path):
    paths = [str(build(scheduled(NARROW)).export(tmp_path / f"narrow{n}.o")[0]) for n in range(2)]
    toolchain.run("zig", ["ld.lld", "-shared", *paths, "-o", str(tmp_path / "both.so")])
    assert ctypes.CDLL(str(tmp_path / "both.so")).narrow1


def test_the_files_of_each_suffix(tmp_path):
    lib = build(scheduled(ADD))
    for suffix, files in (
        (".so", ["f.so", "f.o", "f.h"]),
        (".o", ["f.o", "f.h"]),
        (".a", ["f.a", "f.h"]),
        (".h", ["f.h"]),
    ):
        folder = tmp_path / suffix[1:]
        assert [path.name for path in lib.export(folder / f"f{suffix}")] == files
        assert sorted(path.name for path in folder.iterdir()) == sorted(files)


def test_code_of_the_cache_is_exported(tmp_path, monkeypatch):
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path / "cache"))
    build(parse(ADD))
    again = build(parse(ADD))
    assert again.timing.cached
    assert ctypes.CDLL(str(again.export(tmp_path / "libadd.so")[0])).add


def test_parallel_loops_call_the_openmp_runtime(tmp_path):
    sch = scheduled(ADD)
    sch.parallel(sch.get_loops(sch.get_block("C"))[0])
    library = ctypes.CDLL(str(build(sch).export(tmp_path / "libadd.so")[0]))
    a, b, c = np.full((4, 8), 2, np.float32), np.full((4, 8), 3, np.float32), np.zeros((4, 8), np.float32)
    assert library.add(*(x.ctypes.data_as(ctypes.c_void_p) for x in (a, b, c))) == 0
    assert (c == 5).all()


def prototype(tmp_path, program, file="f.h", **options) -> str:
    header = build(program).export(tmp_path / file, **options)[-1].read_text()
    return next(line for line in header.splitlines() if line.startswith("int "))


def test_the_name_is_that_of_the_function_its_symbol_or_the_file(tmp_path):
    arguments = "(const float *A, const float *B, float *C);"
    assert prototype(tmp_path, parse(ADD)) == f"int add{arguments}"
    assert prototype(tmp_path, scheduled(ADD)) == f"int f{arguments}"
    assert prototype(tmp_path, scheduled(ADD), "libsum-1.h") == f"int sum_1{arguments}"
    assert prototype(tmp_path, scheduled(ADD), name="plus") == f"int plus{arguments}"
    named = ADD.replace("def add", "def main").replace(
        "    for i", '    T.func_attr({"global_symbol": "total"})\n    for i', 1
    )
    assert prototype(tmp_path, parse(named)) == f"int total{arguments}"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"path": "f.h", "name": "exp"}, r"would be called 'exp', which is a function of the C library.*name="),
        ({"path": "f.h", "name": "int"}, r"would be called 'int', which is not a name of a C function"),
        ({"path": "f.h", "name": "main"}, r"would be called 'main', which is not a name"),
        ({"path": "f.h", "name": "a b"}, r"would be called 'a b', which is not a name"),
        ({"path": "f.dll"}, r"f.dll has no suffix of a library for C; fix: one of .so"),
        ({"path": "f.wasm"}, r'f.wasm: this code is for another CPU; fix: build\(..., target="wasm_simd"\)'),
        ({"path": 3}, r"export takes a path, not 3"),
    ],
)
def test_what_cannot_be_exported_is_refused(tmp_path, monkeypatch, options, why):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BuildError, match=why):
        build(scheduled(ADD)).export(**options)
    assert list(tmp_path.iterdir()) == []


def test_a_name_is_for_one_function(tmp_path):
    module = parse("@I.ir_module\nclass Module:\n" + textwrap.indent(ADD + SCALE, "    "))
    with pytest.raises(BuildError, match=r"name='f': name= is for a library with one function; this one has 2"):
        build(module).export(tmp_path / "f.o", name="f")
    shared = build(module).export(tmp_path / "f.so")[0]
    assert shown(shared) == {"add", "add_error", "scale", "scale_error"}


SIZES = """
@T.prim_func
def sizes(a: T.handle, b: T.handle, flag: T.bool, k: T.int8):
    n, m, s = T.int64(), T.int64(), T.int64()
    A = T.match_buffer(a, (n, m), "int32", strides=(s, 1))
    B = T.match_buffer(b, (m - n,), "int32")
    T.assume(n <= m)
    T.assume(m % 4 == 0)
    for i, j in T.grid(n, m):
        with T.block("A"):
            vi, vj = T.axis.remap("SS", [i, j])
            A[vi, vj] = T.if_then_else(flag, T.cast(k, "int32"), 7)
    for i in range(m - n):
        with T.block("B"):
            vi = T.axis.spatial(m - n, i)
            B[vi] = T.cast(k, "int32")
"""


def test_sizes_strides_and_scalars(tmp_path):
    shared, _, header = build(parse(SIZES)).export(tmp_path / "libsizes.so")
    assert "int sizes(int64_t n, int64_t m, int64_t " in header.read_text()
    function = ctypes.CDLL(str(shared)).sizes
    why = ctypes.CDLL(str(shared)).sizes_error
    why.restype = ctypes.c_char_p
    function.argtypes = [ctypes.c_int64] * 3 + [ctypes.c_void_p] * 2 + [ctypes.c_bool, ctypes.c_int8]
    memory, b = np.zeros(64, np.int32), np.zeros(6, np.int32)
    a = memory[:20].reshape(2, 10)
    assert function(2, 8, 10, a.ctypes.data, b.ctypes.data, True, -3) == 0
    assert (a[:, :8] == -3).all() and (a[:, 8:] == 0).all() and (b == -3).all()
    assert function(2, 8, 10, a.ctypes.data, b.ctypes.data, False, -3) == 0 and a[1, 7] == 7
    for n, m, said in (
        (9, 8, b"sizes: B has a negative extent"),
        (2, 6, b"sizes: the sizes do not satisfy m % 4 == 0"),
    ):
        assert function(n, m, 10, a.ctypes.data, b.ctypes.data, True, 1) == -1 and why().startswith(said)
    assert function(2, 8, 10, a.ctypes.data + 2, b.ctypes.data, True, 1) == -1
    assert why() == b"sizes: A is not at a multiple of 4 bytes"
    assert function(2, 8, 10, a.ctypes.data, a.ctypes.data + 68, True, 1) == -1 and why() == b"sizes: A and B overlap"
    assert function(2, 8, 10, a.ctypes.data, a.ctypes.data + 72, True, 1) == 0  # behind the last row
