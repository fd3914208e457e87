@T.prim_func(check_well_formed=False)
def two_branches(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    Y = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
    else:
        for i in range(8):
            # expected-error @below {{the writer and the first reader of Y are in two branches of one condition}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]


# -----


@T.prim_func
def in_a_condition(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    Y = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
    for i in range(8):
        # expected-error @below {{block "B" reads Y[0] (unless n >= 4), which block "Y" has not written in the same iteration of their common loops; a copy would not contain it}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]


# -----


@T.prim_func(check_well_formed=False)
def ahead(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((8,), "float32")
    for i in range(8):
        # expected-error @below {{block "B" reads Y before block "Y" writes it; cache only the reads after the write (consumer_blocks)}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[vi]
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]


# -----


@T.prim_func
def other_iterations(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    Y = T.alloc_buffer((9,), "float32")
    for i in range(8):
        with T.block("Y"):
            vi = T.axis.spatial(8, i)
            Y[vi] = A[vi]
        # expected-error @below {{block "B" reads Y[0], which block "Y" has not written in the same iteration of their common loops; a copy would not contain it}}
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = Y[0]


# -----


@T.prim_func
def a_view_outside(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    with T.block("outer"):
        Y = T.match_buffer(A[0:8], (8,))
        for i in range(8):
            # expected-error @below {{A is accessed through Y, a view made outside the block; cache it in the scope of that view}}
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]


# -----


@T.prim_func(check_well_formed=False)
def a_reader_in_another_branch(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32"), n: T.int32):
    Y = T.alloc_buffer((8,), "float32")
    if n > 3:
        for i in range(8):
            with T.block("Y"):
                vi = T.axis.spatial(8, i)
                Y[vi] = A[vi]
        for i in range(8):
            with T.block("B"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]
    else:
        for i in range(8):
            # expected-error @below {{block "C" does not run after block "Y" in each iteration of their common loops}}
            with T.block("C"):
                vi = T.axis.spatial(8, i)
                B[vi] = Y[vi]
