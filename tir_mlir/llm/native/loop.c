/* What runs a language model: prompts in chunks, steps of one token a sequence, the next token from the scores.

   The layers are compiled functions that take the addresses of memref descriptors, which are made here. Keys and values
   lie as (sequence, head, capacity, column); the capacity grows by STEP positions, in place, up to `context`.

   loop.ll is made of it by `make entry`; an exported model has this file in its loader. */
#include <stdint.h>

#ifndef SHOWN
#define SHOWN /* functions for others; static in an exported model */
double exp(double);
double pow(double, double);
double cos(double);
double sin(double);
void *memcpy(void *, const void *, uint64_t);
void *memmove(void *, const void *, uint64_t);
void *memset(void *, int, uint64_t);
#endif

enum { STEP = 128, LINE = 64, MOST_PARAMETERS = 24, MOST_AXES = 8 };
/* where the array of a parameter is; from CACHE on: the arrays of a layer's cache */
enum { X, COS, SIN, POSITIONS, OUT, WEIGHTS, ARENA, CACHE };
/* extents that are no numbers */
enum { CAPACITY = -1, ARENA_BYTES = -2 };
/* how the rows of tokens lie */
enum { F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, IQ4_NL, Q2_K, Q3_K, Q4_K, Q5_K, Q6_K, IQ4_XS };

/* parameters: of each the place of its array, its rank, its extents */
typedef struct {
  void (*run)(void **descriptors);
  int64_t count;
  const int64_t *parameters;
} tir_kernel;

/* one: on a token of each sequence; chunk: on a chunk of one sequence. cache: of each of its arrays, the heads of a
   sequence, and the bytes of a position of a head */
typedef struct {
  const tir_kernel *one, *chunk;
  void *one_weights, *chunk_weights;
  int64_t caches;
  const int64_t *cache;
} tir_layer;

/* tokens: the vocabulary; batch: the sequences; columns: of cos and sin, (positions, columns); parts: of the scores, of
   `scored` tokens each; rows: of the tokens, of `row` bytes each; arena: the bytes that a layer works in. cos and sin
   are of sequences of up to `until` tokens, -1: of all; longer ones have long_cos and long_sin, or what `growth` says:
   a factor, the original length, a scale, then a frequency and an exponent for each column */
typedef struct {
  int64_t tokens, context, chunk, batch, width, columns, layers, parts, scored, arena, kind, row, until;
  const tir_layer *layer, *score;
  const uint8_t *rows;
  const float *cos, *sin, *long_cos, *long_sin;
  const double *growth;
} tir_llm;

/* last: the results of the last layer for the last token of each sequence; past: the tokens in the cache of each, ids:
   which they are, length: of the sequence that their positions are of */
typedef struct {
  const tir_llm *model;
  int64_t capacity;
  int64_t *past, *length, *ids, *positions, *order;
  float *x, *y, *cos, *sin, *last, *scores, *part;
  double *shares;
  uint8_t *arena;
  uint8_t **cache;
} tir_llm_state;

/* see Sampling in Python */
typedef struct {
  double temperature, top_p;
  int64_t top_k;
  uint64_t seed;
} tir_llm_sampling;

static int64_t lines(int64_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }
static int64_t greater(int64_t a, int64_t b) { return a > b ? a : b; }

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* The positions that caches have room for: whole steps, and a whole chunk behind the last token. */
static int64_t most_positions(const tir_llm *m) { return (m->context + m->chunk + STEP - 1) / STEP * STEP; }

static void *taken(uint8_t *memory, int64_t *at, int64_t bytes) {
  void *found = memory ? memory + *at : 0;
  *at += lines(bytes);
  return found;
}

/* Divide memory, at a cache line, into the arrays of a state; without memory: the bytes that it takes. Pages that no
   token has come to are never written. */
static int64_t divided(const tir_llm *m, uint8_t *memory, tir_llm_state *s) {
  int64_t at = 0, rows = greater(m->batch, m->chunk), arrays = 0, number = 0;
  for (int64_t n = 0; n < m->layers; n++) arrays += m->layer[n].caches;
  taken(memory, &at, sizeof *s);
  s->model = m;
  s->capacity = 0;
  s->past = taken(memory, &at, m->batch * 8);
  s->length = taken(memory, &at, m->batch * 8);
  s->ids = taken(memory, &at, m->batch * m->context * 8);
  s->positions = taken(memory, &at, rows * 8);
  s->x = taken(memory, &at, rows * m->width * 4);
  s->y = taken(memory, &at, rows * m->width * 4);
  s->cos = taken(memory, &at, rows * m->columns * 4);
  s->sin = taken(memory, &at, rows * m->columns * 4);
  s->last = taken(memory, &at, m->batch * m->width * 4);
  s->scores = taken(memory, &at, m->batch * m->tokens * 4);
  s->part = taken(memory, &at, m->batch * m->scored * 4);
  s->order = taken(memory, &at, m->tokens * 8);
  s->shares = taken(memory, &at, m->tokens * 8);
  s->cache = taken(memory, &at, arrays * 8);
  s->arena = taken(memory, &at, m->arena);
  for (int64_t n = 0; n < m->layers; n++)
    for (int64_t a = 0; a < m->layer[n].caches; a++) {
      const int64_t *facts = m->layer[n].cache + 2 * a;
      void *array = taken(memory, &at, m->batch * facts[0] * facts[1] * most_positions(m));
      if (memory) s->cache[number++] = array;
    }
  return at;
}

SHOWN int64_t tir_llm_bytes(const tir_llm *m) {
  tir_llm_state unused;
  return divided(m, 0, &unused);
}

SHOWN void tir_llm_reset(tir_llm_state *s) {
  s->capacity = 0;
  memset(s->past, 0, s->model->batch * 8);
  memset(s->length, 0, s->model->batch * 8);
}

/* The state of a run, in memory of so many bytes at a cache line. */
SHOWN tir_llm_state *tir_llm_start(const tir_llm *m, void *memory) {
  tir_llm_state *s = memory;
  divided(m, memory, s);
  memset(s->last, 0, m->batch * m->width * 4);
  tir_llm_reset(s);
  return s;
}

/* Let caches have so many positions: the heads move apart, from the last on. */
static void reserve(tir_llm_state *s, int64_t count) {
  const tir_llm *m = s->model;
  int64_t old = s->capacity, now = (count + STEP - 1) / STEP * STEP, number = 0;
  if (count <= old) return;
  for (int64_t n = 0; n < m->layers; n++)
    for (int64_t a = 0; a < m->layer[n].caches; a++) {
      const int64_t *facts = m->layer[n].cache + 2 * a, bytes = facts[1];
      uint8_t *array = s->cache[number++];
      for (int64_t h = m->batch * facts[0] - 1; h >= 0; h--) {
        memmove(array + h * now * bytes, array + h * old * bytes, old * bytes);
        memset(array + (h * now + old) * bytes, 0, (now - old) * bytes);
      }
    }
  s->capacity = now;
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

static void call(const tir_kernel *k, void **arrays, int64_t capacity, int64_t arena) {
  int64_t words[MOST_PARAMETERS][3 + 2 * MOST_AXES];
  void *descriptors[MOST_PARAMETERS];
  const int64_t *p = k->parameters;
  for (int64_t n = 0; n < k->count; n++) {
    int64_t rank = p[1], *w = words[n], stride = 1;
    w[0] = w[1] = (int64_t)arrays[p[0]];
    w[2] = 0;
    for (int64_t d = rank - 1; d >= 0; d--) {
      int64_t extent = p[2 + d] == CAPACITY ? capacity : p[2 + d] == ARENA_BYTES ? arena : p[2 + d];
      w[3 + d] = extent;
      w[3 + rank + d] = stride;
      stride *= extent;
    }
    descriptors[n] = w;
    p += 2 + rank;
  }
  k->run(descriptors);
}

static float half(uint16_t bits) {
  union { uint32_t u; float f; } wide;
  uint32_t sign = (uint32_t)(bits & 0x8000) << 16, rest = bits & 0x7fff;
  if (rest >= 0x7c00) wide.u = sign | 0x7f800000 | (rest & 0x3ff) << 13;
  else if (rest >= 0x400) wide.u = sign | (rest << 13) + 0x38000000;
  else {
    wide.f = (float)rest * 0x1p-24f;
    wide.u |= sign;
  }
  return wide.f;
}

static float half_at(const uint8_t *bytes) {
  uint16_t bits;
  memcpy(&bits, bytes, 2);
  return half(bits);
}

/* what numbers of IQ4_NL and IQ4_XS stand for */
static const int8_t values[16] = {-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113};

/* A block of 32 numbers: d, of some m, of some the fifth bits, then two numbers a byte, or one */
static void block_of_32(int64_t kind, const uint8_t *b, float *x) {
  int five = kind == Q5_0 || kind == Q5_1, least = kind == Q4_1 || kind == Q5_1, zero = least ? 0 : five ? 16 : 8;
  const uint8_t *p = b + (least ? 4 : 2);
  float d = half_at(b), m = least ? half_at(b + 2) : 0;
  uint32_t high = 0;
  if (five) {
    memcpy(&high, p, 4);
    p += 4;
  }
  for (int64_t i = 0; i < 32; i++) {
    int q = (p[i % 16] >> i / 16 * 4 & 15) | (high >> i & 1) << 4;
    float product = kind == Q8_0 ? (int8_t)p[i] * d : (kind == IQ4_NL ? values[q] : q - zero) * d;
    x[i] = least ? product + m : product;
  }
}

/* A block of 256 numbers: 8 groups, whose scales and least values have 6 bits */
static void q4_k(const uint8_t *b, float *x, int five) {
  float d = half_at(b), m = half_at(b + 2);
  for (int64_t g = 0; g < 8; g++) {
    const uint8_t *p = b + 4, *high = b + 16, *q = b + (five ? 48 : 16) + g / 2 * 32;
    int scale = g < 4 ? p[g] & 63 : (p[g + 4] & 15) | p[g - 4] >> 6 << 4;
    int least = g < 4 ? p[g + 4] & 63 : p[g + 4] >> 4 | p[g] >> 6 << 4;
    float by = d * scale, offset = m * least;
    for (int64_t i = 0; i < 32; i++) {
      float product = ((q[i] >> g % 2 * 4 & 15) | (five ? (high[i] >> g & 1) << 4 : 0)) * by;
      x[32 * g + i] = product - offset;
    }
  }
}

/* The 2 bits of a number of a block of 256: 32 bytes have those of 128 */
static int two_bits(const uint8_t *p, int64_t j) { return p[j / 128 * 32 + j % 32] >> j % 128 / 32 * 2 & 3; }

/* A block of 256 numbers in groups of 16 */
static void block_of_16s(int64_t kind, const uint8_t *b, float *x) {
  for (int64_t j = 0; j < 256; j++) {
    int64_t g = j / 16;
    if (kind == Q2_K) {
      float by = half_at(b + 80) * (b[g] & 15), offset = half_at(b + 82) * (b[g] >> 4);
      float product = two_bits(b + 16, j) * by;
      x[j] = product - offset;
    } else if (kind == Q3_K) {
      const uint8_t *s = b + 96;
      int scale = ((g < 8 ? s[g] & 15 : s[g - 8] >> 4) | (s[8 + g % 4] >> g / 4 * 2 & 3) << 4) - 32;
      int q = two_bits(b + 32, j) - (b[j % 32] >> j / 32 & 1 ? 0 : 4);
      x[j] = q * (half_at(b + 108) * scale);
    } else {
      int low = b[j / 128 * 64 + j % 64] >> j % 128 / 64 * 4 & 15, q = (low | two_bits(b + 128, j) << 4) - 32;
      x[j] = q * (half_at(b + 208) * (int8_t)b[192 + g]);
    }
  }
}

static void iq4_xs(const uint8_t *b, float *x) {
  for (int64_t g = 0; g < 8; g++) {
    int scale = ((b[4 + g / 2] >> g % 2 * 4 & 15) | (b[2 + g / 4] >> g % 4 * 2 & 3) << 4) - 32;
    float by = half_at(b) * scale;
    for (int64_t i = 0; i < 32; i++) x[32 * g + i] = values[b[8 + 16 * g + i % 16] >> i / 16 * 4 & 15] * by;
  }
}

/* of kinds in blocks: the numbers of a block, its bytes */
static const uint16_t blocks[][2] = {
    [Q4_0] = {32, 18},  [Q4_1] = {32, 20},  [Q5_0] = {32, 22},  [Q5_1] = {32, 24},  [Q8_0] = {32, 34},  [IQ4_NL] = {32, 18},
    [Q2_K] = {256, 84},   [Q3_K] = {256, 110},  [Q4_K] = {256, 144},  [Q5_K] = {256, 176},  [Q6_K] = {256, 210},  [IQ4_XS] = {256, 136},
};

/* `width` numbers of a row as float32, as they lie in a file */
SHOWN void tir_llm_row(int64_t kind, const uint8_t *row, int64_t width, float *x) {
  for (int64_t i = 0; kind <= BF16 && i < width; i++) {
    uint16_t bits;
    union { uint32_t u; float f; } wide;
    if (kind == F32) memcpy(x + i, row + 4 * i, 4);
    if (kind == F16) x[i] = half_at(row + 2 * i);
    if (kind == BF16) memcpy(&bits, row + 2 * i, 2), wide.u = (uint32_t)bits << 16, x[i] = wide.f;
  }
  if (kind <= BF16) return;
  for (int64_t i = 0; i < width; row += blocks[kind][1]) {
    if (kind == Q4_K || kind == Q5_K) q4_k(row, x + i, kind == Q5_K);
    else if (kind == IQ4_XS) iq4_xs(row, x + i);
    else if (kind >= Q2_K) block_of_16s(kind, row, x + i);
    else block_of_32(kind, row, x + i);
    i += blocks[kind][0];
  }
}

/* The row of a token as float32 */
static void row_of(const tir_llm *m, int64_t token, float *x) { tir_llm_row(m->kind, m->rows + token * m->row, m->width, x); }

static int is_long(const tir_llm *m, int64_t length) { return m->until >= 0 && length > m->until; }

/* Put the cosines and sines of the position of a row, in a sequence of a length, into a state. */
static void turn(tir_llm_state *s, int64_t row, int64_t length) {
  const tir_llm *m = s->model;
  int64_t n = m->columns, at = s->positions[row] * n;
  float *to_cos = s->cos + row * n, *to_sin = s->sin + row * n;
  if (is_long(m, length) && m->growth) {
    const double *g = m->growth, by = g[0] * length / g[1] - (g[0] - 1);
    for (int64_t c = 0; c < n; c++) {
      float frequency = (float)(g[3 + c] * pow(by, g[3 + n + c])), angle = (float)s->positions[row] * frequency;
      to_cos[c] = (float)(g[2] * cos(angle));
      to_sin[c] = (float)(g[2] * sin(angle));
    }
    return;
  }
  int other = is_long(m, length);
  memcpy(to_cos, (other ? m->long_cos : m->cos) + at, n * 4);
  memcpy(to_sin, (other ? m->long_sin : m->sin) + at, n * 4);
}

/* Run all layers on rows that are in x; the result is in x. first: the sequence whose caches come first. */
static void through(tir_llm_state *s, int one, int64_t rows, int64_t first) {
  const tir_llm *m = s->model;
  int64_t number = 0;
  for (int64_t n = 0; n < m->layers; n++) {
    const tir_layer *layer = m->layer + n;
    void *arrays[MOST_PARAMETERS] = {s->x, s->cos, s->sin, s->positions, s->y};
    arrays[WEIGHTS] = one ? layer->one_weights : layer->chunk_weights;
    arrays[ARENA] = s->arena;
    for (int64_t a = 0; a < layer->caches; a++) {
      const int64_t *facts = layer->cache + 2 * a;
      arrays[CACHE + a] = s->cache[number++] + first * facts[0] * facts[1] * s->capacity;
    }
    call(one ? layer->one : layer->chunk, arrays, s->capacity, m->arena);
    float *result = s->y;
    s->y = s->x;
    s->x = result;
  }
}

/* --- what others call --------------------------------------------------------------------------------------------- */

/* Take tokens of a sequence behind those before, with the positions of a sequence of s->length. A chunk that is not
   full ends in zeros, whose keys are behind all others: they are not seen, and overwritten by later tokens. */
static void take(tir_llm_state *s, int64_t sequence, const int64_t *ids, int64_t count) {
  const tir_llm *m = s->model;
  for (int64_t start = 0; start < count; start += m->chunk) {
    int64_t n = count - start < m->chunk ? count - start : m->chunk, past = s->past[sequence];
    int one = n == 1 && m->batch == 1;
    int64_t rows = one ? 1 : m->chunk;
    reserve(s, past + rows);
    memset(s->x, 0, rows * m->width * 4);
    for (int64_t r = 0; r < n; r++) {
      row_of(m, ids[start + r], s->x + r * m->width);
      s->ids[sequence * m->context + past + r] = ids[start + r];
    }
    for (int64_t r = 0; r < rows; r++) {
      s->positions[r] = past + r;
      turn(s, r, s->length[sequence]);
    }
    through(s, one, rows, sequence);
    s->past[sequence] += n;
    memcpy(s->last + sequence * m->width, s->x + (n - 1) * m->width, m->width * 4);
  }
}

/* Let a sequence have a length. Where it comes to have other tables, the tokens before are computed again. */
static void lengthen(tir_llm_state *s, int64_t sequence, int64_t length) {
  int64_t past = s->past[sequence], other = is_long(s->model, length) != is_long(s->model, s->length[sequence]);
  s->length[sequence] = length;
  if (!past || !other || s->model->growth) return;
  s->past[sequence] = 0;
  take(s, sequence, s->ids + sequence * s->model->context, past);
}

/* Take tokens of a sequence behind those before. length: that of all of its prompt, of which these are a part. */
SHOWN void tir_llm_prompt(tir_llm_state *s, int64_t sequence, const int64_t *ids, int64_t count, int64_t length) {
  lengthen(s, sequence, length);
  take(s, sequence, ids, count);
}

/* Take one token of each sequence. */
SHOWN void tir_llm_step(tir_llm_state *s, const int64_t *ids) {
  const tir_llm *m = s->model;
  int64_t most = 0;
  for (int64_t b = 0; b < m->batch; b++) {
    lengthen(s, b, s->past[b] + 1);
    most = greater(most, s->past[b] + 1);
  }
  for (int64_t b = 0; b < m->batch; b++) {
    row_of(m, ids[b], s->x + b * m->width);
    s->ids[b * m->context + s->past[b]] = ids[b];
    s->positions[b] = s->past[b];
    turn(s, b, s->length[b]);
  }
  reserve(s, most);
  through(s, 1, m->batch, 0);
  for (int64_t b = 0; b < m->batch; b++) s->past[b]++;
  memcpy(s->last, s->x, m->batch * m->width * 4);
}

/* The scores of all tokens after the last one of each sequence, (sequence, token). */
SHOWN const float *tir_llm_scores(tir_llm_state *s) {
  const tir_llm *m = s->model;
  for (int64_t part = 0; part < m->parts; part++) {
    void *arrays[MOST_PARAMETERS] = {s->last, s->cos, s->sin, s->positions, s->part};
    arrays[WEIGHTS] = m->score[part].one_weights;
    arrays[ARENA] = s->arena;
    call(m->score[part].one, arrays, s->capacity, m->arena);
    int64_t first = part * m->scored, left = m->tokens - first, count = left < m->scored ? left : m->scored;
    for (int64_t b = 0; b < m->batch; b++)
      memcpy(s->scores + b * m->tokens + first, s->part + b * m->scored, count * 4);
  }
  return s->scores;
}

/* --- the next token ----------------------------------------------------------------------------------------------- */

/* A number from 0 to 1, of Philox 4x32-10: the key is the seed, the counter the number of the draw and the block */
SHOWN double tir_llm_drawn(uint64_t seed, uint64_t number, uint64_t block) {
  uint32_t c[4] = {(uint32_t)number, (uint32_t)(number >> 32), (uint32_t)block, (uint32_t)(block >> 32)};
  uint32_t k[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
  for (int round = 0; round < 10; round++) {
    uint64_t a = (uint64_t)c[0] * 0xD2511F53u, b = (uint64_t)c[2] * 0xCD9E8D57u;
    uint32_t c1 = c[1], c3 = c[3];
    c[0] = (uint32_t)(b >> 32) ^ c1 ^ k[0];
    c[1] = (uint32_t)b;
    c[2] = (uint32_t)(a >> 32) ^ c3 ^ k[1];
    c[3] = (uint32_t)a;
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return (double)((((uint64_t)c[0] << 32) | c[1]) >> 11) * 0x1p-53;
}

static int before(const float *scores, int64_t a, int64_t b) {
  return scores[a] > scores[b] || (scores[a] == scores[b] && a < b);
}

/* Let the element at a place of a heap sink below those that are before it. */
static void sink(const float *scores, int64_t *heap, int64_t count, int64_t at) {
  for (;;) {
    int64_t child = 2 * at + 1, moved = heap[at];
    if (child >= count) return;
    if (child + 1 < count && before(scores, heap[child + 1], heap[child])) child++;
    if (!before(scores, heap[child], moved)) return;
    heap[at] = heap[child];
    heap[child] = moved;
    at = child;
  }
}

/* The greatest scores in order, at the end of `order`, backwards: `count` of them, or as many as add up to a share. */
static int64_t greatest(const float *scores, int64_t *order, const double *shares, int64_t tokens, int64_t count,
                        double share) {
  int64_t left = tokens;
  double sum = 0;
  for (int64_t i = 0; i < tokens; i++) order[i] = i;
  for (int64_t i = tokens / 2 - 1; i >= 0; i--) sink(scores, order, tokens, i);
  while (left > 0 && tokens - left < count && sum < share) {
    int64_t top = order[0];
    order[0] = order[--left];
    order[left] = top;
    sink(scores, order, left, 0);
    sum += shares[top];
  }
  return tokens - left;
}

/* A token for scores; order and shares: room for a number a token. number, block: of the draw. */
SHOWN int64_t tir_llm_token(const float *scores, int64_t tokens, const tir_llm_sampling *how, uint64_t number, uint64_t block,
                      int64_t *order, double *shares) {
  int64_t best = 0, kept = tokens;
  double sum = 0, seen = 0, drawn = tir_llm_drawn(how->seed, number, block);
  for (int64_t i = 1; i < tokens; i++)
    if (scores[i] > scores[best]) best = i;
  if (how->temperature == 0) return best;
  for (int64_t i = 0; i < tokens; i++)
    sum += shares[i] = exp(((double)scores[i] - (double)scores[best]) / how->temperature);
  int some = how->top_k > 0 && how->top_k < tokens, few = how->top_p < 1;
  if (some || few) {
    kept = greatest(scores, order, shares, tokens, some ? how->top_k : tokens, some || !few ? 2 * sum : how->top_p * sum);
    sum = 0;
    for (int64_t i = 0; i < kept; i++) sum += shares[order[tokens - 1 - i]];
    if (some && few) {
      double all = sum;
      int64_t all_kept = kept;
      sum = kept = 0;
      while (kept < all_kept && sum < how->top_p * all) sum += shares[order[tokens - 1 - kept++]];
    }
  }
  int64_t last = best;
  for (int64_t i = 0; i < kept; i++) {
    last = some || few ? order[tokens - 1 - i] : i;
    seen += shares[last];
    if (seen > drawn * sum) break;
  }
  return last;
}

/* The next token of each sequence into `ids`, which are the tokens before but for the first draw, number 0. */
SHOWN void tir_llm_next(tir_llm_state *s, const tir_llm_sampling *how, uint64_t number, int64_t *ids) {
  const tir_llm *m = s->model;
  if (number) tir_llm_step(s, ids);
  const float *scores = tir_llm_scores(s);
  for (int64_t b = 0; b < m->batch; b++)
    ids[b] = tir_llm_token(scores + b * m->tokens, m->tokens, how, number, (uint64_t)b, s->order, s->shares);
}
