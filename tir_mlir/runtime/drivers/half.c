/* Conversions of float16, which code calls where the CPU has none. Linked as support.c is; bit operations only, since a
   conversion would call these very functions. */
#include <stdint.h>

typedef union { uint16_t u; _Float16 h; } half;

__attribute__((visibility("hidden"))) float __extendhfsf2(_Float16 value) {
  half in;
  in.h = value;
  union { uint32_t u; float f; } out, scale = {0x77800000};  /* 2^112 */
  uint32_t sign = (uint32_t)(in.u & 0x8000) << 16, rest = (uint32_t)(in.u & 0x7fff) << 13;
  out.u = rest;
  out.f *= scale.f;  /* exact, also where the value is subnormal */
  if (rest >= 0x7c00u << 13) out.u = rest | 0x7f800000 | (rest > 0x7c00u << 13 ? 0x400000 : 0);
  out.u |= sign;
  return out.f;
}

/* to nearest even, from a value of float64 that is exact or rounded to odd */
static uint16_t half_bits(double value) {
  union { double f; uint64_t u; } in = {value};
  uint16_t sign = (uint16_t)(in.u >> 48) & 0x8000;
  in.u &= 0x7fffffffffffffff;
  if (in.u > 0x7ff0000000000000) return sign | 0x7e00 | (uint16_t)((in.u >> 42) & 0x3ff);
  if (in.f >= 65520.0) return sign | 0x7c00;
  if (in.f < 6.103515625e-05) {  /* below 2^-14: steps of 2^-24, by the rounding of a sum with 2^28 */
    union { double f; uint64_t u; } sum = {in.f + 0x1p28};
    return sign | (uint16_t)(sum.u & 0x7ff);
  }
  uint64_t kept = (in.u >> 42) - ((uint64_t)(1023 - 15) << 10), lost = in.u & 0x3ffffffffff;
  if (lost > 0x20000000000 || (lost == 0x20000000000 && (kept & 1))) kept++;
  return sign | (uint16_t)kept;
}

__attribute__((visibility("hidden"))) _Float16 __truncdfhf2(double value) {
  half out;
  out.u = half_bits(value);
  return out.h;
}

__attribute__((visibility("hidden"))) _Float16 __truncsfhf2(float value) { return __truncdfhf2((double)value); }
