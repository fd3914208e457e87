/* One candidate on a board: reads its arguments, runs it, writes its results, times it.

   Linked statically with the object file of the candidate and with the description of its parameters (tir_*), so that a
   board needs nothing but a kernel of Linux and a shell. Arguments: FOLDER CPU_SECONDS WAIT_SECONDS BYTES MODE SHORTEST
   FEWEST MOST BUDGET BEST. MODE "trial": results, then single runs; "turn": one sample. What it writes, in lines:
   `results N` and N bytes of the written buffers, `first S`, `run S` for each sample, `slow` if it is hopeless, `done`.
   Exit code 3: the folder lacks a buffer. */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

extern const int tir_count;
extern const uint64_t tir_bytes[];
extern const char tir_written[];
void tir_bind(void **data);
void tir_call(void);

enum { NO_DATA = 3, NO_MEMORY = 4, LINE = 64, HOPELESS = 3 };

/* Wall time: a board does nothing else, and its clock of CPU time may be coarse. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double once(long times) {
  double start = now();
  for (long i = 0; i < times; ++i) tir_call();
  return (now() - start) / times;
}

static void say(const char *what, double seconds) {
  printf("%s %.9g\n", what, seconds);
  fflush(stdout);
}

static void *filled(const char *folder, int number) {
  char path[4096];
  uint64_t size = (tir_bytes[number] + LINE - 1) / LINE * LINE;
  void *data = aligned_alloc(LINE, size ? size : LINE);
  if (!data) exit(NO_MEMORY);
  snprintf(path, sizeof path, "%s/in%d", folder, number);
  FILE *file = fopen(path, "rb");
  if (!file || fread(data, 1, tir_bytes[number], file) != tir_bytes[number]) exit(NO_DATA);
  fclose(file);
  return data;
}

static void limit(const char *cpu, const char *wait, const char *bytes) {
  struct rlimit seconds = {strtoul(cpu, 0, 10), strtoul(cpu, 0, 10) + 1}; /* SIGXCPU tells why, SIGKILL does not */
  struct rlimit memory = {strtoull(bytes, 0, 10), 0};
  memory.rlim_max = memory.rlim_cur;
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CPU, &seconds);
  setrlimit(RLIMIT_DATA, &memory);
  setrlimit(RLIMIT_CORE, &none);
  alarm(strtoul(wait, 0, 10));
}

static void write_results(void **data) {
  uint64_t size = 0;
  for (int n = 0; n < tir_count; ++n) size += tir_written[n] ? tir_bytes[n] : 0;
  printf("results %llu\n", (unsigned long long)size);
  for (int n = 0; n < tir_count; ++n)
    if (tir_written[n]) fwrite(data[n], 1, tir_bytes[n], stdout);
  fflush(stdout);
}

int main(int count, char **words) {
  if (count != 11) return 2;
  limit(words[2], words[3], words[4]);
  void **data = calloc(tir_count + 1, sizeof *data);
  for (int n = 0; n < tir_count; ++n) data[n] = filled(words[1], n);
  tir_bind(data);
  double shortest = atof(words[6]), budget = atof(words[9]), best = atof(words[10]), sum = 0;
  long fewest = atol(words[7]), most = atol(words[8]), samples = 0;
  int is_trial = !strcmp(words[5], "trial");
  tir_call();
  if (is_trial) write_results(data);
  double first = once(1);
  long times = (long)(shortest / (first > 1e-7 ? first : 1e-7)) + 1;
  say("first", first);
  if (is_trial && best > 0 && first > HOPELESS * best && (first = once(1)) > HOPELESS * best) {
    say("run", first);
    puts("slow");
    return 0;
  }
  while (samples < (is_trial ? fewest : 1) || (is_trial && samples < most && sum * times < budget)) {
    double seconds = once(times);
    say("run", seconds);
    sum += seconds;
    ++samples;
  }
  puts("done");
  return 0;
}
