// RUN: tir-opt %s -p 'tir-lower-gpu-ldmatrix' | FileCheck %s

// CHECK-LABEL: llvm.func @four
// CHECK-NOT: llvm.load
// CHECK: %[[M:.*]] = nvvm.ldmatrix %arg0 {eltType = {{.*}}b16{{.*}}, layout = #nvvm.mma_layout<col>, num = 4 : i32,
// CHECK: llvm.extractvalue %[[M]][3]
llvm.func @four(%p: !llvm.ptr<3>) -> i32 {
  %row = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<3> -> vector<8xf16>
  %m = builtin.unrealized_conversion_cast %row : vector<8xf16> to !llvm.struct<(i32, i32, i32, i32)> {tir.ldmatrix = true}
  %x = llvm.extractvalue %m[3] : !llvm.struct<(i32, i32, i32, i32)>
  llvm.return %x : i32
}

// CHECK-LABEL: llvm.func @one
// CHECK: nvvm.ldmatrix %arg0 {{.*}}layout = #nvvm.mma_layout<row>, num = 1 : i32{{.*}} -> i32
llvm.func @one(%p: !llvm.ptr<3>) -> i32 {
  %row = llvm.load %p {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
  %m = builtin.unrealized_conversion_cast %row : vector<4xf32> to !llvm.struct<(i32)> {tir.ldmatrix = false}
  %x = llvm.extractvalue %m[0] : !llvm.struct<(i32)>
  llvm.return %x : i32
}

// CHECK-LABEL: llvm.func @stored
// CHECK: nvvm.stmatrix %arg0, %{{.*}}, %{{.*}} {eltType = {{.*}}, layout = #nvvm.mma_layout<row>
// CHECK-NOT: llvm.store
llvm.func @stored(%p: !llvm.ptr<3>, %m: !llvm.struct<(i32, i32)>) {
  %row = builtin.unrealized_conversion_cast %m : !llvm.struct<(i32, i32)> to vector<8xf16> {tir.ldmatrix = false}
  llvm.store %row, %p {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<3>
  llvm.return
}
