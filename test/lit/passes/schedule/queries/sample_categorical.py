# RUN: %python %s | FileCheck %s
# Sampling changes no program, so it is not a pass: the schedule is made here.
from tir_mlir import Schedule
from tir_mlir.script import tir as T


@T.prim_func
def main(A: T.Buffer((48,), "float32")):
    for i in range(48):
        with T.block("A"):
            vi = T.axis.spatial(48, i)
            A[vi] = T.float32(0)


def annotate(*arguments, **options):
    sch = Schedule(main, seed=1)
    loop = sch.get_loops("A")[0]
    try:
        sch.annotate(loop, "width", sch.sample_categorical(*arguments, **options))
        print(sch.trace)
        sch.show()
    except ValueError as error:
        print("refused:", error)


# CHECK: v2 = sch.sample_categorical(candidates=[4, 8], probs=[0.25, 0.75], decision=1)
# CHECK-NEXT: sch.annotate(block_or_loop=l1, ann_key="width", ann_val=v2)
# CHECK: for i in T.serial(48, annotations={"width": 8}):
annotate([4, 8], [0.25, 0.75], 1)

# CHECK: sch.sample_categorical(candidates=[4, 8], probs=[1.0, 0.0], decision=0)
# CHECK: annotations={"width": 4}
annotate([4, 8], [1, 0])

# The name of a decision is traced if it is given.
# CHECK: sch.sample_categorical(candidates=[4, 8], probs=[1.0, 0.0], name="width", decision=0)
annotate([4, 8], [1, 0], name="width")

# CHECK: refused: sample_categorical needs one probability for each candidate; there are 2 candidates and 1 probabilities
annotate([4, 8], [1.0])
# CHECK: refused: probabilities must be finite, not negative and not all zero; they are [1.0, -1.0]
annotate([4, 8], [1.0, -1.0])
# CHECK: refused: the decision 2 is not a position among 2 candidates
annotate([4, 8], [1.0, 1.0], 2)
