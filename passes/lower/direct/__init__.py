"""LLVM IR of plain programs, written directly: no schedule, no passes. For models that are to be ready soon.

A program is read into plain data (`program`), its elementwise blocks are put into their readers (`inlined`), and each
block that is left becomes a nest of loops with vectors (`nests`, `code`).
"""
