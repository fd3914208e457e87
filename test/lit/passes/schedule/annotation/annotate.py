# RUN: tir-opt %s --emit=script -p 'tir-annotate{loop=i key=width value=4}, tir-annotate{block=A key=note value="a b"}, tir-annotate{loop=i key=width value=8}' | FileCheck %s
# RUN: tir-opt %s -p 'tir-annotate{loop=i key=list value=[1,2]}, tir-annotate{loop=i key=on value=true}, tir-annotate{loop=i key=f value=0.5}' | FileCheck %s --check-prefix=TYPES
# RUN: tir-opt %s -p 'tir-annotate{loop=i key=prefech value=A}' 2>&1 | FileCheck %s --check-prefix=NEAR
# RUN: not tir-opt %s -p 'tir-annotate{loop=i value=4}' 2>&1 | FileCheck %s --check-prefix=MISSING
# RUN: not tir-opt %s -p 'tir-annotate{loop=j key=k value=4}' 2>&1 | FileCheck %s --check-prefix=NOLOOP


# The first value of a key stays, as in TVM.
# CHECK: for i in T.serial(8, annotations={"width": 4}):
# CHECK: T.block_attr({"note": "a b"})
# TYPES: tir.annotations = {f = 5.000000e-01 : {{.*}}, list = [1{{.*}}, 2{{.*}}], on = true}
# NEAR: warning: unknown annotation "prefech" has no effect; did you mean "prefetch"?
# MISSING: --pass-pipeline:1:1: error: tir-annotate: option key is missing; tir-annotate takes block_or_loop, key, value
# NOLOOP: annotate.py:[[#@LINE+2]]:{{.*}} error: tir-annotate: no block or loop j in main (block or loops there: A, i)
@T.prim_func
def main(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            A[vi] = T.float32(0)
