"""`relax.build` and `relax.VirtualMachine`: a module of graphs as native code, one function for each graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import zip_longest
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.compat.ndarray import Device, NDArray, memory_of, wrap_array
from tir_mlir.compat.runtime import BenchmarkResult, Module, Target, TargetLike, time_function
from tir_mlir.compat.runtime import build as build_library
from tir_mlir.dialect.diagnostics import ArgumentError, GraphError, short_repr
from tir_mlir.dialect.graph import tensor_func
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.build_model import build_model
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.inline_graphs import inlined_groups
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.script.printer.graphs import WEIGHTS

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

Argument: TypeAlias = "NDArray | ArrayLike"
Params: TypeAlias = "Mapping[str, Argument]"
Results: TypeAlias = "NDArray | list[NDArray]"


class Executable:
    """What `relax.build` returns. `ex.models` are the compiled graphs by name."""

    def __init__(self, module: IRModule, target: str, threads: int | None = None):
        names = [n for n, f in module.graphs.items() if not f.attrs.get("Primitive")]
        if not names:
            raise GraphError("the module has no graph; fix: a function with @R.function, or tvm.build for programs")
        self.module, self.target = module, target
        inlined = _without_composites(module, names[0])
        self.models: dict[str, Model] = {
            name: build_model(Graph(inlined, name=name), target, threads=threads) for name in names
        }

    def returns_tuple(self, name: str) -> bool:
        """Whether a graph returns a tuple, also one of a single result."""
        with enter_context():
            return tensor_func(self.module.mlir, name).returns_tuple

    def stats(self) -> str:
        """The compiled functions, a line each."""
        return "\n".join(repr(model) for model in self.models.values())

    @property
    def mod(self) -> Executable:
        """The executable itself."""
        return self

    def export_library(self, file_name: object, **_: object) -> None:
        """Not supported. Errors: GraphError with the way to write a model as a library."""
        raise GraphError(
            f"an executable of graphs is not written to {short_repr(str(file_name))}; fix: "
            f'ex.models["{next(iter(self.models))}"].export(folder) writes a C library with its header and weights'
        )

    def jit(self, **_: object) -> Executable:
        """The executable itself: it is compiled."""
        return self


def _without_composites(module: IRModule, name: str) -> IRModule:
    """The module with the functions of FuseOpsByPattern instead of their calls: how to fuse is chosen anew."""
    if not any("Composite" in func.attrs for func in module.graphs.values()):
        return module
    return inlined_groups(Graph(module, name=name)).module


def build(
    mod: IRModule | Function, target: TargetLike | None = None, params: Params | None = None, **_: object
) -> Executable:
    """Compile a module of graphs for the CPU. Parameters with names of `params` are those arrays."""
    resolved = Target(target) if target is not None else Target.current() or Target("llvm")
    return Executable(bound_module(mod, params), resolved.kind)


def bound_module(mod: IRModule | Function, params: Params | None = None) -> IRModule:
    """The module of a module or a graph, with arrays for parameters of `main`; weights without arrays are inputs."""
    from tir_mlir.compat.relax.transforms import BindParams

    module = IRModule({mod.name: mod}) if isinstance(mod, Function) else mod
    if not isinstance(module, IRModule):
        raise GraphError(f"relax.build takes an IRModule, not {short_repr(mod)}")
    return _with_inputs(BindParams("main", params)(module) if params else module)


def compile_module(
    mod: IRModule | Function | PrimFunc, target: TargetLike | None = None, params: Params | None = None, **_: object
) -> Executable | Module:
    """`tvm.compile`: of a module with graphs an Executable, else a module of programs."""
    if isinstance(mod, Function) or (isinstance(mod, IRModule) and mod.graphs):
        return build(mod, target, params)
    return build_library(mod, target)


def _with_inputs(module: IRModule) -> IRModule:
    """Weights, whose arrays a module does not have, are inputs like the others."""
    named = {n: f.without_attr(WEIGHTS) for n, f in module.graphs.items() if WEIGHTS in f.attrs}
    if named:
        module = module.clone()
        module.update(named)
    return module


class VirtualMachine:
    """Runs an executable: `VirtualMachine(ex, tvm.cpu())["main"](x)` returns an NDArray, or a list of them."""

    def __init__(self, rt_mod: Executable, device: Device | list[Device] | None = None, **_: object):
        if not isinstance(rt_mod, Executable):
            raise GraphError(f"a VirtualMachine runs what relax.build returns, not {short_repr(rt_mod)}")
        self.executable, self.device = rt_mod, device
        self._inputs: dict[str, tuple[Argument, ...]] = {}
        self._outputs: dict[str, Results] = {}
        self._saved: dict[str, Callable[..., Results]] = {}

    def __getitem__(self, name: str) -> Callable[..., Results]:
        if name in self._saved:
            return self._saved[name]
        models = self.executable.models
        if name not in models:
            raise KeyError(f"no function {short_repr(name)}; there are {', '.join(models)}")
        model = models[name]
        types = [type_.dtype for _, type_ in model.plan.inputs]
        unit = len(model.plan.outputs) == 1 and self.executable.returns_tuple(name)

        def run(*args: Argument) -> Results:
            outputs = model(*(_argument(a, dtype) for a, dtype in zip_longest(args, types[: len(args)])))
            return (
                [wrap_array(m) for m in outputs]
                if isinstance(outputs, tuple)
                else [wrap_array(outputs)]
                if unit
                else wrap_array(outputs)
            )

        return run

    get_function = __getitem__

    @property
    def module(self) -> VirtualMachine:
        """The machine itself: `vm.module["main"](x)`, `vm.module.time_evaluator("main", tvm.cpu())(x)`."""
        return self

    def save_function(self, func_name: str, saved_name: str, *args: Argument, **_: object) -> None:
        """Keep a call with its arguments: `vm[saved_name]()` runs it."""
        run = self[func_name]
        self._saved[saved_name] = lambda: run(*args)

    def set_input(self, func_name: str, *args: Argument, **named: Argument) -> None:
        """Keep the arguments of the next `invoke_stateful`."""
        model = self.executable.models[func_name]
        self._inputs[func_name] = model._order_arguments(args, named)

    def invoke_stateful(self, func_name: str) -> None:
        """Run a function on the arguments that were set."""
        if func_name not in self._inputs:
            raise ArgumentError(f'there are no arguments; fix: vm.set_input("{func_name}", ...)')
        self._outputs[func_name] = self[func_name](*self._inputs[func_name])

    def get_outputs(self, func_name: str) -> Results:
        """What the last `invoke_stateful` returned."""
        return self._outputs[func_name]

    def time_evaluator(
        self, func_name: str, dev: Device | None = None, number: int = 10, repeat: int = 1, **_: object
    ) -> Callable[..., BenchmarkResult]:
        """A callable that runs a function `number` times after one run to warm up, `repeat` times over."""
        model = self.executable.models[func_name]
        return lambda *args: time_function(model, tuple(_argument(a, None) for a in args), {}, number, repeat)


def _argument(value: Argument, dtype: str | None) -> np.ndarray:
    """The array of an argument; a number of Python takes the type of the parameter, if that can hold it.

    Errors: ArgumentError for a fraction where the parameter is an integer.
    """
    if not isinstance(value, (bool, int, float)) or dtype is None:
        return memory_of(value) if isinstance(value, NDArray) else np.asarray(value)
    if isinstance(value, float) and "float" not in dtype:
        raise ArgumentError(f"an argument is {value}, and the parameter is {dtype}; fix: int({value})")
    return np.asarray(value, dtype)
