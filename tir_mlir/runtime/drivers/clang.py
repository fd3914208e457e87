"""Compile C and C++ kernels to LLVM IR, with the clang of the zig wheel."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.processes import Completed, status
from tir_mlir.runtime.cache.store import cached_text
from tir_mlir.runtime.tools import files, toolchain
from tir_mlir.target import Target, assumed_cpu, chosen
from tir_mlir.target.host import cpu_features

# without these, zig adds sanitizers and stack protection
_FLAGS = (
    "-S",
    "-emit-llvm",
    "-O3",
    "-g0",
    "-fno-sanitize=all",
    "-fno-stack-protector",
    "-fno-unwind-tables",
    "-fno-asynchronous-unwind-tables",
    "-Wno-unused-command-line-argument",
)

# attributes that pin the CPU; the module that a kernel is linked into decides these
_TARGET = re.compile(
    r' "(?:target-cpu|target-features|tune-cpu|frame-pointer|stack-protector-buffer-size|min-legal-vector-width)"'
    r'="[^"]*"'
)


def create_llvm(
    source: str | Sequence[str],
    output: str | Path | None = None,
    options: Sequence[str] | str | None = None,
    target: Target | str | None = None,
) -> str:
    """Compile C or C++ to LLVM IR text. `source`: source text, or the path of a file.

    output: also write the LLVM IR to this file. options: more clang options, a list or one string. target: the CPU that
    the program will be built for, default this machine; its vector functions (`arm_neon.h`, `riscv_vector.h`,
    `wasm_simd128.h`) may be used.
    Text with `extern "C"` is compiled as C++, other text as C; files by their suffix.
    Raises BuildError with clang's messages.
    """
    if not isinstance(source, str):
        if not isinstance(source, (list, tuple)) or not all(isinstance(part, str) for part in source):
            raise BuildError(f"create_llvm takes source text or the path of a file, not {type(source).__name__}")
        if len(source) != 1:
            raise BuildError(f"create_llvm: {len(source)} sources were given; pass one source text")
        source = source[0]
    source, language = _read(source)
    extra = options.split() if isinstance(options, str) else list(options or ())
    cpu = chosen(target)
    extra = [*(_for_target(cpu) if cpu.triple else _for_host(cpu)), *extra]
    key = [source, language, *_FLAGS, *extra, _host()]
    text = cached_text("c", key, lambda: _compile(source, language, extra))
    if output is not None:
        files.write_whole({Path(output): text.encode()})
    return text


def _for_target(cpu: Target) -> list[str]:
    """Options for another CPU. The parts of a triple that the compiler knows: `aarch64-linux-gnu`."""
    arch, *system = cpu.triple.split("-")
    os_part = "-".join(["freestanding"] if cpu.arch == "wasm32" else system[1:])
    return ["-target", f"{arch}-{os_part}", *_feature_options(cpu)]


def _for_host(cpu: Target) -> list[str]:
    return ["-march=native"] if assumed_cpu() is None else _feature_options(cpu)


def _feature_options(cpu: Target) -> list[str]:
    features = cpu.llvm_features.split(",") if cpu.features else []
    return [word for feature in features for word in (*_FEATURE, feature)]


_FEATURE = ("-Xclang", "-target-feature", "-Xclang")


def without_target(text: str) -> str:
    """Remove the function attributes that name a CPU: they prevent inlining of the kernel."""
    return _TARGET.sub("", text)


def _read(source: str) -> tuple[str, str]:
    if "\n" in source or "{" in source:
        return source, "cc" if re.search(r'extern\s+"C"', source) else "c"
    text = files.text_of(source)
    if text is None:
        raise BuildError(f"create_llvm: {short_repr(source)} is neither C source (it has no braces) nor a file")
    return text, "c" if Path(source).suffix == ".c" else "cc"


def _host() -> str:
    """Fingerprint of the compiler and of -march=native, for caches shared between machines."""
    path = toolchain.find("zig", "create_llvm").path
    stat = os.stat(path)
    return f"{path} {stat.st_size} {stat.st_mtime_ns} {cpu_features()}"


def _compile(source: str, language: str, options: Sequence[str]) -> str:
    driver = "c++" if language == "cc" else "cc"
    with files.folder() as folder:
        path, result = Path(folder, f"kernel.{language}"), Path(folder, "kernel.ll")
        files.write_whole({path: source.encode()})
        done = toolchain.attempt("zig", [driver, *_FLAGS, *options, str(path), "-o", str(result)])
        if done.returncode != 0 or not result.exists():
            raise BuildError("create_llvm: the C compiler failed:\n" + _messages(done, folder))
        return without_target(result.read_text())


def _messages(done: Completed, folder: str) -> str:
    lines = [line.replace(folder + "/", "") for line in done.stderr.splitlines() if not line.startswith("zig: warning")]
    return "\n".join(lines) or f"no message, {status(done.returncode)}"
