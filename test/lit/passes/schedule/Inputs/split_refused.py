@T.prim_func
def greatest(A: T.Buffer((8,), "float32")):
    for k in range(8):
        # expected-error @below {{loop i starts at the maximum of several bounds; split needs a single one}}
        for i in range(T.max(k, 2), 8):
            with T.block("A"):
                vi = T.axis.opaque(8, i)
                A[vi] = T.float32(0)


# -----


@T.prim_func
def least(B: T.Buffer((6,), "float32")):
    for k in range(8):
        # expected-error @below {{loop i ends at the minimum of several bounds; split needs a single one}}
        for i in range(T.min(k + 1, 6)):
            with T.block("B"):
                vj = T.axis.opaque(6, i)
                B[vj] = T.float32(0)


# -----


@T.prim_func
def loose(B: T.Buffer((6,), "float32")):
    # expected-error @below {{the factors do not divide the extent of loop i; its body has statements outside any block, which a guard cannot protect}}
    for i in range(6):
        B[i] = T.float32(0)


# -----


@T.prim_func
def inner_bound(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n, n), "float32")
    for i in range(n):
        # expected-error @below {{the bound of a loop uses loop i, and would not be affine any more: a product with a symbolic factor is not}}
        for j in range(i + 1):
            with T.block("A"):
                v = T.axis.spatial(n, i)
                w = T.axis.opaque(n, j)
                A[v, w] = T.float32(0)
