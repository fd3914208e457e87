/* A language model: its file of weights mapped, states, tokens in and tokens out. Before it stand loop.c and the tables
   of the model: NAMED, MODEL, HEADER, BYTES, LAYOUT, facts, kernels, layers, scores, why, lacking. */

struct NAMED(model) {
  unsigned char *file;
  tir_llm facts;
  tir_layer layers[LAYERS], scores[PARTS];
};
struct NAMED(state) {
  void *memory;
  tir_llm_state *run;
  uint64_t drawn;
  int64_t started; /* sequences that have a prompt: in steps the others follow the first */
};

static _Thread_local char error[512];

const char *NAMED(error)(void) { return error; }

static int refused(const char *function, const char *reason) {
  snprintf(error, sizeof error, "%s_%s: %s", MODEL, function, reason);
  return -1;
}

static void *failed(const char *path, const char *reason) {
  snprintf(error, sizeof error, "%s: %s", path, reason);
  return NULL;
}

static uint64_t checksum(const unsigned char *bytes, int64_t count) {
  uint64_t found = 0xcbf29ce484222325u;
  for (int64_t i = 0; i < count; i++) found = (found ^ bytes[i]) * 0x100000001b3u;
  return found;
}

static void place(tir_layer *layer, const struct placed *from, int64_t count, unsigned char *data) {
  for (int64_t n = 0; n < count; n++)
    layer[n] = (tir_layer){kernels + from[n].one, kernels + from[n].chunk, data + from[n].one_at,
                           data + from[n].chunk_at, from[n].caches, from[n].cache};
}

NAMED(model) *NAMED(open)(const char *path) {
  const char *feature = lacking();
  if (feature) {
    snprintf(error, sizeof error, "the code of %s uses %s, which this CPU or its system lacks", MODEL, feature);
    return NULL;
  }
  int file = open(path, O_RDONLY);
  if (file < 0) return failed(path, "cannot be opened");
  struct stat facts_of;
  int64_t size = fstat(file, &facts_of) ? -1 : (int64_t)facts_of.st_size;
  if (size != HEADER + BYTES) {
    close(file);
    return failed(path, "is not as long as the weights of this model");
  }
  unsigned char *bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (bytes == MAP_FAILED) return failed(path, "cannot be mapped");
  NAMED(model) *made = checksum(bytes, HEADER) == LAYOUT ? malloc(sizeof *made) : NULL;
  if (!made) {
    munmap(bytes, (size_t)size);
    return failed(path, "has not the weights of this model");
  }
  unsigned char *data = bytes + HEADER;
  made->file = bytes;
  made->facts = facts;
  made->facts.layer = made->layers;
  made->facts.score = made->scores;
  made->facts.rows = data + ROWS_AT;
  made->facts.cos = (const float *)(data + COS_AT);
  made->facts.sin = (const float *)(data + SIN_AT);
  made->facts.long_cos = LONG_COS_AT < 0 ? NULL : (const float *)(data + LONG_COS_AT);
  made->facts.long_sin = LONG_SIN_AT < 0 ? NULL : (const float *)(data + LONG_SIN_AT);
  made->facts.growth = GROWTH_AT < 0 ? NULL : (const double *)(data + GROWTH_AT);
  place(made->layers, layers, LAYERS, data);
  place(made->scores, scores, PARTS, data);
  return made;
}

void NAMED(close)(NAMED(model) *model) {
  if (!model) return;
  munmap(model->file, HEADER + BYTES);
  free(model);
}

NAMED(state) *NAMED(create)(const NAMED(model) *model) {
  NAMED(state) *state = model ? malloc(sizeof *state) : NULL;
  int64_t bytes = model ? tir_llm_bytes(&model->facts) : 0;
  void *memory = state ? mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : NULL;
  if (!state || memory == MAP_FAILED) {
    free(state);
    refused("create", model ? "there is no memory for a state" : "the model is NULL");
    return NULL;
  }
  state->memory = memory;
  state->run = tir_llm_start(&model->facts, memory);
  state->drawn = state->started = 0;
  return state;
}

void NAMED(reset)(NAMED(state) *state) {
  if (!state) return;
  tir_llm_reset(state->run);
  state->drawn = state->started = 0;
}

void NAMED(free)(NAMED(state) *state) {
  if (!state) return;
  munmap(state->memory, (size_t)tir_llm_bytes(state->run->model));
  free(state);
}

/* What a compiled function refused, after calls of it. */
static int done(const char *function) {
  const char *reason = why;
  why = NULL;
  return reason ? refused(function, reason) : 0;
}

int NAMED(prompt)(NAMED(state) *state, int64_t sequence, const int64_t *ids, int64_t count) {
  if (!state || !ids) return refused("prompt", "an argument is NULL");
  if (sequence < 0 || sequence >= facts.batch) return refused("prompt", "there is no such sequence");
  if (count < 1) return refused("prompt", "a prompt has a token or more");
  if (state->drawn) return refused("prompt", "tokens were drawn already; reset the state");
  if (state->run->past[sequence] + count > facts.context) return refused("prompt", "the cache has no room for it");
  for (int64_t n = 0; n < count; n++)
    if (ids[n] < 0 || ids[n] >= facts.tokens) return refused("prompt", "a token is beyond the vocabulary");
  if (sequence >= state->started) state->started = sequence + 1;
  tir_llm_prompt(state->run, sequence, ids, count, state->run->past[sequence] + count);
  return done("prompt");
}

int NAMED(next)(NAMED(state) *state, const NAMED(sampling) *how, int64_t *ids) {
  if (!state || !ids) return refused("next", "an argument is NULL");
  tir_llm_sampling given = {0, 1, 0, 0};
  if (how) given = (tir_llm_sampling){how->temperature, how->top_p, how->top_k, how->seed};
  if (!(given.temperature >= 0 && given.top_k >= 0 && given.top_p > 0 && given.top_p <= 1))
    return refused("next", "temperature and top_k are at least 0, top_p is above 0 and at most 1");
  if (!state->started) return refused("next", "no sequence has a prompt");
  for (int64_t b = 0; state->drawn && b < facts.batch; b++) {
    if (state->run->past[b] >= facts.context) return refused("next", "the cache is full");
    if (b < state->started && (ids[b] < 0 || ids[b] >= facts.tokens))
      return refused("next", "a token is beyond the vocabulary");
    if (b >= state->started) ids[b] = ids[0];
  }
  tir_llm_next(state->run, &given, state->drawn++, ids);
  return done("next");
}

const float *NAMED(scores)(NAMED(state) *state) {
  if (!state) return NULL;
  const float *found = tir_llm_scores(state->run);
  return done("scores") ? NULL : found;
}

int64_t NAMED(generate)(NAMED(state) *state, const int64_t *prompt, int64_t length, const NAMED(sampling) *how,
                        int64_t stop, int64_t count, int64_t *out) {
  int64_t ids[BATCH] = {0}, made = 0;
  if (!state || !prompt || (!out && count > 0)) return refused("generate", "an argument is NULL");
  if (length + count > facts.context) return refused("generate", "the cache has no room for the prompt and what follows");
  NAMED(reset)(state);
  if (NAMED(prompt)(state, 0, prompt, length)) return -1;
  while (made < count) {
    if (NAMED(next)(state, how, ids)) return -1;
    out[made++] = ids[0];
    if (ids[0] == stop) break;
  }
  return made;
}
