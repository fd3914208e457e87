"""Primitives that merge a block into its reader or its writer."""
