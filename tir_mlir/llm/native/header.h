/* A language model: token ids in, token ids out. Functions that return int: 0, or -1, and NAMED(error) tells why, in the
   thread that it happened in. */
#ifdef __cplusplus
extern "C" {
#endif
typedef struct NAMED(model) NAMED(model);
typedef struct NAMED(state) NAMED(state);

/* temperature: 0 takes the token of the highest score; others divide the scores. top_k: of the so many highest, 0: of
   all; top_p: of the fewest whose probabilities add up to it. The same seed gives the same tokens. */
typedef struct {
  double temperature, top_p;
  int64_t top_k;
  uint64_t seed;
} NAMED(sampling);

/* Map the file of weights; NULL if that fails, or if the CPU lacks an instruction set that the code uses. Threads may
   share a model, which must stay open while it has states. */
NAMED(model) *NAMED(open)(const char *weights);
void NAMED(close)(NAMED(model) *model);
const char *NAMED(error)(void);

/* The keys and values of BATCH sequences, of up to CONTEXT tokens each, and the memory that a run works in; NULL if there
   is none. One thread at a time uses a state. reset: no sequence has tokens. */
NAMED(state) *NAMED(create)(const NAMED(model) *model);
void NAMED(reset)(NAMED(state) *state);
void NAMED(free)(NAMED(state) *state);

/* The `count` tokens after a prompt into `out`, from a state that is reset first; fewer if `stop` comes (-1: none).
   how: NULL takes the token of the highest score. Returns how many; -1 for arguments that it is not made for. */
int64_t NAMED(generate)(NAMED(state) *state, const int64_t *prompt, int64_t length, const NAMED(sampling) *how,
                        int64_t stop, int64_t count, int64_t *out);

/* The parts of it, for several sequences: tokens of one behind those before; the next token of each into `ids`, which are
   those of the last call; the scores of all tokens, (sequence, token). */
int NAMED(prompt)(NAMED(state) *state, int64_t sequence, const int64_t *ids, int64_t count);
int NAMED(next)(NAMED(state) *state, const NAMED(sampling) *how, int64_t *ids);
const float *NAMED(scores)(NAMED(state) *state);
#ifdef __cplusplus
}
#endif
