"""Lower TensorIR blocks to plain loops: iters become loop expressions, init and where become conditions, storage scopes
are removed.
"""
