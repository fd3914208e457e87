@T.prim_func
def apart(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32"), R: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("P"):
            v = T.axis.spatial(8, i)
            P[v] = T.float32(0)
    for i in range(8):
        with T.block("R"):
            v = T.axis.spatial(8, i)
            R[v] = T.float32(0)
    for i in range(8):
        # expected-error @below {{block "Q" does not directly follow the previous one; no other op may be between them}}
        with T.block("Q"):
            v = T.axis.spatial(8, i)
            Q[v] = T.float32(0)


# -----


@T.prim_func
def scopes(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("P"):
            v = T.axis.spatial(8, i)
            P[v] = T.float32(0)
    with T.block("R"):
        for i in range(8):
            # expected-error @below {{block "Q" and block "P" are not under the same block}}
            with T.block("Q"):
                v = T.axis.spatial(8, i)
                Q[v] = T.float32(0)


# -----


@T.prim_func
# expected-error @below {{the blocks are in a condition; blockize needs blocks in the body of a loop or block}}
def condition(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32"), n: T.int32):
    if n > 3:
        for i in range(8):
            with T.block("P"):
                v = T.axis.spatial(8, i)
                P[v] = T.float32(0)
        for i in range(8):
            with T.block("Q"):
                v = T.axis.spatial(8, i)
                Q[v] = T.float32(0)


# -----


@T.prim_func
def init(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
    for i in range(8):
        # expected-error @below {{block "P" has an init; apply decompose_reduction first}}
        with T.block("P"):
            v = T.axis.spatial(8, i)
            with T.init():
                P[v] = T.float32(0)
            P[v] = P[v] + T.float32(1)
    for i in range(8):
        with T.block("Q"):
            v = T.axis.spatial(8, i)
            Q[v] = T.float32(0)


# -----


@T.prim_func
def reduce(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
    for k in range(4):
        for i in range(8):
            with T.block("P"):
                v, vk = T.axis.remap("SO", [i, k])
                P[v] = T.float32(1)
        for i in range(8):
            # expected-error @below {{the new block would divide the reduce iter vk of block "Q"; around several blocks only spatial iters are divided}}
            with T.block("Q"):
                v, vk = T.axis.remap("SR", [i, k])
                Q[v] = Q[v] + T.float32(1)


# -----


@T.prim_func
def outer_parts(P: T.Buffer((8,), "float32"), Q: T.Buffer((4, 8), "float32")):
    for o in range(4):
        for i in range(2):
            with T.block("P"):
                v = T.axis.spatial(8, o * 2 + i)
                P[v] = T.float32(1)
        for j in range(8):
            # expected-error @below {{the outer parts of the iters of block "Q" (v: 4) differ from those of block "P" (v: 4) in order, extent or binding}}
            with T.block("Q"):
                v = T.axis.spatial(4, 3 - o)
                w = T.axis.spatial(8, j)
                Q[v, w] = T.float32(1)


# -----


@T.prim_func
def guards(P: T.Buffer((8,), "float32"), Q: T.Buffer((8,), "float32")):
    for o in range(4):
        for i in range(2):
            with T.block("P"):
                T.where(o < 3)
                v = T.axis.spatial(8, o * 2 + i)
                P[v] = T.float32(1)
        for j in range(2):
            # expected-error @below {{the guards of blocks "P" and "Q" on outer loops differ}}
            with T.block("Q"):
                T.where(o < 2)
                v = T.axis.spatial(8, o * 2 + j)
                Q[v] = T.float32(1)
