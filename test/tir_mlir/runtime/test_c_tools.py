"""C is compiled and linked by zig or by the tools of the system."""

import ctypes
import shutil

import pytest

from tir_mlir.runtime.tools import c_tools, toolchain

SOURCE = "int hidden(int x) { return x + 1; } int shown(int x) { return 2 * hidden(x); }"


@pytest.fixture(params=["zig", "cc"])
def tools(request, monkeypatch):
    """Each compiler that there may be."""
    if request.param == "cc":
        if not (shutil.which("cc") and shutil.which("ar")):
            pytest.skip("no C compiler of the system")
        found = toolchain._wheel_folder
        monkeypatch.setattr(toolchain, "_wheel_folder", lambda module: None if module == "ziglang" else found(module))
        monkeypatch.delenv("TIR_ZIG", raising=False)
    return request.param


def test_a_shared_library_shows_what_it_is_to(tools, tmp_path):
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text("int shown(int); int twice(int x) { return 2 * shown(x); }")
    objects = [str(tmp_path / f"{name}.o") for name in "ab"]
    for name in "ab":
        c_tools.compile_c(tmp_path / f"{name}.c", tmp_path / f"{name}.o")
    c_tools.merge(objects, tmp_path / "merged.o")
    c_tools.link_shared([str(tmp_path / "merged.o")], str(tmp_path / "made.so"), [], ["twice"])
    library = ctypes.CDLL(str(tmp_path / "made.so"))
    assert library.twice(3) == 16
    assert not hasattr(library, "shown")


def test_a_library_finds_those_that_it_needs(tools, tmp_path):
    (tmp_path / "place").mkdir()
    (tmp_path / "a.c").write_text(SOURCE)
    (tmp_path / "b.c").write_text("int shown(int); int twice(int x) { return 2 * shown(x); }")
    for name in "ab":
        c_tools.compile_c(tmp_path / f"{name}.c", tmp_path / f"{name}.o")
    first, second = str(tmp_path / "place" / "liba.so"), str(tmp_path / "b.so")
    c_tools.link_shared([str(tmp_path / "a.o")], first, [])
    c_tools.link_shared([str(tmp_path / "b.o")], second, [first])
    assert ctypes.CDLL(second).twice(3) == 16


def test_a_static_library_has_its_objects(tools, tmp_path):
    (tmp_path / "a.c").write_text(SOURCE)
    c_tools.compile_c(tmp_path / "a.c", tmp_path / "a.o")
    c_tools.archive([str(tmp_path / "a.o")], tmp_path / "liba.a")
    assert "shown" in toolchain.run("llvm-objdump", ["-t", str(tmp_path / "liba.a")])


def test_a_library_for_macos(monkeypatch, tmp_path):
    """As macOS links it: Mach-O, an install name by the rpath, a list of symbols."""
    commands = []
    monkeypatch.setattr(c_tools.sys, "platform", "darwin")
    monkeypatch.setattr(toolchain, "run", lambda name, args: commands.append((name, args)))
    target = str(tmp_path / "made.so")
    c_tools.link_shared(["a.o"], target, [str(tmp_path / "libomp.dylib")], ["main"])
    ((name, args),) = commands
    assert (name, args[:2]) == ("zig", ["cc", "-dynamiclib"])
    assert args[2:4] == ["-Wl,-install_name,@rpath/made.so", f"-Wl,-rpath,{tmp_path}"]
    assert (tmp_path / "made.so.symbols").read_text() == "_main\n"
