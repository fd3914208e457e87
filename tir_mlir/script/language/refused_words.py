"""What a program cannot say: names of TVM's `T` namespace and statements of Python, and what to write instead."""

from __future__ import annotations

_LOWERED = "it is only used after lowering; write loops and blocks"
_INSTRUCTIONS = "T.call_llvm_pure_intrin calls an intrinsic of LLVM on values"

REFUSED = {
    **dict.fromkeys(("allocate", "allocate_const", "buffer_store", "attr", "realize", "tvm_storage_sync"), _LOWERED),
    "env_thread": 'write tx = T.launch_thread("threadIdx.x", n), or a loop over T.thread_binding(n, "threadIdx.x")',
    **dict.fromkeys(("call_packed", "call_cpacked", "tvm_call_packed"), "call a C function by T.call_extern"),
    **dict.fromkeys(("call_intrin", "call_llvm_intrin"), _INSTRUCTIONS),
    "undef": "omit the store instead",
    "complex64": "store real and imaginary parts in two float32 buffers",
    "complex128": "store real and imaginary parts in two float64 buffers",
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3", "e4m3_float8", "e5m2_float8"), "use float16"),
    **dict.fromkeys(("int4", "uint4"), "pack two values into an int8, and shift"),
    **dict.fromkeys(("uint1", "int1"), "use bool"),
}
"""Name -> what to write instead. The page of the `T` namespace shows it as a table."""

REFUSED_STATEMENTS = {
    "Return": "a prim_func cannot return a value: store the result to a buffer parameter",
    "Try": "try is not supported",
    "FunctionDef": "a function cannot be defined inside a prim_func",
    "ClassDef": "a class cannot be defined inside a prim_func",
    "Import": "import outside the prim_func",
    "ImportFrom": "import outside the prim_func",
    "Break": "break is not supported: loops run to their end",
    "Continue": "continue is not supported: guard the skipped statements with if",
    "Assert": "assert is not supported",
    "Raise": "raise is not supported",
    "Delete": "del is not supported",
    "Global": "global is not supported",
    "Nonlocal": "nonlocal is not supported",
}
"""Statement of Python, by the name of its AST class -> why a program has none."""
