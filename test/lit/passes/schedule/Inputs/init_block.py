# Block Y stands in the init of block o; its id is 4, its loop's 3.
@T.prim_func
def of_a_parameter(X: T.Buffer((8, 8), "float32"), Y: T.Buffer((8,), "float32")):
    for o in range(2):
        with T.block("o"):
            vo = T.axis.spatial(2, o)
            with T.init():
                for i in range(4):
                    with T.block("Y"):
                        vi = T.axis.spatial(4, i)
                        Y[vo * 4 + vi] = T.float32(0)
            for j, k in T.grid(4, 8):
                with T.block("S"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    Y[vo * 4 + vj] = Y[vo * 4 + vj] + X[vo * 4 + vj, vk]


# -----


@T.prim_func
def of_an_allocated_buffer(X: T.Buffer((8, 8), "float32"), Z: T.Buffer((8,), "float32")):
    for o in range(2):
        with T.block("o"):
            vo = T.axis.spatial(2, o)
            Y = T.alloc_buffer((4,), "float32")
            with T.init():
                for i in range(4):
                    with T.block("Y"):
                        vi = T.axis.spatial(4, i)
                        Y[vi] = T.float32(0)
            for j, k in T.grid(4, 8):
                with T.block("S"):
                    vj, vk = T.axis.remap("SR", [j, k])
                    Y[vj] = Y[vj] + X[vo * 4 + vj, vk]
            for j in range(4):
                with T.block("Z"):
                    vj = T.axis.spatial(4, j)
                    Z[vo * 4 + vj] = Y[vj]
