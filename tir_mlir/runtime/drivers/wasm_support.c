/* What code for WebAssembly calls and no library of its host has: memory, conversions of float16, wide products. */
#include <stdint.h>
#define __bf16 uint16_t /* passed as its bits */
#include "support.c"

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

float __extendhfsf2(uint16_t half) {
  union { uint32_t u; float f; } out, scale = {0x77800000};  /* 2^112 */
  uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7fff) << 13;
  out.u = rest;
  out.f *= scale.f;  /* exact, also where half is subnormal */
  if (rest >= 0x7c00u << 13) out.u = rest | 0x7f800000 | (rest > 0x7c00u << 13 ? 0x400000 : 0);
  out.u |= sign;
  return out.f;
}

/* to nearest even, from a value of float64 that is exact or rounded to odd */
static uint16_t to_half(double value) {
  union { double f; uint64_t u; } in = {value};
  uint16_t sign = (uint16_t)(in.u >> 48) & 0x8000;
  in.u &= 0x7fffffffffffffff;
  if (in.u > 0x7ff0000000000000) return sign | 0x7e00 | (uint16_t)((in.u >> 42) & 0x3ff);
  if (in.f >= 65520.0) return sign | 0x7c00;
  if (in.f < 6.103515625e-05) {  /* below 2^-14: steps of 2^-24, by the rounding of a sum with 2^28 */
    union { double f; uint64_t u; } sum = {in.f + 0x1p28};
    return sign | (uint16_t)(sum.u & 0x7ff);
  }
  uint64_t half_bits = (in.u >> 42) - ((uint64_t)(1023 - 15) << 10), lost = in.u & 0x3ffffffffff;
  if (lost > 0x20000000000 || (lost == 0x20000000000 && (half_bits & 1))) half_bits++;
  return sign | (uint16_t)half_bits;
}

uint16_t __truncdfhf2(double value) { return to_half(value); }
uint16_t __truncsfhf2(float value) { return to_half((double)value); }

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
