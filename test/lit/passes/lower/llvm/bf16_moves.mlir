// RUN: tir-opt %s --split-input-file -p tir-lower-bf16-moves | FileCheck %s

// Numbers that are moved: bits. A constant is cast, which LLVM folds.
// CHECK-LABEL: llvm.func @moves
// CHECK: llvm.load %{{.*}} -> vector<4xi16>
// CHECK: %[[CONSTANT:.*]] = llvm.mlir.constant(dense<[1.0{{.*}}]> : vector<4xbf16>)
// CHECK: llvm.bitcast %[[CONSTANT]] : vector<4xbf16> to vector<4xi16>
// CHECK: llvm.select {{.*}} : i1, vector<4xi16>
// CHECK: llvm.shufflevector {{.*}} : vector<4xi16>
// CHECK: llvm.store {{.*}} : vector<4xi16>, !llvm.ptr
// CHECK-NOT: llvm.bitcast %arg3
// CHECK: llvm.cond_br %arg2, ^bb1(%arg3 : i16), ^bb1(%{{.*}} : i16)
// CHECK: ^bb1(%{{.*}}: i16):
llvm.func @moves(%p: !llvm.ptr, %q: !llvm.ptr, %c: i1, %w: i16) {
  %x = llvm.load %p : !llvm.ptr -> vector<4xbf16>
  %k = llvm.mlir.constant(dense<[1.0, -2.0, 0.5, 3.0]> : vector<4xbf16>) : vector<4xbf16>
  %s = llvm.mlir.constant(dense<-1.0> : vector<4xbf16>) : vector<4xbf16>
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %y = llvm.select %c, %x, %k : i1, vector<4xbf16>
  %z = llvm.shufflevector %y, %s [0, 5, 2, 7] : vector<4xbf16>
  llvm.store %z, %q : vector<4xbf16>, !llvm.ptr
  %b = llvm.bitcast %w : i16 to bf16
  llvm.cond_br %c, ^bb1(%b : bf16), ^bb1(%one : bf16)
^bb1(%m: bf16):
  llvm.store %m, %q : bf16, !llvm.ptr
  llvm.return
}

// -----

// Arithmetic on one, or a function that takes one: as it was.
// CHECK-LABEL: llvm.func @adds
// CHECK: llvm.load {{.*}} -> bf16
llvm.func @adds(%p: !llvm.ptr) {
  %x = llvm.load %p : !llvm.ptr -> bf16
  %y = llvm.fadd %x, %x : bf16
  llvm.store %y, %p : bf16, !llvm.ptr
  llvm.return
}

// -----

// CHECK-LABEL: llvm.func @takes
// CHECK: llvm.store {{.*}} : bf16, !llvm.ptr
llvm.func @takes(%p: !llvm.ptr, %x: bf16) {
  llvm.store %x, %p : bf16, !llvm.ptr
  llvm.return
}
