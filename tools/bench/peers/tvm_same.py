"""TVM, if installed: the scheduled program printed as TVMScript and compiled by TVM."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from contest import Contestant


def missing() -> str | None:
    found = importlib.util.find_spec("tvm")
    if found is not None and found.origin == "tir_mlir.compat":
        return "the module name tvm is an alias of tir_mlir in this process"
    return None if found else "TVM is not installed: pip install apache-tvm"


def set_threads(number: int) -> None:
    tvm = _tvm()
    configure = tvm.get_global_func("runtime.config_threadpool", allow_missing=True)
    if configure is not None:
        configure(1, number)  # 1: any cores, up to `number`


def describe() -> str:
    return f"TVM {_tvm().__version__}"


def program(text: str, inputs: Sequence[np.ndarray], output: np.ndarray) -> Contestant:
    """Compile `main` of a TVMScript text in the newer spelling; its last parameter is the output."""
    tvm = _tvm()
    text = text.replace("from tvm.script import tir as T", "from tvm.script import tirx as T")
    main = tvm.compile(tvm.script.from_source(text), target=_target())["main"]
    arguments = [tvm.runtime.tensor(array) for array in (*inputs, output)]
    return Contestant(lambda: main(*arguments), arguments[-1].numpy)


def _target() -> Any:
    tvm = _tvm()
    cpu = tvm.get_global_func("target.llvm_get_system_cpu", allow_missing=True)
    return tvm.target.Target({"kind": "llvm", **({"mcpu": cpu()} if cpu is not None else {})})


@functools.cache
def _tvm() -> Any:
    return importlib.import_module("tvm")
