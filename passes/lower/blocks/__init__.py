"""From blocks to plain loops: iters become loop expressions, init and where become conditions, scopes go."""
