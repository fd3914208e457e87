/* What Python runs when it calls a compiled function: a vectorcall that knows from earlier calls which arguments fit.

   The first call with arguments of some types, shapes and strides goes to `slow`, the Python object that checks them with
   care and then leaves a plan here: what it compared, and the memref descriptors but for their pointers. A call that
   fits a plan in every point runs at once; any other goes to `slow`, which converts, refuses, or leaves another plan.

   Everything that is needed of Python comes as an address in `python`: this file has no undefined symbol.
   entry.ll is made of it by `make entry`, so that no C compiler is needed where the package runs. */

typedef long long word;
typedef unsigned long long address;

typedef struct { word references; void *type; } object;

/* NumPy's array object: the same fields in NumPy 1 and 2 */
typedef struct {
  object head;
  address data;
  int rank;
  const word *shape, *strides;
  object *base;
  address descr;
  int flags;
} array;

enum { WRITEABLE = 0x400, WARNS = (int)0x80000000 };

typedef struct { word seconds, nanoseconds; } moment;

typedef struct {
  void *array_type, *int_type, *float_type;
  object *none, *yes, *no;
  word none_is_counted;
  object *(*call)(object *, object *const *, address, object *);
  object *(*names_as_dict)(object *const *, object *); /* what `call` of Python 3.10 wants; else 0 */
  void *(*release)(void);
  void (*acquire)(void *);
  word (*to_int)(object *, int *);
  double (*to_double)(object *);
  void (*forget)(object *);
  void (*free)(void *);
  int (*clock)(int, moment *);
  word clock_id;
} python;

enum { BUFFER, SIZE, INTEGER, SINGLE, DOUBLE, BOOLEAN };

typedef struct { word kind, number; } param; /* number: the rank of a buffer, the bits of an integer */

/* A plan: this head, then words for each parameter. A size has its value, other numbers have nothing. */
typedef struct { word short_run, tries, calls; } plan;
/* A buffer has these, then in bytes its strides, then the rest of its descriptor: offset, sizes, strides. */
typedef struct { address descr, misaligned; word written, back, low, high; } slot;

enum { TRIES = 8, SAMPLE = 64, SHORT = 20000 /* ns */, MAX_ARGS = 64, MAX_WORDS = 768 };

typedef struct {
  const python *py;
  void (*run)(word *);
  word count; /* of parameters */
  word noalias, always_release;
  word plans, last, plan_words;
  word *memory;
  param params[];
} function;

typedef struct { object head; void *vectorcall; function *f; object *slow; } callable;

static word now(const python *py) {
  moment t;
  py->clock((int)py->clock_id, &t);
  return t.seconds * 1000000000 + t.nanoseconds;
}

/* The value of a Python number, as the bits that the parameter takes; 0 when it is of another type or does not fit. */
static int number(const python *py, const param *p, object *value, word *bits) {
  union { word bits; float single; double twice; } to = {0};
  int overflow = 0;
  if (p->kind == BOOLEAN) {
    *bits = value == py->yes;
    return value == py->yes || value == py->no;
  }
  if (p->kind == SINGLE || p->kind == DOUBLE) {
    if (value->type != py->float_type) return 0;
    double x = py->to_double(value);
    if (p->kind == SINGLE) to.single = (float)x;
    else to.twice = x;
    *bits = to.bits;
    return 1;
  }
  if (value->type != py->int_type) return 0;
  word x = *bits = py->to_int(value, &overflow);
  return !overflow && x == (word)((address)x << (64 - p->number)) >> (64 - p->number);
}

/* Whether the arguments fit a plan; `run` then has what to call with, `frame` the descriptors. */
static int fits(const function *f, const word *next, object *const *args, word *run, word *frame) {
  const python *py = f->py;
  struct { address low, high; word written; } reach[MAX_ARGS];
  int buffers = 0;
  for (word i = 0; i < f->count; ++i) {
    const param *p = &f->params[i];
    if (p->kind != BUFFER) {
      if (!number(py, p, args[i], &run[i])) return 0;
      if (p->kind == SIZE && run[i] != *next++) return 0;
      continue;
    }
    const array *a = (const array *)args[i];
    const slot *s = (const slot *)next;
    const word rank = p->number, *strides = (const word *)(s + 1), *rest = strides + rank;
    if (a->head.type != py->array_type || a->descr != s->descr || a->rank != rank) return 0;
    for (word d = 0; d < rank; ++d)
      if (a->shape[d] != rest[1 + d] || a->strides[d] != strides[d]) return 0;
    const address start = a->data;
    if (start & s->misaligned) return 0;
    if (s->written && (a->flags & (WRITEABLE | WARNS)) != WRITEABLE) return 0;
    if (f->noalias) {
      const address low = start + s->low, high = start + s->high;
      for (int j = 0; j < buffers; ++j)
        if ((s->written || reach[j].written) && reach[j].high > low && high > reach[j].low) return 0;
      reach[buffers].low = low, reach[buffers].high = high, reach[buffers].written = s->written;
      ++buffers;
    }
    run[i] = (word)frame;
    *frame++ = (word)(start - s->back);
    *frame++ = (word)(start - s->back);
    for (word d = 0; d < 2 * rank + 1; ++d) *frame++ = rest[d];
    next = rest + 2 * rank + 1;
  }
  return 1;
}

/* Run, and let other Python threads run meanwhile unless it takes less than they would have to wait for anyway. How
   long it takes is known from earlier runs; one of SAMPLE is looked at again. */
static void run(const function *f, plan *known, word *args) {
  const python *py = f->py;
  if (known->short_run && ++known->calls % SAMPLE) {
    f->run(args);
    return;
  }
  if (known->short_run) {
    const word start = now(py);
    f->run(args);
    if (now(py) - start > SHORT) known->short_run = 0;
    return;
  }
  const int look = !f->always_release && known->tries < TRIES;
  word took = SHORT;
  known->tries += look;
  void *thread = py->release();
  if (look) {
    const word start = now(py);
    f->run(args);
    took = now(py) - start;
  } else {
    f->run(args);
  }
  py->acquire(thread);
  if (took < SHORT) known->short_run = 1;
}

object *tir_vectorcall(object *self, object *const *args, address flags, object *names) {
  function *f = ((callable *)self)->f;
  const python *py = f->py;
  word values[MAX_ARGS], frame[MAX_WORDS];
  const word count = (word)(flags << 1 >> 1);
  if (count == f->count && !names) {
    word at = f->last;
    for (word tried = 0; tried < f->plans; ++tried) {
      word *memory = f->memory + at * f->plan_words;
      if (fits(f, (const word *)((const plan *)memory + 1), args, values, frame)) {
        f->last = at;
        run(f, (plan *)memory, values);
        if (py->none_is_counted) ++py->none->references;
        return py->none;
      }
      at = at + 1 < f->plans ? at + 1 : 0;
    }
  }
  object *slow = ((callable *)self)->slow;
  if (!names || !py->names_as_dict) return py->call(slow, args, flags, names);
  object *options = py->names_as_dict(args + count, names);
  if (!options) return 0;
  object *result = py->call(slow, args, flags, options);
  py->forget(options);
  return result;
}

void tir_dealloc(object *self) {
  const python *py = ((callable *)self)->f->py;
  object *slow = ((callable *)self)->slow, *type = self->type;
  py->free(self);
  py->forget(slow); /* it owns f */
  py->forget(type);
}
