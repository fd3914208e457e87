// The accelerator of the course as C: what each call does, at once.
#include <stdint.h>

enum { TILE = 16, ROWS = 256 };
static float reg[ROWS][TILE], accumulator[ROWS][TILE];

static void accel_dma_load(int32_t row, const float *from, int32_t stride) {
  for (int i = 0; i < TILE; ++i)
    for (int j = 0; j < TILE; ++j)
      reg[row + i][j] = from[i * stride + j];
}

static void accel_dma_store(float *to, int32_t row, int32_t stride) {
  for (int i = 0; i < TILE; ++i)
    for (int j = 0; j < TILE; ++j)
      to[i * stride + j] = accumulator[row + i][j];
}

static void accel_fill_zero(int32_t row) {
  for (int i = 0; i < TILE; ++i)
    for (int j = 0; j < TILE; ++j)
      accumulator[row + i][j] = 0;
}

// Sums grow term by term, each rounded: the right operand is transposed.
static void accel_tmm_add(int32_t c, int32_t a, int32_t b) {
  for (int i = 0; i < TILE; ++i)
    for (int j = 0; j < TILE; ++j)
      for (int k = 0; k < TILE; ++k)
        accumulator[c + i][j] += reg[a + i][k] * reg[b + j][k];
}
