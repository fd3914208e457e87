"""Compile C, link and archive: by zig's tools, else by those of the system."""

from __future__ import annotations

import re
import shutil
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.runtime.tools.toolchain import MissingTool


def require(purpose: str, *others: str) -> None:
    """Raise MissingTool, which names `purpose` and the command that installs what lacks, unless there are a C compiler
    and the other tools."""
    toolchain.require((*others, *(() if _system() else ("zig",))), purpose)


def compile_c(source: str | Path, result: str | Path, *options: str) -> None:
    """A C file -> an object file for this machine, position-independent. Raises ToolError."""
    _run("cc", "-c", "-O2", "-fPIC", "-fno-sanitize=all", *options, str(source), "-o", str(result))


def archive(objects: Sequence[str], result: str | Path) -> None:
    """Object files -> a static library. Raises ToolError."""
    _run("ar", "rcs", str(result), *objects)


def merge(objects: Sequence[str], result: str | Path) -> None:
    """Object files -> one object file. Raises ToolError."""
    if _system():
        toolchain.run("cc", ["-r", "-nostdlib", *objects, "-o", str(result)])
    elif _on_mac():
        toolchain.run("zig", ["cc", "-r", "-nostdlib", *objects, "-o", str(result)])
    else:
        toolchain.run("zig", ["ld.lld", "-r", *objects, "-o", str(result)])


def link_shared(
    objects: Sequence[str],
    target: str,
    libs: Sequence[str],
    exported: Sequence[str] | None = None,
    siblings: Collection[str] = (),
) -> None:
    """Object files and shared libraries -> a shared library with an rpath to the libraries. exported: the functions
    that others see; None: all that the objects show. siblings: the libraries of which a copy goes where the result
    goes.
    Raises ToolError."""
    folders = _folders(libs, siblings)
    if _on_mac():
        _run("cc", *_mac_options(target, folders, exported), *objects, *libs, "-o", target)
        return
    options = ["-shared", *_version_script(target, exported), *objects, *libs]
    paths = [f"-rpath={folder}" for folder in folders]
    if _system():
        # libraries before --as-needed are needed, whatever the compiler's default is
        passed = [f"-Wl,{option}" for option in ("--no-as-needed", *paths)]
        toolchain.run(
            "cc", [*passed, *(_linker_option(option) for option in options), "-Wl,--as-needed", "-lm", "-o", target]
        )
        return
    # ld.lld directly: `zig cc` would first build a C library, which takes half a minute
    system = [str(lib) for lib in system_libraries()]
    toolchain.run("zig", ["ld.lld", *options, *paths, "--as-needed", *system, "-o", target])


def _folders(libs: Sequence[str], siblings: Collection[str]) -> list[str]:
    """Where a loader finds libraries."""
    own = "@loader_path" if _on_mac() else "$ORIGIN"
    return list(dict.fromkeys(own if lib in siblings else str(Path(lib).resolve().parent) for lib in libs))


def link_program(objects: Sequence[str], target: str, libs: Sequence[str], siblings: Collection[str] = ()) -> None:
    """Object files, one of which has `main`, and shared libraries -> a program with an rpath to the libraries,
    `siblings` as for `link_shared`. Raises ToolError."""
    folders = _folders(libs, siblings)
    loader = None if _system() or _on_mac() else _loader()
    if loader is None:  # the compiler knows how programs start
        _run("cc", *objects, *libs, *(f"-Wl,-rpath,{folder}" for folder in folders), "-lm", "-o", target)
        return
    with files.folder() as temporary:
        source, start = Path(temporary, "start.c"), str(Path(temporary, "start.o"))
        source.write_text(_START)
        compile_c(source, start)
        system = [str(lib) for lib in system_libraries()]
        options = [*(f"-rpath={folder}" for folder in folders), "--as-needed", "-dynamic-linker", loader]
        toolchain.run("zig", ["ld.lld", start, *objects, *libs, *options, *system, "-o", target])


_START = """\
#if defined(__x86_64__)
__asm__(".globl _start\\n_start: xor %ebp, %ebp\\n mov (%rsp), %rdi\\n lea 8(%rsp), %rsi\\n"
        "and $-16, %rsp\\n call begin");
#elif defined(__aarch64__)
__asm__(".globl _start\\n_start: ldr x0, [sp]\\n add x1, sp, #8\\n bl begin");
#elif defined(__riscv)
__asm__(".globl _start\\n_start: ld a0, 0(sp)\\n addi a1, sp, 8\\n call begin");
#endif
int main(int, char **);
void exit(int);
void begin(long count, char **words) { exit(main((int)count, words)); }
"""
"""What a C library starts a program with: that of this machine may have no files for linkers, and `zig cc` would build
one first, for a minute."""


def _loader() -> str | None:
    """What this process was started by (Linux): the dynamic linker of its C library."""
    loaders = re.findall(r"/\S+/ld-(?:linux|musl)\S+", Path("/proc/self/maps").read_text())
    return next(iter(loaders), None)


def system_libraries() -> list[Path]:
    """The C and math libraries that this process runs on (Linux)."""
    maps = Path("/proc/self/maps").read_text()
    libraries = {name: path for path, name in re.findall(r"(/\S+/(libc|libm)\.so\.\d+)$", maps, re.MULTILINE)}
    return [Path(path) for path in libraries.values()]


def _version_script(target: str, exported: Sequence[str] | None) -> list[str]:
    if exported is None:
        return []
    script = Path(f"{target}.version")
    script.write_text(f"{{ global: {'; '.join(exported)}; local: *; }};")
    return [f"--version-script={script}"]


def _linker_option(option: str) -> str:
    """An option of the linker, as the compiler passes it on."""
    return f"-Wl,{option}" if option.startswith("--") else option


def _mac_options(target: str, folders: Sequence[str], exported: Sequence[str] | None) -> list[str]:
    """For a Mach-O library, found by the rpath of what links it."""
    options = ["-dynamiclib", f"-Wl,-install_name,@rpath/{Path(target).name}"]
    options += [f"-Wl,-rpath,{folder}" for folder in folders]
    if exported is not None:
        symbols = Path(f"{target}.symbols")
        symbols.write_text("".join(f"_{name}\n" for name in exported))
        options.append(f"-Wl,-exported_symbols_list,{symbols}")
    return options


def _run(tool: str, *args: str) -> None:
    """Run the system's tool, or the one of this name in zig."""
    if _system():
        toolchain.run(tool, args)
    else:
        toolchain.run("zig", [tool, *args])


def _system() -> bool:
    """Whether the system's tools are used: zig is not installed, and they are."""
    try:
        toolchain.find("zig")
    except MissingTool:
        return all(shutil.which(tool) for tool in ("cc", "ar"))
    return False


def _on_mac() -> bool:
    return sys.platform == "darwin"
