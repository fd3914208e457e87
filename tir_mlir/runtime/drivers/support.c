/* What lowered code calls and no C library has; linked into objects that must load without the MLIR wheel. */
#include <stdint.h>

typedef struct { int64_t rank; void *descriptor; } unranked;
typedef struct { char *allocated, *aligned; int64_t offset, sizes_and_strides[]; } memref;

/* memref.copy between layouts that are not both contiguous */
__attribute__((visibility("hidden"))) void memrefCopy(int64_t size, unranked *source, unranked *target) {
  int64_t rank = source->rank, index[16] = {0};
  memref *from = source->descriptor, *to = target->descriptor;
  const int64_t *sizes = from->sizes_and_strides, *s = sizes + rank, *t = to->sizes_and_strides + rank;
  for (int64_t d = 0; d < rank; ++d)
    if (sizes[d] == 0) return;
  for (;;) {
    int64_t p = from->offset, q = to->offset, d;
    for (d = 0; d < rank; ++d) { p += index[d] * s[d]; q += index[d] * t[d]; }
    for (int64_t b = 0; b < size; ++b) to->aligned[q * size + b] = from->aligned[p * size + b];
    for (d = rank - 1; d >= 0 && ++index[d] == sizes[d]; --d) index[d] = 0;
    if (d < 0) return;
  }
}

/* float -> bfloat16, to nearest even; bit operations only, since a conversion would call this very function */
__attribute__((visibility("hidden"))) __bf16 __truncsfbf2(float value) {
  union { float f; uint32_t u; } in = {value};
  union { uint16_t u; __bf16 b; } out;
  if ((in.u & 0x7fffffff) > 0x7f800000) out.u = (in.u >> 16) | 0x40;
  else out.u = (in.u + 0x7fff + ((in.u >> 16) & 1)) >> 16;
  return out.b;
}

__attribute__((visibility("hidden"))) __bf16 __truncdfbf2(double value) {
  /* round to odd first, so that the second rounding is exact */
  float f = (float)value;
  union { float f; uint32_t u; } mid = {f};
  if ((double)f != value && (mid.u & 1) == 0 && value == value) mid.u += ((double)f < value) == (value > 0) ? 1 : -1;
  return __truncsfbf2(mid.f);
}
