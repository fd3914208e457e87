// VTA as C, after include/vta/hw_spec.h: three units that execute instructions in order and wait for each other by
// tokens alone, which flags of the instructions take and put.
//
// By default a call executes its instruction at once. Where vta_order is not 0, calls only put instructions into the
// queues of their units, and vta_finish executes them in an order that depends on it: any that the tokens allow. A
// program that lacks a token gives a wrong result in some of these orders, or never ends, which ends the process.
#include <stdint.h>
#include <stdlib.h>

enum { VTA_POP_PREV = 1, VTA_POP_NEXT = 2, VTA_PUSH_PREV = 4, VTA_PUSH_NEXT = 8 };
enum { VTA_ALU_MIN, VTA_ALU_MAX, VTA_ALU_ADD, VTA_ALU_SHR };

static int8_t inp[2048][16], wgt[1024][16][16];
static int32_t acc[2048][16];
static uint32_t vta_order;

enum { VTA_LOAD, VTA_COMPUTE, VTA_STORE, VTA_UNITS };
enum { VTA_LOAD_INP, VTA_LOAD_WGT, VTA_LOAD_ACC, VTA_STORE_OUT, VTA_GEMM, VTA_ALU };
typedef struct {
  int opcode, flags;
  void *address;
  int32_t fields[12];
} vta_instruction;

// Copies with two dimensions: y_size rows of x_size entries, x_stride entries apart in the memory of the CPU.
static void vta_copy(const vta_instruction *i) {
  int32_t to = i->fields[0], y_size = i->fields[1], x_size = i->fields[2], x_stride = i->fields[3];
  for (int32_t y = 0; y < y_size; ++y)
    for (int32_t x = 0; x < x_size; ++x) {
      int32_t here = to + y * x_size + x, there = y * x_stride + x;
      for (int n = 0; n < 16; ++n) {
        if (i->opcode == VTA_LOAD_INP)
          inp[here][n] = ((const int8_t(*)[16])i->address)[there][n];
        if (i->opcode == VTA_LOAD_ACC)
          acc[here][n] = ((const int32_t(*)[16])i->address)[there][n];
        if (i->opcode == VTA_STORE_OUT)
          ((int8_t(*)[16])i->address)[there][n] = (int8_t)(uint8_t)acc[here][n];
        for (int k = 0; i->opcode == VTA_LOAD_WGT && k < 16; ++k)
          wgt[here][n][k] = ((const int8_t(*)[16][16])i->address)[there][n][k];
      }
    }
}

static int32_t vta_operate(int32_t opcode, int32_t value, int32_t immediate) {
  switch (opcode) {
  case VTA_ALU_MIN: return value < immediate ? value : immediate;
  case VTA_ALU_MAX: return value > immediate ? value : immediate;
  case VTA_ALU_ADD: return (int32_t)((uint32_t)value + (uint32_t)immediate);
  default: return value >> immediate;
  }
}

// One micro-operation in two loops, whose factors are added to its entries.
static void vta_run_core(const vta_instruction *i) {
  const int32_t *f = i->fields;
  for (int32_t outer = 0; outer < f[4]; ++outer)
    for (int32_t inner = 0; inner < f[5]; ++inner) {
      int32_t *sum = acc[f[1] + outer * f[6] + inner * f[7]];
      for (int o = 0; o < 16; ++o) {
        if (i->opcode == VTA_ALU) {
          sum[o] = vta_operate(f[0], sum[o], f[2]);
          continue;
        }
        const int8_t *input = inp[f[2] + outer * f[8] + inner * f[9]];
        const int8_t(*weights)[16] = wgt[f[3] + outer * f[10] + inner * f[11]];
        for (int k = 0; k < 16; ++k)
          sum[o] = f[0] ? 0 : sum[o] + input[k] * weights[o][k];
      }
    }
}

static void vta_execute(const vta_instruction *i) {
  if (i->opcode < VTA_GEMM)
    vta_copy(i);
  else
    vta_run_core(i);
}

static vta_instruction *vta_queue[VTA_UNITS];
static int vta_count[VTA_UNITS], vta_done[VTA_UNITS];

static void vta_issue(int unit, vta_instruction i) {
  if (!vta_order) {
    vta_execute(&i);
    return;
  }
  vta_queue[unit] = realloc(vta_queue[unit], (vta_count[unit] + 1) * sizeof i);
  vta_queue[unit][vta_count[unit]++] = i;
}

// Tokens in the queue from one unit to its neighbor: to the one behind it, and to the one before.
static int vta_to_next[VTA_UNITS], vta_to_prev[VTA_UNITS];

static int vta_take(int unit, int flags) {
  if ((flags & VTA_POP_PREV && !vta_to_next[unit - 1]) || (flags & VTA_POP_NEXT && !vta_to_prev[unit + 1]))
    return 0;
  vta_to_next[unit - 1 + !unit] -= !!(flags & VTA_POP_PREV);
  vta_to_prev[(unit + 1) % VTA_UNITS] -= !!(flags & VTA_POP_NEXT);
  return 1;
}

// Execute all instructions, those of the units in an order of chance. Nothing may be left: no instruction, no token.
static void vta_finish(void) {
  for (int stuck = 0; stuck < 256;) {
    int unit = (vta_order = vta_order * 1664525u + 1013904223u) >> 16 & 3, *done = &vta_done[unit % VTA_UNITS];
    ++stuck;
    if (unit == VTA_UNITS || *done == vta_count[unit] || !vta_take(unit, vta_queue[unit][*done].flags))
      continue;
    const vta_instruction *i = &vta_queue[unit][(*done)++];
    vta_execute(i);
    vta_to_next[unit] += !!(i->flags & VTA_PUSH_NEXT);
    vta_to_prev[unit] += !!(i->flags & VTA_PUSH_PREV);
    stuck = 0;
  }
  for (int unit = 0; unit < VTA_UNITS; ++unit) {
    if (vta_done[unit] < vta_count[unit] || vta_to_next[unit] || vta_to_prev[unit])
      abort();
    vta_done[unit] = vta_count[unit] = 0;
  }
}

static void vta_load_inp(int flags, int32_t row, const int8_t *from, int32_t y_size, int32_t x_size, int32_t x_stride) {
  vta_issue(VTA_LOAD, (vta_instruction){VTA_LOAD_INP, flags, (void *)from, {row, y_size, x_size, x_stride}});
}

static void vta_load_wgt(int flags, int32_t row, const int8_t *from, int32_t y_size, int32_t x_size, int32_t x_stride) {
  vta_issue(VTA_LOAD, (vta_instruction){VTA_LOAD_WGT, flags, (void *)from, {row, y_size, x_size, x_stride}});
}

static void vta_load_acc(int flags, int32_t row, const int32_t *from, int32_t y_size, int32_t x_size, int32_t x_stride) {
  vta_issue(VTA_COMPUTE, (vta_instruction){VTA_LOAD_ACC, flags, (void *)from, {row, y_size, x_size, x_stride}});
}

static void vta_store(int flags, int8_t *to, int32_t row, int32_t y_size, int32_t x_size, int32_t x_stride) {
  vta_issue(VTA_STORE, (vta_instruction){VTA_STORE_OUT, flags, to, {row, y_size, x_size, x_stride}});
}

static void vta_gemm(int flags, int32_t reset, int32_t dst, int32_t src, int32_t weights, int32_t iter_out,
                     int32_t iter_in, int32_t dst_out, int32_t dst_in, int32_t src_out, int32_t src_in,
                     int32_t weights_out, int32_t weights_in) {
  vta_issue(VTA_COMPUTE, (vta_instruction){VTA_GEMM, flags, 0, {reset, dst, src, weights, iter_out, iter_in, dst_out,
                                                                dst_in, src_out, src_in, weights_out, weights_in}});
}

static void vta_alu_imm(int flags, int32_t opcode, int32_t dst, int32_t iter_out, int32_t iter_in, int32_t dst_out,
                        int32_t dst_in, int32_t immediate) {
  vta_issue(VTA_COMPUTE, (vta_instruction){VTA_ALU, flags, 0, {opcode, dst, immediate, 0, iter_out, iter_in, dst_out,
                                                               dst_in}});
}
