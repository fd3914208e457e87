// The part of SME that the machine uses, for streaming vectors of 512 bits: z0 to z7, ZA as four tiles of floats. Facts
// are those of the Arm Architecture Reference Manual and the Arm C Language Extensions.
#include <stdint.h>

typedef struct { float lane[16]; } svfloat32_t;
typedef int svbool_t; // so many lanes from the first one on

static svfloat32_t z[8];
static float za[4][16][16];
#define z0 z[0]
#define z1 z[1]
#define z2 z[2]
#define z3 z[3]
#define z4 z[4]
#define z5 z[5]
#define z6 z[6]
#define z7 z[7]

static uint64_t svcntsw(void) { return 16; }

static svbool_t svptrue_b32(void) { return 16; }

static svbool_t svwhilelt_b32(int32_t first, int32_t end) {
  return end <= first ? 0 : end - first < 16 ? end - first : 16;
}

static svfloat32_t svld1_f32(svbool_t lanes, const float *base) {
  svfloat32_t vector = {{0}};
  for (int i = 0; i < lanes; ++i)
    vector.lane[i] = base[i];
  return vector;
}

static void svzero_mask_za(uint64_t mask) { // of tiles of doublewords, two of which are one of words
  for (int tile = 0; tile < 4; ++tile)
    for (int i = 0; i < 16; ++i)
      for (int j = 0; j < 16; ++j)
        if (mask >> (tile + 4 * (i % 2)) & 1)
          za[tile][i][j] = 0;
}

static void svmopa_za32_f32_m(uint64_t tile, svbool_t rows, svbool_t columns, svfloat32_t n, svfloat32_t m) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j)
      za[tile][i][j] += n.lane[i] * m.lane[j];
}

static void svst1_hor_za32(uint64_t tile, uint32_t slice, svbool_t lanes, float *base) {
  for (int j = 0; j < lanes; ++j)
    base[j] = za[tile][slice][j];
}
