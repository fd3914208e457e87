"""The import hook that serves `tvm` and its submodules, and the table of the names that they have."""

from __future__ import annotations

import functools
import importlib
import importlib.abc
import importlib.machinery
import sys
import types
from collections.abc import Sequence

from tir_mlir.compat.absent_modules import AbsentModule, NotInCompat, refusal
from tir_mlir.dialect.diagnostics import TirError

_RUNTIME = "tir_mlir.compat.runtime"
_NDARRAY = "tir_mlir.compat.ndarray"
_ERRORS = "tir_mlir.dialect.diagnostics.errors"
_CONSTANTS = "tir_mlir.compat.constants"
_EQUALITY = "tir_mlir.compat.equality"
_TESTING = "tir_mlir.compat.testing"
_TRACE = "tir_mlir.compat.trace"
_GLOBAL = "tir_mlir.compat.global_functions"
_SEARCH = "tir_mlir.compat.meta_schedule"
_GRAPHS = "tir_mlir.graph.expressions"
_PATTERNS = "tir_mlir.graph.rewrite"
_RELAX = "tir_mlir.compat.relax"

_devices = {
    **{name: f"{_NDARRAY}:{name}" for name in ("cpu", "cuda", "opencl", "device", "Device")},
    "gpu": f"{_NDARRAY}:cuda",
}
_arrays = {
    "array": f"{_NDARRAY}:array",
    "tensor": f"{_NDARRAY}:array",
    "empty": f"{_NDARRAY}:empty",
    "NDArray": f"{_NDARRAY}:NDArray",
    "Tensor": f"{_NDARRAY}:NDArray",
}
_globals = {
    "register_func": f"{_GLOBAL}:register_func",
    "register_global_func": f"{_GLOBAL}:register_func",
    "get_global_func": f"{_GLOBAL}:get_global_func",
}
_schedule = {
    "Schedule": "tir_mlir.schedule:Schedule",
    "ScheduleError": f"{_ERRORS}:ScheduleError",
    "BlockRV": f"{_TRACE}:BlockRV",
    "SBlockRV": f"{_TRACE}:BlockRV",
    "LoopRV": f"{_TRACE}:LoopRV",
    "Trace": "tir_mlir.schedule:Trace",
    "ExprRV": f"{_TRACE}:ExprRV",
    "Instruction": f"{_TRACE}:Instruction",
    "InstructionKind": "tir_mlir.schedule.trace.instruction:InstructionKind",
}
_schedule_testing = {
    "verify_trace_roundtrip": "tir_mlir.testing:verify_trace_roundtrip",
    "assert_structural_equal_ignore_global_symbol": f"{_EQUALITY}:assert_structural_equal_ignore_global_symbol",
}

_search = {name: f"{_SEARCH}:{name}" for name in ("ScheduleFn", "TuneConfig", "tune_tir")}
_search_graphs = {name: f"tir_mlir.compat.relax.tuning:{name}" for name in ("compile_relax", "tune_relax")}
_search_modules = {
    "": {**_search, "Schedule": "tir_mlir.schedule:Schedule", "tune_relax": _search_graphs["tune_relax"]},
    ".relax_integration": _search_graphs,
    ".database": {"JSONDatabase": f"{_SEARCH}:JSONDatabase"},
    ".space_generator": {"ScheduleFn": f"{_SEARCH}:ScheduleFn"},
    ".tir_integration": {"compile_tir": f"{_SEARCH}:compile_tir", "tune_tir": f"{_SEARCH}:tune_tir"},
    ".tune": {"TuneConfig": f"{_SEARCH}:TuneConfig", "tune_tir": f"{_SEARCH}:tune_tir"},
}

# functions on expressions, shared by te and tir
_words = (
    "Select abs acos acosh add all any asin asinh atan atan2 atanh bitwise_not cast ceil ceildiv clz copysign cos cosh "
    "div erf exp exp2 fabs floor floordiv floormod fma if_then_else indexdiv indexmod infinity isfinite isinf isnan "
    "likely log log10 log1p log2 max_value min_value multiply nearbyint popcount pow power round rsqrt sigmoid sin "
    "sinh sqrt subtract tan tanh trunc truncdiv truncmod comm_reducer max min sum"
).split()
_expressions = {name: f"tir_mlir.te:{name}" for name in _words}
_te_names = (
    "ComputeOp Expr IterVar PlaceholderOp Reducer Tensor Var compute create_prim_func placeholder prod reduce_axis "
    "size_var var"
).split()
_te = {name: f"tir_mlir.te:{name}" for name in _te_names}

_testing_words = (
    "main parameter parameters fixture requires_llvm requires_gpu requires_package CompareBeforeAfter".split()
)

_programs = {
    "PrimFunc": "tir_mlir.script.module:PrimFunc",
    "TensorIntrin": "tir_mlir.intrin:TensorIntrin",
    "IRModule": "tir_mlir.script.module:IRModule",
    "IndexMap": "tir_mlir.dialect.index_maps.index_map:IndexMap",
    "IntImm": f"{_CONSTANTS}:IntImm",
    "FloatImm": f"{_CONSTANTS}:FloatImm",
    "const": f"{_CONSTANTS}:const",
    "ForKind": f"{_CONSTANTS}:ForKind",
    "Var": "tir_mlir.te:Var",
    "SizeVar": "tir_mlir.te:Var",
    "Cast": "tir_mlir.compat.constants:Cast",
    **_expressions,
}
_script = {
    "ir_module": "tir_mlir.script.ir:ir_module",
    "ir": "tir_mlir.script.ir",
    "tir": "tir_mlir.script.tir",
    "tirx": "tir_mlir.script.tir",
    "relax": "tir_mlir.graph.script",
    "te": "tir_mlir.te",
    "from_source": "tir_mlir.compat.from_source:from_source",
    "parse": "tir_mlir.compat.from_source:from_source",
}

_relax_words = (
    "BindingBlock Call Constant DataflowBlock DataflowVar DynTensorType Expr ExternFunc Function GlobalVar "
    "ObjectStructInfo PrimStructInfo PrimValue SeqExpr ShapeExpr ShapeStructInfo StructInfo TensorStructInfo Tuple "
    "TupleGetItem TupleStructInfo Var VarBinding const prim_value"
).split()
# the newer names of what is known of a value
_types = {
    "Type": f"{_GRAPHS}:StructInfo",
    "AnyType": f"{_GRAPHS}:ObjectStructInfo",
    "ObjectType": f"{_GRAPHS}:ObjectStructInfo",
    "PrimType": f"{_GRAPHS}:PrimStructInfo",
    "ShapeType": f"{_GRAPHS}:ShapeStructInfo",
    "TensorType": f"{_GRAPHS}:TensorStructInfo",
    "TupleType": f"{_GRAPHS}:TupleStructInfo",
}
_relax_expressions = {**{name: f"{_GRAPHS}:{name}" for name in _relax_words}, **_types}
_functors = {name: f"{_GRAPHS}:{name}" for name in ("PyExprMutator", "PyExprVisitor", "mutator", "visitor")}
_module = {
    "IRModule": "tir_mlir.script.module:IRModule",
    "GlobalVar": f"{_GRAPHS}:GlobalVar",
    "Op": f"{_GRAPHS}:Op",
    "structural_equal": f"{_EQUALITY}:structural_equal",
    "structural_hash": f"{_EQUALITY}:structural_hash",
    "assert_structural_equal": f"{_EQUALITY}:assert_structural_equal",
    "load_text": "tir_mlir.script.module:IRModule.from_mlir",
    "PrimType": _types["PrimType"],
    "TupleType": _types["TupleType"],
    "Type": _types["Type"],
    "IntImm": f"{_CONSTANTS}:IntImm",
    "FloatImm": f"{_CONSTANTS}:FloatImm",
}
_block_builder = {"BlockBuilder": f"{_GRAPHS}:BlockBuilder"}
_layer_words = "LogSoftmax Linear Module Parameter Placeholder ReLU Sequential emit emit_te init_params".split()
_layers = {name: f"{_RELAX}.testing_nn:{name}" for name in _layer_words}
_machine = {name: f"{_RELAX}.virtual_machine:{name}" for name in ("build", "VirtualMachine", "Executable")}
_pass_names = "Pass PassContext PassInfo Sequential function_pass module_pass".split()
_passes = {name: f"{_RELAX}.passes:{name}" for name in _pass_names}
_transform_names = (
    "AnnotateTIROpPattern BindParams BindSymbolicVars CanonicalizeBindings DeadCodeElimination "
    "DecomposeOpsForInference FuseOps FuseTIR LegalizeOps Normalize"
).split()
_search_passes = "MetaScheduleApplyDatabase MetaScheduleTuneIRMod MetaScheduleTuneTIR".split()
_transforms = {
    **{name: f"{_RELAX}.transforms:{name}" for name in _transform_names},
    **{name: f"{_RELAX}.tuning:{name}" for name in _search_passes},
    "FoldConstant": f"{_RELAX}.transforms:FoldConstant",
    **{n: f"{_RELAX}.fuse_by_pattern:{n}" for n in ("FuseOpsByPattern", "FusionPattern", "PatternCheckContext")},
}
_known_patterns = {
    name: f"{_RELAX}.fuse_by_pattern:{name}"
    for name in ("get_pattern", "get_patterns_with_prefix", "register_patterns")
}
_pipelines = {
    name: f"{_RELAX}.tuning:{name}" for name in ("get_pipeline", "static_shape_tuning_pipeline", "zero_pipeline")
}
_pattern_names = (
    "CallPattern DFPattern is_call_dps_packed is_call_tir is_const is_dfv is_expr is_gv is_op is_shape is_tuple "
    "is_tuple_get_item is_var make_fused_bias_activation_pattern wildcard"
).split()
_patterns = {
    **{name: f"{_PATTERNS}:{name}" for name in _pattern_names},
    **{name: f"{_GRAPHS}:{name}" for name in ("PatternContext", "rewrite_bindings", "rewrite_call")},
}
_from_fx = {
    "from_fx": f"{_RELAX}.torch_frontend:from_fx",
    "from_exported_program": f"{_RELAX}.torch_frontend:from_exported_program",
}
_relax = {
    **_relax_expressions,
    **_block_builder,
    **_machine,
    "get_pipeline": _pipelines["get_pipeline"],
    "PyExprMutator": f"{_GRAPHS}:PyExprMutator",
    "PyExprVisitor": f"{_GRAPHS}:PyExprVisitor",
    "op": f"{_RELAX}.operators",
    "nn": f"{_RELAX}.operators:nn",
    "call_tir": f"{_GRAPHS}.operator_calls:call_tir",
}
_graph_modules: dict[str, dict[str, str]] = {
    "tvm.relax": _relax,
    "tvm.relax.expr": _relax_expressions,
    "tvm.relax.struct_info": {name: where for name, where in _relax_expressions.items() if "StructInfo" in name},
    "tvm.relax.type": _types,
    "tvm.relax.expr_functor": _functors,
    "tvm.relax.block_builder": _block_builder,
    "tvm.relax.analysis": {
        "remove_all_unused": f"{_GRAPHS}:remove_all_unused",
        "get_var2val": f"{_GRAPHS}:var_values",
        "well_formed": f"{_RELAX}.analysis:well_formed",
        "post_order_visit": f"{_RELAX}.analysis:post_order_visit",
    },
    "tvm.relax.dpl": _patterns,
    "tvm.relax.dpl.pattern": _patterns,
    "tvm.relax.dpl.rewrite": _patterns,
    "tvm.relax.dpl.context": _patterns,
    "tvm.relax.transform": {**_transforms, "function_pass": f"{_RELAX}.passes:function_pass"},
    "tvm.relax.pipeline": _pipelines,
    "tvm.relax.backend": _known_patterns,
    "tvm.relax.backend.pattern_registry": _known_patterns,
    "tvm.relax.vm": _machine,
    "tvm.relax.vm_build": _machine,
    "tvm.relax.testing": _layers,
    "tvm.relax.testing.nn": _layers,
    "tvm.relax.frontend": {"detach_params": f"{_RELAX}.torch_frontend:detach_params"},
    "tvm.relax.frontend.torch": _from_fx,
    "tvm.transform": _passes,
    "tvm.ir.transform": _passes,
    "tvm.ir.op": {"Op": f"{_GRAPHS}:Op"},
}

_WMMA_SCOPES = ("", "_DYN", "_GLOBAL"), ("_SHARED", "_SHARED_DYN", "_GLOBAL")
_wmma_words = (
    *(f"LOAD_16x16x16_F16_{m}{t}{scope}" for m in "AB" for t in ("", "_TRANS") for scope in _WMMA_SCOPES[0]),
    *(f"STORE_16x16x16_{sums}{scope}" for sums in ("F16", "F32") for scope in _WMMA_SCOPES[1]),
    *(f"FILL_16x16x16_{sums}" for sums in ("F16", "F32")),
    *(f"SYNC_16x16x16_f16f16{sums}{t}" for sums in ("f16", "f32") for t in ("", "_TRANS")),
)
_tensor_cores = {
    "get_wmma_intrin_group": "tir_mlir.intrin.wmma:get_wmma_intrin_group",
    **{f"WMMA_{word}_INTRIN": f"tir_mlir.intrin.wmma:WMMA_{word}_INTRIN" for word in _wmma_words},
}

MODULES: dict[str, dict[str, str]] = {
    **_graph_modules,
    "tvm": {
        "IRModule": "tir_mlir.script.module:IRModule",
        "build": f"{_RUNTIME}:build",
        "compile": f"{_RELAX}.virtual_machine:compile_module",
        "topi": "tir_mlir.topi",
        "TVMError": f"{_ERRORS}:TirError",
        "DataType": f"{_CONSTANTS}:DataType",
        "__version__": f"{_RUNTIME}:VERSION",
        **_globals,
        **_devices,
    },
    "tvm.script": _script,
    "tvm.script.parser": _script,
    "tvm.ir": _module,
    "tvm.ir.module": {"IRModule": "tir_mlir.script.module:IRModule"},
    "tvm.error": {"TVMError": f"{_ERRORS}:TirError"},
    "tvm.te": {**_te, **_expressions},
    # newer TVM splits tvm.tir into tvm.s_tir (schedules) and tvm.tirx (programs)
    "tvm.tir": {**_programs, **_schedule, "build": f"{_RUNTIME}:build"},
    "tvm.tirx": {**_programs, "build": f"{_RUNTIME}:build"},
    "tvm.s_tir": {**_programs, **_schedule},
    **{
        f"tvm.{package}.{module}": names
        for package in ("tir", "s_tir")
        for module, names in {
            "schedule": _schedule,
            "schedule.schedule": _schedule,
            "schedule.trace": _schedule,
            "schedule.instruction": _schedule,
            "schedule.testing": _schedule_testing,
        }.items()
    },
    **{f"tvm.{package}.tensor_intrin": {} for package in ("tir", "s_tir")},
    **{f"tvm.{package}.tensor_intrin.cuda": _tensor_cores for package in ("tir", "s_tir")},
    **{f"tvm.{package}meta_schedule{n}": names for package in ("", "s_tir.") for n, names in _search_modules.items()},
    **{f"tvm.{package}.function": _programs for package in ("tir", "s_tir", "tirx")},
    "tvm.ffi": {**_globals, "remove_global_func": f"{_GLOBAL}:remove_global_func"},
    "tvm._ffi": {
        **_globals,
        "remove_global_func": f"{_GLOBAL}:remove_global_func",
        "list_global_func_names": f"{_GLOBAL}:list_global_func_names",
    },
    "tvm.nd": {**_arrays, **_devices},
    "tvm.runtime": {"Module": f"{_RUNTIME}:Module", "DataType": f"{_CONSTANTS}:DataType", **_arrays, **_devices},
    "tvm.runtime.ndarray": {**_arrays, **_devices},
    "tvm.target": {"Target": f"{_RUNTIME}:Target"},
    "tvm.testing": {
        "assert_allclose": f"{_RUNTIME}:assert_allclose",
        **{word: f"{_TESTING}:{word}" for word in _testing_words},
        "requires_cuda": f"{_TESTING}:requires_gpu",
    },
    "tvm.contrib": {},
    "tvm.contrib.clang": {"create_llvm": "tir_mlir.runtime.drivers.clang:create_llvm"},
    "tvm.contrib.utils": {
        "tempdir": "tir_mlir.compat.tempdir:tempdir",
        "TempDirectory": "tir_mlir.compat.tempdir:TempDirectory",
    },
}


class CompatModule(types.ModuleType):
    """A module of the table, with lazy attributes. Looking up a name that is not in the table raises NotInCompat."""

    def __getattr__(self, name: str) -> object:
        table = MODULES[self.__name__]
        if name in table:
            value = _load(table[name])
        elif f"{self.__name__}.{name}" in MODULES:
            value = importlib.import_module(f"{self.__name__}.{name}")
        elif name == "__all__":  # of `from tvm.relax.dpl import *`
            return [word for word in table if not word.startswith("_")]
        elif name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        else:
            raise NotInCompat(refusal(f"{self.__name__}.{name}", self.__dir__()))
        self.__dict__[name] = value
        return value

    def __setattr__(self, name: str, value: object) -> None:
        if not isinstance(value, AbsentModule):  # an absent submodule is imported, and is not an attribute
            super().__setattr__(name, value)

    def __dir__(self) -> list[str]:
        start = self.__name__ + "."
        below = [m[len(start) :] for m in MODULES if m.startswith(start) and "." not in m[len(start) :]]
        return sorted({*MODULES[self.__name__], *below})


def _load(where: str) -> object:
    module, _, name = where.partition(":")
    loaded = importlib.import_module(module)
    return functools.reduce(getattr, name.split("."), loaded) if name else loaded


class CompatFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `tvm` and `tvm.*`, before any installed package of that name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != "tvm" and not fullname.startswith("tvm."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="tir_mlir.compat", is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        if spec.name in MODULES:
            return CompatModule(spec.name, f"{spec.name} as tir_mlir has it.")
        parent = sys.modules.get(spec.name.rpartition(".")[0])
        siblings = dir(parent) if isinstance(parent, CompatModule) else ()
        return AbsentModule(spec.name, f"{spec.name} is not part of tir_mlir.", siblings)

    def exec_module(self, module: types.ModuleType) -> None:
        """`import tvm.script.tir as T` binds the object that the parent has under this name, if there is one."""
        parent, _, name = module.__name__.rpartition(".")
        package = sys.modules.get(parent)
        if module.__name__ not in MODULES and not isinstance(package, AbsentModule) and hasattr(package, name):
            sys.modules[module.__name__] = getattr(package, name)


_FINDER = CompatFinder()


def install() -> None:
    """Install the hook for `import tvm`. Idempotent.

    Raises TirError if the real TVM has been imported already.
    """
    if _FINDER in sys.meta_path:
        return
    loaded = sys.modules.get("tvm")
    if loaded is not None and not isinstance(loaded, CompatModule):
        origin = getattr(loaded, "__file__", None) or "an unknown place"
        raise TirError(
            f"tvm is already imported, from {origin}: put `import tir_mlir.compat` before the first `import tvm`"
        )
    sys.meta_path.insert(0, _FINDER)


def uninstall() -> None:
    """Remove the hook and its modules."""
    if _FINDER in sys.meta_path:
        sys.meta_path.remove(_FINDER)
        for name in sorted((n for n in sys.modules if n == "tvm" or n.startswith("tvm.")), reverse=True):
            module = sys.modules.pop(name)
            parent, _, word = name.rpartition(".")
            if isinstance(module, AbsentModule) and vars(sys.modules.get(parent, module)).get(word) is module:
                delattr(sys.modules[parent], word)  # of a module of tir_mlir, such as topi
