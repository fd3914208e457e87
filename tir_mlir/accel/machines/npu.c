// A core of the NPU as C: what each call does. A call is complete when it returns, so that there is nothing to wait for.
#include <stdint.h>

static int8_t x[1024][32], w[1024][32];
static int32_t sums[512][16];

// rows x cols bytes into 16 rows of 32; what is behind them becomes 0.
static void npu_copy(int8_t (*to)[32], const int8_t *from, int32_t stride, int32_t rows, int32_t cols) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 32; ++j)
      to[i][j] = i < rows && j < cols ? from[i * stride + j] : 0;
}

static void npu_load_x(int32_t row, const int8_t *from, int32_t stride, int32_t rows, int32_t cols) {
  npu_copy(x + row, from, stride, rows, cols);
}

static void npu_load_w(int32_t row, const int8_t *from, int32_t stride, int32_t rows, int32_t cols) {
  npu_copy(w + row, from, stride, rows, cols);
}

static void npu_store(int32_t *to, int32_t stride, int32_t row, int32_t rows, int32_t cols) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j)
      to[i * stride + j] = sums[row + i][j];
}

static void npu_clear(int32_t row) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      sums[row + i][j] = 0;
}

static void npu_mac(int32_t a, int32_t b, int32_t c) {
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j)
      for (int k = 0; k < 32; ++k)
        sums[c + i][j] += x[a + i][k] * w[b + j][k];
}

static void npu_wait_dma_in(int32_t left) { (void)left; }
static void npu_wait_dma_out(int32_t left) { (void)left; }
static void npu_wait_mac(int32_t left) { (void)left; }
