"""Matrix functions of a warp: what its lanes do together, and fragments in their registers."""
