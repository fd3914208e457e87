// Input that is not a module is an error with its place, and nothing else.
// RUN: rm -rf %t && mkdir %t
// RUN: not tir-opt %t/none.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tir-opt %t 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: echo "" > %t/empty.mlir && not tir-opt %t/empty.mlir 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not tir-opt %t/empty.mlir --emit=script --canonicalize 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: %python -c "open(r'%t/bytes.mlir', 'wb').write(b'func.func @f() {\n  \xff\n}')"
// RUN: not tir-opt %t/bytes.mlir 2>&1 | FileCheck %s --check-prefix=BYTES
// RUN: %python -c "open(r'%t/zero.mlir', 'wb').write(b'func.func @f() {\n\0}')"
// RUN: not tir-opt %t/zero.mlir 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: %python -c "open(r'%t/code.mlir', 'wb').write(b'ML\xefR\x01\x02')"
// RUN: not tir-opt %t/code.mlir 2>&1 | FileCheck %s --check-prefix=BYTECODE
// RUN: echo "func.func @f() {" > %t/cut.mlir && not tir-opt %t/cut.mlir 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: echo "x.y" > %t/dialect.mlir && not tir-opt %t/dialect.mlir 2>&1 | FileCheck %s --check-prefix=DIALECT
// RUN: echo "def f(:" > %t/python.py && not tir-opt %t/python.py 2>&1 | FileCheck %s --check-prefix=PYTHON
// RUN: echo "x = 3" > %t/nothing.py && not tir-opt %t/nothing.py 2>&1 | FileCheck %s --check-prefix=NOTHING

// NONE: none.mlir:1:1: error: cannot be read: No such file or directory
// FOLDER: :1:1: error: cannot be read: Is a directory
// EMPTY: empty.mlir:1:1: error: the input is empty
// BYTES: bytes.mlir:2:3: error: byte 0xff is not UTF-8 text
// ZERO: zero.mlir:2:1: error: the text has a zero byte
// BYTECODE: code.mlir:1:1: error: this is MLIR bytecode
// CUT: cut.mlir:{{[0-9]+}}:{{[0-9]+}}: error: expected
// DIALECT: dialect.mlir:1:1: error: Dialect `x' not found
// PYTHON: python.py:1:7: error: not Python: invalid syntax
// PYTHON-NEXT: def f(:
// PYTHON-NEXT: ^
// NOTHING: nothing.py:1:1: error: the text has no @T.prim_func
