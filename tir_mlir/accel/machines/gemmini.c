// Gemmini in its default configuration as C, after "ISA" and "Memory Addressing Scheme" of its README: what each call of
// gemmini.h does, at once. Loops of instructions, transposition and config_norm are not there.
#include <stdint.h>
#include <stdlib.h>

enum { DIM = 16, SP_ROWS = 16384, ACC_ROWS = 1024 };
#define GARBAGE_ADDR UINT32_MAX /* a tile of zeros, one of any values as A, or no result */

static int8_t sp[SP_ROWS][DIM];
static int32_t acc[ACC_ROWS][DIM];

typedef int8_t gemmini_tile[DIM][DIM];
static struct { int weight_stationary, relu, shift, a_stride; } ex;
static struct { int64_t stride; float scale; int is_shrunk, block_stride; } ld[3];
static struct {
  int64_t stride;
  float scale;
  int relu, pool_stride, pool_size, out_dim, porows, pocols, orows, ocols, upad, lpad;
} st;
static gemmini_tile weights;     // which stay in the array
static int32_t sums[DIM][DIM];   // which stay in the array
typedef struct { uint32_t address; int cols, rows; } operand;
static operand preloaded, result;

static int is_of_sums(uint32_t address) { return address >> 31; }
static int32_t row_of(uint32_t address) { return (int32_t)(address & 0x1fffffff); }

// To the nearest integer, of two the even one, within the range of int8.
static int8_t scaled(float value, float scale) {
  float x = value * scale;
  if (x >= 127 || x != x)
    return x != x ? 0 : 127;
  if (x <= -128)
    return -128;
  int32_t down = (int32_t)x - (x < (float)(int32_t)x);
  float rest = x - (float)down;
  return (int8_t)(rest > 0.5f || (rest == 0.5f && down & 1) ? down + 1 : down);
}

// Sums into the accumulator: added where bit 30 is set, else over what is there.
static void write_sum(uint32_t address, int row, int column, int32_t value) {
  int32_t *to = &acc[row_of(address) + row][column];
  *to = (int32_t)((uint32_t)value + (address >> 30 & 1 ? (uint32_t)*to : 0));
}

static void gemmini_extended_config_ex(int dataflow, int act, int shift, int a_stride, int a_transpose, int b_transpose) {
  if (a_transpose || b_transpose)
    abort();
  ex.weight_stationary = dataflow, ex.relu = act, ex.shift = shift, ex.a_stride = a_stride;
}

static void gemmini_extended4_config_ld(int64_t stride, float scale, int shrunk, int block_stride, int id) {
  ld[id].stride = stride, ld[id].scale = scale, ld[id].is_shrunk = shrunk, ld[id].block_stride = block_stride;
}

static void gemmini_extended3_config_ld(int64_t stride, float scale, int shrunk, int id) {
  gemmini_extended4_config_ld(stride, scale, shrunk, DIM, id);
}

static void gemmini_extended2_config_st(int64_t stride, int act, float scale, int pool_stride, int pool_size, int out_dim,
                                        int porows, int pocols, int orows, int ocols, int upad, int lpad) {
  st.stride = stride, st.relu = act, st.scale = scale;
  st.pool_stride = pool_stride & 3, st.pool_size = pool_size & 3, st.out_dim = out_dim & 255;
  st.porows = porows & 255, st.pocols = pocols & 255, st.orows = orows & 255, st.ocols = ocols & 255;
  st.upad = upad & 3, st.lpad = lpad & 3;
}

static void gemmini_extended_config_st(int64_t stride, int act, float scale) {
  gemmini_extended2_config_st(stride, act, scale, 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

// Columns behind the 16th are further tiles, block_stride rows apart. From address 0 come zeros.
static void move_in(const void *from, uint32_t address, int cols, int rows, int id) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      int row = i + j / DIM * ld[id].block_stride, column = j % DIM;
      const char *line = (const char *)from + (from ? i * ld[id].stride : 0);
      int8_t narrow = from && (!is_of_sums(address) || ld[id].is_shrunk) ? ((const int8_t *)line)[j] : 0;
      if (!is_of_sums(address))
        sp[row_of(address) + row][column] = scaled(narrow, ld[id].scale);
      else
        write_sum(address, row, column, ld[id].is_shrunk || !from ? narrow : ((const int32_t *)line)[j]);
    }
}

static void gemmini_extended_mvin(const void *from, uint32_t to, int cols, int rows) { move_in(from, to, cols, rows, 0); }
static void gemmini_extended_mvin2(const void *from, uint32_t to, int cols, int rows) { move_in(from, to, cols, rows, 1); }
static void gemmini_extended_mvin3(const void *from, uint32_t to, int cols, int rows) { move_in(from, to, cols, rows, 2); }

static void gemmini_extended_preload(uint32_t address, uint32_t to, int cols, int rows, int to_cols, int to_rows) {
  preloaded = (operand){address, cols, rows}, result = (operand){to, to_cols, to_rows};
}

static void gemmini_preload(uint32_t address, uint32_t to) { gemmini_extended_preload(address, to, DIM, DIM, DIM, DIM); }
static void gemmini_preload_zeros(uint32_t to) { gemmini_preload(GARBAGE_ADDR, to); }

static int32_t value_at(uint32_t address, int row, int column) {
  if (address == GARBAGE_ADDR)
    return 0;
  return is_of_sums(address) ? acc[row_of(address) + row][column] : sp[row_of(address) + row][column];
}

// What is behind the rows and columns of an operand is 0.
static int32_t element(operand from, int row, int column) {
  return row < from.rows && column < from.cols ? value_at(from.address, row, column) : 0;
}

static int32_t left_at(operand a, int row, int column) {
  if (a.address == GARBAGE_ADDR)
    return 0x5a;
  return row < a.rows && column < a.cols ? value_at(a.address, row * ex.a_stride, column) : 0;
}

// The right operand is what was preloaded, or the second address; the other one is added.
static void compute(operand a, operand other) {
  int32_t made[DIM][DIM];
  for (int i = 0; i < DIM; ++i)
    for (int j = 0; j < DIM; ++j) {
      uint32_t sum = (uint32_t)(ex.weight_stationary ? element(other, i, j) : sums[i][j]);
      for (int k = 0; k < DIM; ++k)
        sum += (uint32_t)(left_at(a, i, k) * (ex.weight_stationary ? weights[k][j] : element(other, k, j)));
      made[i][j] = (int32_t)sum;
    }
  for (int i = 0; i < DIM; ++i)
    for (int j = 0; j < DIM; ++j) {
      sums[i][j] = made[i][j];
      if (result.address == GARBAGE_ADDR || i >= result.rows || j >= result.cols)
        continue;
      if (is_of_sums(result.address))
        write_sum(result.address, i, j, made[i][j]);
      else
        sp[row_of(result.address) + i][j] = scaled((float)(made[i][j] >> ex.shift), 1);
    }
}

static void gemmini_extended_compute_preloaded(uint32_t a, uint32_t other, int a_cols, int a_rows, int cols, int rows) {
  for (int i = 0; i < DIM; ++i)
    for (int j = 0; j < DIM; ++j) {
      weights[i][j] = (int8_t)element(preloaded, i, j);
      sums[i][j] = element(preloaded, i, j);
    }
  compute((operand){a, a_cols, a_rows}, (operand){other, cols, rows});
}

static void gemmini_compute_preloaded(uint32_t a, uint32_t other) {
  gemmini_extended_compute_preloaded(a, other, DIM, DIM, DIM, DIM);
}

// What stayed in the array is used again: weights, or sums.
static void gemmini_compute_accumulated(uint32_t a, uint32_t other) {
  compute((operand){a, DIM, DIM}, (operand){other, DIM, DIM});
}

static int8_t stored(uint32_t from, int row, int column) {
  int32_t value = value_at(from & ~(7u << 29), row, column);
  if (is_of_sums(from))
    value = scaled((float)acc[row_of(from) + row][column], st.scale);
  return (int8_t)(is_of_sums(from) && st.relu && value < 0 ? 0 : value);
}

// The largest of each window of an image in the accumulator, whose border is 0.
static void pool(int8_t *to, uint32_t from, int cols) {
  for (int y = 0; y < st.porows; ++y)
    for (int x = 0; x < st.pocols; ++x)
      for (int c = 0; c < cols; ++c) {
        int8_t largest = -128;
        for (int dy = 0; dy < st.pool_size; ++dy)
          for (int dx = 0; dx < st.pool_size; ++dx) {
            int row = y * st.pool_stride + dy - st.upad, column = x * st.pool_stride + dx - st.lpad;
            int is_inside = row >= 0 && row < st.orows && column >= 0 && column < st.ocols;
            int8_t value = is_inside ? stored(from, row * st.ocols + column, c) : 0;
            largest = value > largest ? value : largest;
          }
        to[(y * st.out_dim + x) * st.stride + c] = largest;
      }
}

static void gemmini_extended_mvout(void *to, uint32_t from, int cols, int rows) {
  if (st.pool_stride) {
    pool(to, from, cols);
    return;
  }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      char *line = (char *)to + i * st.stride;
      if (is_of_sums(from) && from >> 29 & 1)
        ((int32_t *)line)[j] = acc[row_of(from) + i][j];
      else
        ((int8_t *)line)[j] = stored(from, i, j);
    }
}
