// AMX in C: its tiles, TILECFG, and the instructions as functions, from the pseudocode of Intel's manual.
#include <stdint.h>
#include <string.h>

static int8_t tiles[8][16][64];
static uint8_t amx_rows[8], amx_palette;
static uint16_t amx_bytes[8];

static void _tile_loadconfig(const void *memory) {
  const uint8_t *config = memory;
  amx_palette = config[0];
  memcpy(amx_bytes, config + 16, sizeof amx_bytes);
  memcpy(amx_rows, config + 48, sizeof amx_rows);
  memset(tiles, 0, sizeof tiles);
}

static void amx_check(int tile) {
  if (amx_palette != 1 || !amx_rows[tile] || amx_rows[tile] > 16 || !amx_bytes[tile] || amx_bytes[tile] > 64)
    __builtin_trap();
}

static void _tile_zero(int tile) {
  amx_check(tile);
  memset(tiles[tile], 0, sizeof tiles[tile]);
}

static void _tile_loadd(int tile, const void *base, int64_t stride) {
  amx_check(tile);
  memset(tiles[tile], 0, sizeof tiles[tile]);
  for (int row = 0; row < amx_rows[tile]; ++row)
    memcpy(tiles[tile][row], (const char *)base + row * stride, amx_bytes[tile]);
}

static void _tile_stored(int tile, void *base, int64_t stride) {
  amx_check(tile);
  for (int row = 0; row < amx_rows[tile]; ++row)
    memcpy((char *)base + row * stride, tiles[tile][row], amx_bytes[tile]);
}

static int32_t amx_byte(int tile, int row, int column, int is_signed) {
  int8_t byte = tiles[tile][row][column];
  return is_signed ? byte : (uint8_t)byte;
}

static void amx_product(int c, int a, int b, int a_signed, int b_signed) {
  amx_check(a), amx_check(b), amx_check(c);
  int32_t sums[16][16] = {{0}};
  memcpy(sums, tiles[c], sizeof sums);
  for (int m = 0; m < amx_rows[c]; ++m)
    for (int k = 0; k < amx_bytes[a] / 4; ++k)
      for (int n = 0; n < amx_bytes[c] / 4; ++n)
        for (int t = 0; t < 4; ++t)
          sums[m][n] += amx_byte(a, m, 4 * k + t, a_signed) * amx_byte(b, k, 4 * n + t, b_signed);
  memset(tiles[c], 0, sizeof tiles[c]);
  for (int m = 0; m < amx_rows[c]; ++m)
    memcpy(tiles[c][m], sums[m], amx_bytes[c]);
}

static void _tile_dpbssd(int c, int a, int b) { amx_product(c, a, b, 1, 1); }
static void _tile_dpbusd(int c, int a, int b) { amx_product(c, a, b, 0, 1); }
static void _tile_dpbuud(int c, int a, int b) { amx_product(c, a, b, 0, 0); }

/* all tiles alike; the 64 bytes are the palette, then at 16 bytes of a row, and at 48 rows, of each tile */
static inline void amx_configure(int palette, int rows, int bytes)
{
  uint8_t config[64] = {0};
  config[0] = (uint8_t)palette;
  for (int tile = 0; tile < 8; ++tile) {
    config[16 + 2 * tile] = (uint8_t)bytes;
    config[48 + tile] = (uint8_t)rows;
  }
  _tile_loadconfig(config);
}
