"""From a lowered module to callable code: external tools, LLVM, code cache, argument checks, drivers."""
