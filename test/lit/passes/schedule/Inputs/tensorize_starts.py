@T.prim_func
# expected-error @below {{parameter A of "add4_aligned" must start at a multiple of 4}}
def a_start_not_known(a: T.handle, b: T.handle):
    s = T.int32()
    A = T.match_buffer(a, (4, 4), "float32", strides=[s, 1], elem_offset=T.int32(), offset_factor=1)
    B = T.match_buffer(b, (4, 4), "float32")
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] + T.float32(1)


# -----


@T.prim_func
# expected-error @below {{parameter A of "add4_aligned" must start at a multiple of 4 elements (offset_factor); the region of A does not, as its strides}}
def strides_not_known(a: T.handle, b: T.handle):
    s = T.int32()
    A = T.match_buffer(a, (4, 4), "float32", strides=[s, 1], offset_factor=4)
    B = T.match_buffer(b, (4, 4), "float32")
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] + T.float32(1)


# -----


@T.prim_func
# expected-error @below {{parameter A of "add4_aligned" must start at a multiple of 4 elements (offset_factor); the region of A does not at vo_o = 1, vi_o = 0}}
def rows_of_seven(A: T.Buffer((4, 7), "float32"), B: T.Buffer((4, 4), "float32")):
    for o, i in T.grid(4, 4):
        with T.block("B"):
            vo, vi = T.axis.remap("SS", [o, i])
            B[vo, vi] = A[vo, vi] + T.float32(1)
