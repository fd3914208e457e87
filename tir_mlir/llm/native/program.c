/* A program of a language model: token ids in, token ids out, one on a line. After it: MODEL and NAMED. */

static const char usage[] =
    "[-w WEIGHTS] [-n COUNT] [-t TEMPERATURE] [-k TOP_K] [-p TOP_P] [-s SEED] [-e STOP] [ID...]\n"
    "Prints the tokens that follow after some, which are read from the input where none are given.\n";

static int wrong(const char *reason, const char *text) {
  fprintf(stderr, "%s: %s%s\nusage: %s %s", MODEL, reason, text, MODEL, usage);
  return 2;
}

static int number_of(const char *text, double *found) {
  char *end;
  *found = strtod(text, &end);
  return end == text || *end;
}

int main(int argc, char **argv) {
  const char *weights = MODEL ".safetensors";
  double option[128] = {['n'] = 64, ['t'] = 0, ['k'] = 0, ['p'] = 1, ['s'] = 0, ['e'] = -1}, id;
  int at = 1;
  for (; at < argc && argv[at][0] == '-' && argv[at][1]; at += 2) {
    char name = argv[at][1];
    if (argv[at][2] || !strchr("wntkpse", name)) return wrong("there is no option ", argv[at]);
    if (at + 1 == argc) return wrong("there is no value of ", argv[at]);
    if (name == 'w') weights = argv[at + 1];
    else if (number_of(argv[at + 1], &option[(int)name])) return wrong("no number: ", argv[at + 1]);
  }
  int64_t room = 1024, length = 0, *ids = malloc(room * sizeof *ids);
  char text[64];
  for (int given = at < argc; ids && (given ? at < argc : scanf("%63s", text) == 1);) {
    const char *word = given ? argv[at++] : text;
    if (number_of(word, &id) || id != (int64_t)id) return wrong("no token: ", word);
    if (length == room) ids = realloc(ids, (room *= 2) * sizeof *ids);
    if (ids) ids[length++] = (int64_t)id;
  }
  NAMED(model) *model = ids ? NAMED(open)(weights) : NULL;
  NAMED(state) *state = model ? NAMED(create)(model) : NULL;
  NAMED(sampling) how = {option['t'], option['p'], (int64_t)option['k'], (uint64_t)option['s']};
  int64_t next[BATCH] = {0};
  int failed = !state || NAMED(prompt)(state, 0, ids, length);
  for (int64_t n = 0; !failed && n < (int64_t)option['n']; n++) {
    failed = NAMED(next)(state, &how, next);
    if (!failed) printf("%lld\n", (long long)next[0]);
    fflush(stdout);
    if (next[0] == (int64_t)option['e']) break;
  }
  if (failed) fprintf(stderr, "%s\n", ids ? NAMED(error)() : "there is no memory");
  NAMED(free)(state);
  NAMED(close)(model);
  free(ids);
  return failed;
}
