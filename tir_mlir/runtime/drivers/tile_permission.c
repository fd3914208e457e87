/* Linked into shared objects that use the tile registers of AMX: asks Linux for them when the object is loaded.
   arch_prctl(ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA); without it, the first tile instruction raises SIGILL. */
__attribute__((constructor)) static void tir_ask_for_tiles(void) {
#if defined(__x86_64__) && defined(__linux__)
  long result;
  __asm__ volatile("syscall" : "=a"(result) : "0"(158L), "D"(0x1023L), "S"(18L) : "rcx", "r11", "memory");
#endif
}
