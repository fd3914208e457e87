// RUN: tir-opt %s -p 'tir-lower-gpu-cp-async' | FileCheck %s


// CHECK-LABEL: @copies
// CHECK-NEXT: nvvm.cp.async.shared.global %arg1, %arg0, 16, cache =  cg
// CHECK-NEXT: nvvm.cp.async.shared.global %arg1, %arg0, 4, cache =  ca
// CHECK-NEXT: %[[X:.*]] = llvm.load %arg0
// CHECK-NEXT: llvm.store %[[X]], %arg1 :
llvm.func @copies(%a: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  %x = llvm.load %a : !llvm.ptr<1> -> vector<4xf32>
  llvm.store %x, %s {nontemporal} : vector<4xf32>, !llvm.ptr<3>
  %y = llvm.load %a : !llvm.ptr<1> -> f32
  llvm.store %y, %s {nontemporal} : f32, !llvm.ptr<3>
  %z = llvm.load %a : !llvm.ptr<1> -> f32
  llvm.store %z, %s : f32, !llvm.ptr<3>
  llvm.return
}

// A marked store of what is computed remains a store.
// CHECK-LABEL: llvm.func @computed
// CHECK-NOT: nvvm.cp.async
// CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr<3>
llvm.func @computed(%s: !llvm.ptr<3>, %c: i1, %x: f32, %y: f32) {
  %v = llvm.select %c, %x, %y : i1, f32
  llvm.store %v, %s {nontemporal} : f32, !llvm.ptr<3>
  llvm.return
}
