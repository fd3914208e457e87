/* What code for WebAssembly calls and no library of its host has: memory, conversions of float16, wide products. */
#include <stdint.h>
#define __bf16 uint16_t /* passed as its bits */
#define _Float16 uint16_t
#include "support.c"
#include "half.c"

typedef uint64_t bytes;
extern char __heap_base;

/* Blocks follow one another; free ones are merged when a search passes them. */
typedef struct block { uint32_t size, is_free; uint32_t padding[14]; } block;
enum { PAGE = 65536, LINE = sizeof(block) };
static block *first, *last;  /* last: an empty block at the end of the memory */

static int grow(uint32_t size) {
  uint32_t pages = (size + LINE) / PAGE + 1, old = __builtin_wasm_memory_grow(0, pages);
  if (old == (uint32_t)-1) return 0;
  last->size = (old + pages) * PAGE - (uint32_t)(uintptr_t)last - LINE;
  last->is_free = 1;
  last = (block *)((char *)last + last->size);
  last->size = last->is_free = 0;
  return 1;
}

static void start(void) {
  uint32_t base = ((uint32_t)(uintptr_t)&__heap_base + LINE - 1) / LINE * LINE;
  if ((uint32_t)__builtin_wasm_memory_size(0) * PAGE < base + LINE) __builtin_wasm_memory_grow(0, 1);
  first = last = (block *)(uintptr_t)base;
  last->size = last->is_free = 0;
}

void *allocate(bytes asked) __asm__("malloc");
void *allocate(bytes asked) {
  if (asked > 0x7fff0000) __builtin_trap();
  if (!first) start();
  uint32_t size = ((uint32_t)asked + 2 * LINE - 1) / LINE * LINE;
  for (;;) {
    for (block *b = first; b->size; b = (block *)((char *)b + b->size)) {
      if (!b->is_free) continue;
      for (block *next; next = (block *)((char *)b + b->size), next->size && next->is_free;) b->size += next->size;
      if (b->size < size) continue;
      if (b->size > size) {
        block *rest = (block *)((char *)b + size);
        rest->size = b->size - size;
        rest->is_free = 1;
        b->size = size;
      }
      b->is_free = 0;
      return b + 1;
    }
    if (!grow(size)) __builtin_trap();  /* the host refuses more memory */
  }
}

void release(void *data) __asm__("free");
void release(void *data) {
  if (data) ((block *)data - 1)->is_free = 1;
}

/* the product of two numbers of 128 bits: code for the high part of one of 64 bits calls it */
typedef __int128 wide;
wide __multi3(wide a, wide b) {
  uint64_t x = (uint64_t)a, y = (uint64_t)b, low = (uint32_t)x * (uint64_t)(uint32_t)y;
  uint64_t one = (x >> 32) * (uint64_t)(uint32_t)y, two = (uint32_t)x * (y >> 32);
  uint64_t middle = (low >> 32) + (uint32_t)one + (uint32_t)two;
  uint64_t high = (x >> 32) * (y >> 32) + (one >> 32) + (two >> 32) + (middle >> 32);
  high += (uint64_t)((unsigned __int128)a >> 64) * y + x * (uint64_t)((unsigned __int128)b >> 64);
  union { struct { uint64_t low, high; } parts; wide whole; } out = {{(middle << 32) | (uint32_t)low, high}};
  return out.whole;
}
