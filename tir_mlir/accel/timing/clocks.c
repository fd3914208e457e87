// The clocks of a machine: when each instruction of a run is issued, begins and ends, and what it waits for.
//
// `make entry` compiles this file to clocks.ll. All arrays are of 64-bit integers. Instructions are taken in the order
// of the program; a lane is a unit of a core.
#include <stdint.h>

enum { WORKS, WAITS };                                      // kinds of instructions
enum { READS = 1, WRITES = 2, RENAMES = 4 };                // what is done with a span of rows
enum { INSTRUCTIONS, RESULT, ROWS, TOKEN, SHARED, CAUSES };  // of waiting; SHARED + n: what resources of kind n give
enum { FINE, OVERFLOW, FULL, EMPTY, CONFLICT };             // faults

typedef struct {
  int64_t count;
  const int64_t *lane, *kind, *argument, *waited, *cycles, *latency; // of each instruction
  const int64_t *marks, *fifo, *puts;                                // marks[n] .. marks[n + 1]: the tokens that it passes
  const int64_t *spans, *first, *end, *access;                       // spans[n] .. spans[n + 1]: the rows that it uses
  const int64_t *holds, *resource, *hold;                            // the same of resources, and for how long
  int64_t lanes, causes, cores;
  const int64_t *queue, *strict, *core;               // of each lane
  const int64_t *interlocked;                         // 1: by rows of the machine, 2: by those of the CPU's memory
  const int64_t *fenced, *is_cpu;                     // whether the CPU has to wait for it; whether it is the CPU
  int64_t dispatch;                                   // cycles from one issue to the next
  int64_t host;                                       // the first row in the memory of the CPU
  const int64_t *ports, *cause, *refuses;             // of each resource; ports[n] .. ports[n + 1]
  const int64_t *depth;                               // of each FIFO of tokens
  const int64_t *history, *tokens; // where the instructions of each lane, the tokens of each FIFO are in the arrays below
  int64_t *next;                                      // of each core: its next instruction
  const int64_t *stop;
  int64_t *now, *free, *issued, *started, *done;
  int64_t *written, *writer, *read;                   // of each row
  int64_t *port, *pushes, *takes, *pushed, *taken;
  int64_t *start;                                     // the result: of each instruction
  int64_t *stalls;                                    // of each lane and cause, in cycles
  int64_t *blocked;                                   // of each core, for the queue of each lane, then for its wait
  int64_t fault, place, mark;                         // what is wrong, of which instruction, of which of its tokens
} tir_accel_run;

// Whether hardware keeps the order of what a lane does with a row, and what another one does after it.
static int is_ordered(const tir_accel_run *run, int64_t lane, int64_t row, int64_t after) {
  if (run->is_cpu[after])
    return !run->fenced[lane];
  return run->interlocked[lane] & (row < run->host ? 1 : 2);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }

// The completion of all but the last `left` instructions of a lane.
static int64_t completed(const tir_accel_run *run, int64_t lane, int64_t left) {
  int64_t last = run->issued[lane] - left - 1;
  return last < 0 ? 0 : run->done[run->history[lane] + last];
}

static void wait_for_lanes(tir_accel_run *run, int64_t n) {
  int64_t core = run->core[run->lane[n]], now = run->now[core] + run->dispatch;
  for (int64_t lane = 0; lane < run->lanes; ++lane) {
    if (!(run->waited[n] >> lane & 1))
      continue;
    int64_t ready = completed(run, lane, run->argument[n]);
    if (ready > now) {
      run->blocked[(core * 2 + 1) * run->lanes + lane] += ready - now;
      now = ready;
    }
  }
  run->start[n] = run->now[core] = now;
}

// The cycle in which the rows of an instruction are ready for it.
static int64_t rows_ready(const tir_accel_run *run, int64_t n, int64_t *cause) {
  int64_t lane = run->lane[n], written = 0, read = 0;
  for (int64_t s = run->spans[n]; s < run->spans[n + 1]; ++s) {
    if (run->access[s] & RENAMES)
      continue;
    for (int64_t row = run->first[s]; row < run->end[s]; ++row) {
      int64_t writer = run->writer[row];
      if (run->written[row] > written && (writer == lane || is_ordered(run, writer, row, lane)))
        written = run->written[row];
      if (run->access[s] & WRITES && run->read[row] > read)
        read = run->read[row];
    }
  }
  *cause = written >= read ? RESULT : ROWS;
  return later(written, read);
}

static void use_rows(tir_accel_run *run, int64_t n, int64_t end) {
  int64_t lane = run->lane[n];
  for (int64_t s = run->spans[n]; s < run->spans[n + 1]; ++s) {
    for (int64_t row = run->first[s]; row < run->end[s]; ++row) {
      if (run->access[s] & WRITES) {
        run->written[row] = end + run->latency[n];
        run->writer[row] = lane;
      }
      if (run->access[s] & READS && run->interlocked[lane] & (row < run->host ? 1 : 2) && run->read[row] < end)
        run->read[row] = end;
    }
  }
}

// The free ports of the resources of an instruction, marked as taken by -1 - the cycle from which each is free.
static int64_t take_ports(tir_accel_run *run, int64_t n, int64_t earliest, int64_t *cause) {
  int64_t wanted = earliest;
  for (int64_t h = run->holds[n]; h < run->holds[n + 1]; ++h) {
    int64_t of = run->resource[h], best = -1;
    for (int64_t p = run->ports[of]; p < run->ports[of + 1]; ++p) {
      if (run->port[p] >= 0 && (best < 0 || run->port[p] < run->port[best]))
        best = p;
    }
    if (best < 0)
      continue;
    if (run->port[best] > earliest) {
      earliest = run->port[best];
      *cause = SHARED + run->cause[of];
      if (run->refuses[of] && earliest > wanted)
        run->fault = CONFLICT;
    }
    run->port[best] = -1 - run->port[best];
  }
  return earliest;
}

static void hold_ports(tir_accel_run *run, int64_t n, int64_t start) {
  for (int64_t h = run->holds[n]; h < run->holds[n + 1]; ++h) {
    int64_t of = run->resource[h];
    for (int64_t p = run->ports[of]; p < run->ports[of + 1]; ++p) {
      if (run->port[p] < 0) {
        run->port[p] = start + run->hold[h];
        break;
      }
    }
  }
}

// The cycle from which on a token of an instruction is there, or there is room for it; -1: never.
static int64_t token_ready(const tir_accel_run *run, int64_t mark) {
  int64_t fifo = run->fifo[mark], at = run->tokens[fifo];
  if (!run->puts[mark])
    return run->takes[fifo] < run->pushes[fifo] ? run->pushed[at + run->takes[fifo]] : -1;
  int64_t before = run->pushes[fifo] - run->depth[fifo];
  return before < 0 ? 0 : before < run->takes[fifo] ? run->taken[at + before] : -1;
}

// Take the tokens of an instruction as it starts, and put others when it and all before it are done.
static void pass_tokens(tir_accel_run *run, int64_t n, int64_t start, int64_t done) {
  for (int64_t m = run->marks[n]; m < run->marks[n + 1]; ++m) {
    int64_t fifo = run->fifo[m], at = run->tokens[fifo];
    if (run->puts[m])
      run->pushed[at + run->pushes[fifo]++] = done;
    else
      run->taken[at + run->takes[fifo]++] = start;
  }
}

// The cycle in which an instruction is issued: there is room in the queue of its lane.
static int64_t issue(tir_accel_run *run, int64_t n) {
  int64_t lane = run->lane[n], core = run->core[lane], now = run->now[core];
  if (run->is_cpu[lane])
    return now;
  now += run->dispatch;
  int64_t before = run->issued[lane] - run->queue[lane];
  int64_t room = before < 0 ? 0 : run->started[run->history[lane] + before];
  if (room > now) {
    if (run->strict[lane])
      run->fault = OVERFLOW;
    run->blocked[core * 2 * run->lanes + lane] += room - now;
    now = room;
  }
  return run->now[core] = now;
}

static void execute(tir_accel_run *run, int64_t n) {
  int64_t lane = run->lane[n], now = issue(run, n), free = run->free[lane], cause = RESULT;
  int64_t earliest = rows_ready(run, n, &cause);
  for (int64_t m = run->marks[n]; m < run->marks[n + 1] && !run->fault; ++m) {
    int64_t ready = token_ready(run, m);
    if (ready < 0) {
      run->fault = run->puts[m] ? FULL : EMPTY;
      run->mark = m;
    }
    if (ready > earliest)
      earliest = ready, cause = TOKEN;
  }
  if (run->fault)
    return;
  earliest = take_ports(run, n, later(earliest, later(now, free)), &cause);
  if (run->fault)
    return;
  int64_t start = later(later(now, free), earliest), end = start + run->cycles[n];
  if (start > free) {
    int64_t issued = later(0, (start < now ? start : now) - free);
    run->stalls[lane * run->causes + INSTRUCTIONS] += issued;
    run->stalls[lane * run->causes + cause] += start - free - issued;
  }
  hold_ports(run, n, start);
  use_rows(run, n, end);
  int64_t at = run->history[lane] + run->issued[lane]++;
  int64_t earlier = run->issued[lane] > 1 ? run->done[at - 1] : 0;
  run->start[n] = run->started[at] = start;
  run->free[lane] = end;
  run->done[at] = later(earlier, end + run->latency[n]);
  pass_tokens(run, n, start, run->done[at]);
  if (run->is_cpu[lane])
    run->now[run->core[lane]] = end;
}

// Run all instructions: always the next one of the core that is behind. Returns the cycle in which the last part is done;
// on a fault, `place` is its instruction.
int64_t tir_accel_clock(tir_accel_run *run) {
  int64_t cycles = 0;
  for (int64_t done = 0; done < run->count; ++done) {
    int64_t core = -1;
    for (int64_t c = 0; c < run->cores; ++c) {
      if (run->next[c] < run->stop[c] && (core < 0 || run->now[c] < run->now[core]))
        core = c;
    }
    int64_t n = run->next[core]++;
    if (run->kind[n] == WAITS)
      wait_for_lanes(run, n);
    else
      execute(run, n);
    if (run->fault) {
      run->place = n;
      return 0;
    }
  }
  for (int64_t core = 0; core < run->cores; ++core)
    cycles = later(cycles, run->now[core]);
  for (int64_t lane = 0; lane < run->lanes; ++lane)
    cycles = later(cycles, later(run->free[lane], completed(run, lane, 0)));
  return cycles;
}

// The instructions of other lanes, which are not interlocked, that each instruction has to wait for: how many of each
// lane have to be complete. `last`: of each row and lane, the last one that read it.
void tir_accel_needs(const tir_accel_run *run, int64_t *last, int64_t *needs) {
  int64_t lanes = run->lanes;
  for (int64_t n = 0; n < run->count; ++n) {
    int64_t own = run->lane[n], *need = needs + n * lanes;
    if (run->kind[n] == WAITS)
      continue;
    int64_t number = ++run->issued[own];
    for (int64_t s = run->spans[n]; s < run->spans[n + 1]; ++s) {
      for (int64_t row = run->first[s]; row < run->end[s]; ++row) {
        int64_t writer = run->writer[row];
        if (run->written[row] && writer != own && !is_ordered(run, writer, row, own))
          need[writer] = later(need[writer], run->written[row]);
        if (!(run->access[s] & WRITES))
          continue;
        for (int64_t lane = 0; lane < lanes; ++lane) {
          if (lane != own && !is_ordered(run, lane, row, own))
            need[lane] = later(need[lane], last[row * lanes + lane]);
        }
      }
    }
    for (int64_t s = run->spans[n]; s < run->spans[n + 1]; ++s) {
      for (int64_t row = run->first[s]; row < run->end[s]; ++row) {
        if (run->access[s] & READS)
          last[row * lanes + own] = number;
        if (run->access[s] & WRITES) {
          run->written[row] = number;
          run->writer[row] = own;
        }
      }
    }
  }
}

// How many instructions of each lane are known to be complete when each instruction begins, by waits and tokens alone.
// `at_core`, `at_lane`, `at_token`: what a core, a lane, a token knows, all 0 before.
void tir_accel_known(tir_accel_run *run, int64_t *at_core, int64_t *at_lane, int64_t *at_token, int64_t *known) {
  int64_t lanes = run->lanes;
  for (int64_t n = 0; n < run->count; ++n) {
    int64_t own = run->lane[n], core = run->core[own], *mine = known + n * lanes;
    int64_t *dispatcher = at_core + core * lanes, *unit = at_lane + own * lanes;
    if (run->kind[n] == WAITS) {
      for (int64_t lane = 0; lane < lanes; ++lane) {
        int64_t complete = run->issued[lane] - run->argument[n];
        if (!(run->waited[n] >> lane & 1) || complete <= dispatcher[lane])
          continue;
        const int64_t *other = known + run->started[run->history[lane] + complete - 1] * lanes;
        for (int64_t l = 0; l < lanes; ++l)
          dispatcher[l] = later(dispatcher[l], other[l]);
        dispatcher[lane] = later(dispatcher[lane], complete);
      }
      for (int64_t l = 0; l < lanes; ++l)
        mine[l] = dispatcher[l];
      continue;
    }
    for (int64_t m = run->marks[n]; m < run->marks[n + 1]; ++m) {
      int64_t fifo = run->fifo[m];
      if (run->puts[m] || run->takes[fifo] >= run->pushes[fifo])
        continue;
      const int64_t *token = at_token + (run->tokens[fifo] + run->takes[fifo]++) * lanes;
      for (int64_t l = 0; l < lanes; ++l)
        unit[l] = later(unit[l], token[l]);
    }
    for (int64_t l = 0; l < lanes; ++l)
      mine[l] = unit[l] = later(unit[l], dispatcher[l]);
    for (int64_t m = run->marks[n]; m < run->marks[n + 1]; ++m) {
      int64_t fifo = run->fifo[m];
      if (!run->puts[m])
        continue;
      int64_t *token = at_token + (run->tokens[fifo] + run->pushes[fifo]++) * lanes;
      for (int64_t l = 0; l < lanes; ++l)
        token[l] = l == own ? run->issued[own] + 1 : unit[l];
    }
    run->started[run->history[own] + run->issued[own]++] = n;
  }
}
