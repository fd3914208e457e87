/* What Python runs when it calls a compiled function: a vectorcall that knows from earlier calls which arguments fit.

   The first call with arguments of some types, shapes and strides goes to `slow`, the Python object that checks them with
   care and then leaves a plan here: what it compared, and the memref descriptors but for their pointers. A call that
   fits a plan in every point runs at once; any other goes to `slow`, which converts, refuses, or leaves another plan.

   The work of a plan is code of this process, or kernels that it starts on a GPU.

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

/* DLPack's DLTensor */
typedef struct {
  address data;
  int device, device_id, rank;
  unsigned dtype;
  const word *shape, *strides;
  address offset;
} tensor;

enum { CPU = 1 };

enum { WRITEABLE = 0x400, WARNS = (int)0x80000000 };

typedef struct { word seconds, nanoseconds; } moment;

typedef struct {
  void *int_type, *float_type;
  object *none, *yes, *no;
  word none_is_counted;
  object *(*call)(object *, object *const *, address, object *);
  object *(*names_as_dict)(object *const *, object *); /* what `call` of Python 3.10 wants; else 0 */
  object *(*item)(object *, word); /* of a tuple, not counted */
  word (*size)(object *);          /* of a tuple */
  void *(*release)(void);
  void (*acquire)(void *);
  word (*to_int)(object *, int *);
  double (*to_double)(object *);
  object *(*attribute)(object *, object *);
  void (*clear_error)(void);
  void (*forget)(object *);
  void (*free)(void *);
  int (*clock)(int, moment *);
  word clock_id;
} python;

enum { BUFFER, SIZE, INTEGER, SINGLE, DOUBLE, BOOLEAN, UNSIGNED };

/* number: the rank of a buffer, the bits of an integer; name: an interned string, 0 if another parameter has it too */
typedef struct { word kind, number; object *name; } param;

/* What a call starts on a GPU, as a plan prepared it. status: of the first start that failed after another one had not.
   process: the one that may use the GPU. current_stream: DLPack's function of the package of the tensors. bound: whether
   the launches are for `stream` only, as memory that they work in is. allocate, release: of memory in the order of a
   stream, for the buffers of the function. Then, the bytes of each of these; for each launch, its kernel, grid x y z, block
   x y z, bytes of shared memory, and a source and a value for each argument. */
typedef struct {
  word status, process;
  int (*this_process)(void);
  int (*get_context)(void **);
  int (*set_context)(void *);
  void *context;
  int (*current_stream)(int, int, void **);
  word bound;
  void *stream;
  word device, device_id;
  int (*start)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **);
  int (*allocate)(address *, address, void *);
  int (*release)(address, void *);
  word buffers, launches;
} kernels;

enum { LAUNCH_HEAD = 9 }; /* words: the kernel, its sizes, the number of arguments */
/* sources of an argument; the value is the index of a parameter, of a buffer of the function, or the argument */
enum { OF_BUFFER, OF_NUMBER, CONSTANT, OF_FUNCTION };

/* A plan: this head, then words for each parameter. A size has its value, other numbers have nothing.
   kernels: what to start on a GPU, instead of the function's `run`, or 0. */
typedef struct { word short_run, tries, calls; kernels *kernels; } plan;
/* A buffer has these, then its strides as its type has them, then the rest of its descriptor: offset, sizes, strides.
   type: that of the argument, a NumPy array unless it has `exchange`, DLPack's function that lends a tensor; dtype: the
   array's descr, or the tensor's, which is on `device`. grad: the name of an attribute that must be False, or 0. */
typedef struct {
  void *type;
  int (*exchange)(object *, tensor *);
  object *grad;
  word device, device_id;
  address dtype, misaligned;
  word written, back, low, high;
} slot;

enum { TRIES = 8, SAMPLE = 64, SHORT = 20000 /* ns */ };

typedef struct {
  const python *py;
  void (*run)(word *);
  word count; /* of parameters */
  word noalias, always_release;
  word plans, last, plan_words;
  word frame_words; /* of all descriptors */
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
  if (p->kind == UNSIGNED) return !overflow && x >= 0 && (p->number == 64 || !(x >> p->number)); /* 2^63 on: `slow` */
  return !overflow && x == (word)((address)x << (64 - p->number)) >> (64 - p->number);
}

/* Borrow a tensor; 0 if it does not fit. */
static int borrowed(const python *py, const slot *s, object *value, word rank, tensor *t) {
  if (s->grad) {
    object *grad = py->attribute(value, s->grad);
    if (!grad) py->clear_error();
    else py->forget(grad);
    if (grad != py->no) return 0;
  }
  if (s->exchange(value, t)) {
    py->clear_error();
    return 0;
  }
  t->data += t->offset;
  if (t->device != s->device || (t->device != CPU && t->device_id != s->device_id)) return 0;
  return t->dtype == s->dtype && t->rank == rank && (t->strides || !rank);
}

/* The memory of an argument; 0 if it does not fit. */
static int viewed(const python *py, const slot *s, object *value, word rank, tensor *t) {
  if (value->type != s->type) return 0;
  if (s->exchange) return borrowed(py, s, value, rank, t);
  const array *a = (const array *)value;
  t->data = a->data, t->shape = a->shape, t->strides = a->strides;
  return a->descr == s->dtype && a->rank == rank && (!s->written || (a->flags & (WRITEABLE | WARNS)) == WRITEABLE);
}

typedef struct { address low, high; } reach;

/* Whether an array reaches into one of these: in addresses, `slow` looks at elements. */
static int meets(const reach *others, word count, address low, address high) {
  for (word j = 0; j < count; ++j)
    if (others[j].high > low && high > others[j].low) return 1;
  return 0;
}

/* Whether the arguments fit a plan; `run` then has what to call with, `frame` the descriptors. */
static int fits(const function *f, const word *next, object *const *args, word *run, word *frame) {
  const python *py = f->py;
  reach written[f->count + 1], *read = written + f->count; /* from both ends; `read` is the last one added */
  word writes = 0, reads = 0;
  for (word i = 0; i < f->count; ++i) {
    const param *p = &f->params[i];
    if (p->kind != BUFFER) {
      if (!number(py, p, args[i], &run[i])) return 0;
      if (p->kind == SIZE && run[i] != *next++) return 0;
      continue;
    }
    const slot *s = (const slot *)next;
    const word rank = p->number, *strides = (const word *)(s + 1), *rest = strides + rank;
    tensor t;
    if (!viewed(py, s, args[i], rank, &t)) return 0;
    for (word d = 0; d < rank; ++d)
      if (t.shape[d] != rest[1 + d] || t.strides[d] != strides[d]) return 0;
    const address start = t.data;
    if (start & s->misaligned) return 0;
    if (f->noalias) {
      const reach own = {start + s->low, start + s->high};
      if (meets(written, writes, own.low, own.high)) return 0;
      if (s->written && meets(read, reads, own.low, own.high)) return 0;
      if (s->written) written[writes++] = own;
      else *--read = own, ++reads;
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

/* Start one kernel, whose words are `next`. */
static int start_one(const kernels *k, word *next, word *args, address *memory, void *stream) {
  const word count = next[8];
  void *arguments[count + 1];
  word *source = next + LAUNCH_HEAD;
  for (word n = 0; n < count; ++n, source += 2)
    arguments[n] = source[0] == CONSTANT      ? (void *)&source[1]
                   : source[0] == OF_BUFFER   ? (void *)((word *)args[source[1]] + 1)
                   : source[0] == OF_FUNCTION ? (void *)&memory[source[1]]
                                              : (void *)&args[source[1]];
  return k->start((void *)next[0], (unsigned)next[1], (unsigned)next[2], (unsigned)next[3], (unsigned)next[4],
                  (unsigned)next[5], (unsigned)next[6], (unsigned)next[7], stream, arguments, 0);
}

/* Start the kernels of a plan, with memory for the buffers of the function; the number of those started. */
static word start_all(kernels *k, word *args, void *stream, int *status) {
  const word *sizes = (const word *)(k + 1);
  address memory[k->buffers + 1];
  word held = 0, started = 0, *next = (word *)sizes + k->buffers;
  for (; held < k->buffers; ++held)
    if ((*status = k->allocate(&memory[held], (address)sizes[held], stream))) break;
  for (; !*status && started < k->launches; started += !*status) {
    *status = start_one(k, next, args, memory, stream);
    next += LAUNCH_HEAD + 2 * next[8];
  }
  while (held) k->release(memory[--held], stream);
  return started;
}

/* Start kernels in the context of their device. Returns the driver's status; that of a start that failed after another
   one had not is kept, as what was started must not be started again. Called without the lock of the interpreter. */
int tir_start(kernels *k, word *args, void *stream) {
  void *context = 0;
  int status = k->get_context(&context);
  if (!status && context != k->context) status = k->set_context(k->context);
  const word started = status ? 0 : start_all(k, args, stream, &status);
  if (context && context != k->context) k->set_context(context);
  if (status && started) k->status = status;
  return status;
}

/* Start the kernels of a plan on the stream of the tensors' package; 0 if `slow` has to do it, or to say why not. */
static int start(const function *f, kernels *k, word *args) {
  void *stream = 0;
  if (k->this_process() != k->process || k->status) return 0;
  if (k->current_stream((int)k->device, (int)k->device_id, &stream)) {
    f->py->clear_error();
    return 0;
  }
  if (k->bound && stream != k->stream) return 0;
  void *thread = f->py->release();
  const int status = tir_start(k, args, stream);
  f->py->acquire(thread);
  return !status;
}

/* The arguments in the order of the parameters; 0 if the names are not those of the parameters that are left. */
static int in_order(const function *f, object *const *args, word given, object *names, object **ordered) {
  const python *py = f->py;
  if (given + py->size(names) != f->count) return 0;
  for (word i = 0; i < f->count; ++i) ordered[i] = i < given ? args[i] : 0;
  word at = given; /* names mostly come in order */
  for (word i = given; i < f->count; ++i) {
    const object *name = py->item(names, i - given);
    word tried = given;
    for (; tried < f->count && f->params[at].name != name; ++tried) at = at + 1 < f->count ? at + 1 : given;
    if (tried == f->count || ordered[at]) return 0;
    ordered[at] = args[i];
    at = at + 1 < f->count ? at + 1 : given;
  }
  return 1;
}

/* Run if the arguments fit a plan. */
static int run_known(function *f, object *const *args) {
  word values[f->count + 1], frame[f->frame_words + 1], at = f->last;
  for (word tried = 0; tried < f->plans; ++tried) {
    word *memory = f->memory + at * f->plan_words;
    if (fits(f, (const word *)((const plan *)memory + 1), args, values, frame)) {
      f->last = at;
      kernels *k = ((plan *)memory)->kernels;
      if (k) return start(f, k, values);
      run(f, (plan *)memory, values);
      return 1;
    }
    at = at + 1 < f->plans ? at + 1 : 0;
  }
  return 0;
}

static int run_named(function *f, object *const *args, word given, object *names) {
  object *ordered[f->count + 1];
  return in_order(f, args, given, names, ordered) && run_known(f, ordered);
}

object *tir_vectorcall(object *self, object *const *args, address flags, object *names) {
  function *f = ((callable *)self)->f;
  const python *py = f->py;
  const word count = (word)(flags << 1 >> 1);
  if (names ? run_named(f, args, count, names) : count == f->count && run_known(f, args)) {
    if (py->none_is_counted) ++py->none->references;
    return py->none;
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
