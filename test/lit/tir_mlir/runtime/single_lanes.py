# RUN: %python %s | FileCheck %s
"""LLVM makes wrong code of a masked store of one lane: it is a store of an element."""

from tir_mlir.runtime.llvm.object_code import store_single_lanes

# CHECK-LABEL: define void @f
# CHECK: %[[LANE:.*]] = extractelement <4 x i8> %t, i64 2
# CHECK-NEXT: %[[PLACE:.*]] = getelementptr i8, ptr %p, i64 2
# CHECK-NEXT: store i8 %[[LANE]], ptr %[[PLACE]], align 2
# CHECK-NEXT: call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, <4 x i1> <i1 true, i1 false, i1 true, i1 false>)
# CHECK-NEXT: call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, <4 x i1> %m)
STORE = "  call void @llvm.masked.store.v4i8.p0(<4 x i8> %t, ptr align 4 %p, <4 x i1> {})"
MASKS = ("<i1 false, i1 false, i1 true, i1 false>", "<i1 true, i1 false, i1 true, i1 false>", "%m")
lines = ["define void @f(ptr %p, <4 x i8> %t, <4 x i1> %m) {", *map(STORE.format, MASKS), "  ret void", "}"]
print(store_single_lanes("\n".join(lines)))
