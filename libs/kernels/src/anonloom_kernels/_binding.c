/* Binds the entries of a package's kernels to Python: checks arguments, releases the lock, calls.
 *
 * A signature is read once, when the kernel is bound. See kernel.h for its grammar.
 */
#include "kernel.h"

#define MOST_LEAVES 96
#define MOST_SIZES 48
#define MOST_RESULTS 8

typedef enum { SIZE_ANY, SIZE_NUMBER, SIZE_NAMED } SizeKind;

/* One side of an array: any, a number, or a name and what is added to it. */
typedef struct {
  SizeKind kind;
  int name; /* index into the binding's names of sizes */
  int64_t number;
} Side;

typedef enum { LEAF, OPENING, CLOSING } NodeKind;

/* The signature as a list: arguments, and where tuples begin and end. */
typedef struct {
  NodeKind kind;
  KernelType type;
  int dimensions, written;
  int items; /* of a tuple: how many things it holds itself */
  Side sides[KERNEL_DIMENSIONS];
  char name[32];
} Node;

typedef struct {
  const KernelEntry *entry;
  int nodes, leaves, arguments, names, results;
  Node node[2 * MOST_LEAVES];
  char size_name[MOST_SIZES][24];
  KernelType result[MOST_RESULTS];
} Binding;

static const struct {
  const char *word, *numpy;
  KernelType type;
  char kind; /* of a buffer's format: bool, signed, unsigned, real */
  int bytes;
} ARRAY_TYPES[] = {
    {"bool", "bool", TYPE_BOOL, 'b', 1},     {"u8", "uint8", TYPE_U8, 'u', 1},
    {"i32", "int32", TYPE_I32, 'i', 4},      {"i64", "int64", TYPE_I64, 'i', 8},
    {"u64", "uint64", TYPE_U64, 'u', 8},     {"f32", "float32", TYPE_F32, 'f', 4},
    {"f64", "float64", TYPE_F64, 'f', 8},
};
static const struct {
  const char *word;
  KernelType type;
} SCALAR_TYPES[] = {{"int", TYPE_INT}, {"float", TYPE_FLOAT}, {"bool", TYPE_TRUTH}};

#define COUNT(list) ((int)(sizeof(list) / sizeof((list)[0])))

/* -- reading a signature ------------------------------------------------------------------------ */

static void skip_blanks(const char **text) {
  while (**text == ' ' || **text == '\n') (*text)++;
}

static int accept(const char **text, char letter) {
  skip_blanks(text);
  if (**text != letter) return 0;
  (*text)++;
  return 1;
}

/* A word of letters, digits and underscores; its length, 0 if there is none or no room for it. */
static size_t read_word(const char **text, char *word, size_t room) {
  skip_blanks(text);
  size_t length = 0;
  while (((*text)[length] >= 'a' && (*text)[length] <= 'z') ||
         ((*text)[length] >= 'A' && (*text)[length] <= 'Z') ||
         ((*text)[length] >= '0' && (*text)[length] <= '9') || (*text)[length] == '_')
    length++;
  if (length == 0 || length >= room) return 0;
  memcpy(word, *text, length);
  word[length] = 0;
  *text += length;
  return length;
}

static int size_named(Binding *binding, const char *word) {
  for (int i = 0; i < binding->names; i++)
    if (strcmp(binding->size_name[i], word) == 0) return i;
  if (binding->names == MOST_SIZES) return -1;
  strcpy(binding->size_name[binding->names], word);
  return binding->names++;
}

static int read_side(Binding *binding, const char **text, Side *side) {
  char word[24];
  *side = (Side){SIZE_ANY, 0, 0};
  if (accept(text, '*')) return 1;
  if (!read_word(text, word, sizeof word)) return 0;
  if (word[0] >= '0' && word[0] <= '9') {
    side->kind = SIZE_NUMBER;
    side->number = strtoll(word, NULL, 10);
    return 1;
  }
  side->kind = SIZE_NAMED;
  side->name = size_named(binding, word);
  if (accept(text, '+')) {
    if (!read_word(text, word, sizeof word)) return 0;
    side->number = strtoll(word, NULL, 10);
  }
  return side->name >= 0;
}

static int read_array_or_scalar(Binding *binding, const char **text, Node *node) {
  char word[8];
  if (!read_word(text, node->name, sizeof node->name) || !read_word(text, word, sizeof word)) return 0;
  if (!accept(text, '[')) {
    for (int i = 0; i < COUNT(SCALAR_TYPES); i++)
      if (strcmp(SCALAR_TYPES[i].word, word) == 0) {
        node->type = SCALAR_TYPES[i].type;
        return 1;
      }
    return 0;
  }
  int known = 0;
  for (int i = 0; i < COUNT(ARRAY_TYPES); i++)
    if (strcmp(ARRAY_TYPES[i].word, word) == 0) {
      node->type = ARRAY_TYPES[i].type;
      known = 1;
    }
  do {
    if (node->dimensions == KERNEL_DIMENSIONS) return 0;
    if (!read_side(binding, text, &node->sides[node->dimensions++])) return 0;
  } while (accept(text, ','));
  if (!known || !accept(text, ']')) return 0;
  node->written = accept(text, '!');
  return 1;
}

/* The things of a tuple, or of the whole; how many there are, -1 for a mistake. */
static int read_items(Binding *binding, const char **text) {
  int items = 0;
  do {
    if (binding->nodes + 2 > COUNT(binding->node)) return -1;
    Node *node = &binding->node[binding->nodes++];
    memset(node, 0, sizeof *node);
    if (accept(text, '(')) {
      node->kind = OPENING;
      if ((node->items = read_items(binding, text)) < 0 || !accept(text, ')')) return -1;
      if (binding->nodes + 1 > COUNT(binding->node)) return -1;
      memset(&binding->node[binding->nodes], 0, sizeof *node);
      binding->node[binding->nodes++].kind = CLOSING;
    } else {
      if (binding->leaves++ == MOST_LEAVES || !read_array_or_scalar(binding, text, node)) return -1;
    }
    items++;
  } while (accept(text, ','));
  return items;
}

static int read_signature(Binding *binding, const char *text) {
  binding->arguments = read_items(binding, &text);
  if (binding->arguments < 0) return 0;
  skip_blanks(&text);
  if (strncmp(text, "->", 2) == 0) {
    text += 2;
    do {
      char word[8];
      if (binding->results == MOST_RESULTS || !read_word(&text, word, sizeof word)) return 0;
      if (strcmp(word, "int") != 0 && strcmp(word, "float") != 0) return 0;
      binding->result[binding->results++] = word[0] == 'i' ? TYPE_INT : TYPE_FLOAT;
    } while (accept(&text, ','));
  }
  skip_blanks(&text);
  return *text == 0;
}

/* -- taking arguments --------------------------------------------------------------------------- */

/* What a call has taken so far. */
typedef struct {
  const Binding *binding;
  int node, leaf, buffers;
  KernelArgument argument[MOST_LEAVES + 1];
  Py_buffer buffer[MOST_LEAVES];
  int64_t size[MOST_SIZES];
} Arguments;

static int wrong(const Arguments *taken, const Node *node, PyObject *error, const char *what) {
  PyErr_Format(error, "kernel %s: '%s' %s", taken->binding->entry->name, node->name, what);
  return 0;
}

static char kind_of_format(const char *format) {
  if (*format == '@' || *format == '=') format++;
#if PY_LITTLE_ENDIAN
  if (*format == '<') format++;
#else
  if (*format == '>') format++;
#endif
  if (format[0] == 0 || format[1] != 0) return 0;
  switch (*format) {
    case '?': return 'b';
    case 'b': case 'h': case 'i': case 'l': case 'q': return 'i';
    case 'B': case 'H': case 'I': case 'L': case 'Q': return 'u';
    case 'f': case 'd': return 'f';
    default: return 0;
  }
}

static int take_side(Arguments *taken, const Node *node, int axis, int64_t length) {
  const Side side = node->sides[axis];
  if (side.kind == SIZE_ANY || (side.kind == SIZE_NUMBER && side.number == length)) return 1;
  if (side.kind == SIZE_NAMED) {
    int64_t *known = &taken->size[side.name];
    if (*known < 0 && length >= side.number) *known = length - side.number;
    if (*known >= 0 && *known + side.number == length) return 1;
  }
  char text[96];
  const int known = side.kind == SIZE_NUMBER || taken->size[side.name] >= 0;
  const int64_t before = side.kind == SIZE_NAMED && known ? taken->size[side.name] : 0;
  PyOS_snprintf(text, sizeof text, "must have %s%lld elements along axis %d; it has %lld",
                known ? "" : "at least ", (long long)(before + side.number), axis, (long long)length);
  return wrong(taken, node, PyExc_ValueError, text);
}

static int take_array(Arguments *taken, const Node *node, PyObject *object) {
  KernelArgument *argument = &taken->argument[taken->leaf];
  Py_buffer *buffer = &taken->buffer[taken->buffers];
  if (PyObject_GetBuffer(object, buffer, PyBUF_FORMAT | PyBUF_STRIDES) < 0) {
    PyErr_Clear();
    return wrong(taken, node, PyExc_TypeError, "must be an array");
  }
  taken->buffers++;
  const char kind = buffer->format == NULL ? 'u' : kind_of_format(buffer->format);
  int type = 0;
  while (ARRAY_TYPES[type].type != node->type) type++;
  char text[64];
  if (kind != ARRAY_TYPES[type].kind || buffer->itemsize != ARRAY_TYPES[type].bytes ||
      buffer->ndim != node->dimensions) {
    PyOS_snprintf(text, sizeof text, "must be an array of %s with %d dimension%s",
                  ARRAY_TYPES[type].numpy, node->dimensions, node->dimensions == 1 ? "" : "s");
    return wrong(taken, node, PyExc_TypeError, text);
  }
  if (!PyBuffer_IsContiguous(buffer, 'C'))
    return wrong(taken, node, PyExc_ValueError, "must be contiguous, row after row");
  if ((uintptr_t)buffer->buf % (uintptr_t)buffer->itemsize != 0)
    return wrong(taken, node, PyExc_ValueError, "must be aligned in memory");
  if (node->written && buffer->readonly)
    return wrong(taken, node, PyExc_ValueError, "is written to and must not be read-only");
  argument->type = node->type;
  argument->dimensions = node->dimensions;
  argument->data = buffer->buf;
  for (int axis = 0; axis < node->dimensions; axis++) {
    argument->shape[axis] = buffer->shape[axis];
    if (!take_side(taken, node, axis, buffer->shape[axis])) return 0;
  }
  return 1;
}

static int take_scalar(Arguments *taken, const Node *node, PyObject *object) {
  KernelArgument *argument = &taken->argument[taken->leaf];
  argument->type = node->type;
  argument->dimensions = 0;
  if (node->type == TYPE_FLOAT) {
    argument->real = PyFloat_AsDouble(object);
    if (PyErr_Occurred()) return wrong(taken, node, PyExc_TypeError, "must be a number");
  } else if (node->type == TYPE_TRUTH) {
    const int truth = PyObject_IsTrue(object);
    if (truth < 0) return wrong(taken, node, PyExc_TypeError, "must be true or false");
    argument->integer = truth;
  } else {
    PyObject *number = PyNumber_Index(object);
    if (number == NULL) return wrong(taken, node, PyExc_TypeError, "must be a whole number");
    argument->integer = PyLong_AsLongLong(number);
    Py_DECREF(number);
    if (PyErr_Occurred()) return wrong(taken, node, PyExc_OverflowError, "must fit into 64 bits");
  }
  return 1;
}

static int take_node(Arguments *taken, PyObject *object) {
  const Node *node = &taken->binding->node[taken->node++];
  if (node->kind == LEAF) {
    const int whole = node->dimensions ? take_array(taken, node, object) : take_scalar(taken, node, object);
    taken->leaf++;
    return whole;
  }
  if (!PyTuple_Check(object) || PyTuple_Size(object) != node->items) {
    PyErr_Format(PyExc_TypeError, "kernel %s: the argument with '%s' must be a tuple of %d",
                 taken->binding->entry->name, node[1].name, node->items);
    return 0;
  }
  for (int i = 0; i < node->items; i++)
    if (!take_node(taken, PyTuple_GetItem(object, i))) return 0;
  taken->node++; /* the closing */
  return 1;
}

static PyObject *give_results(const Binding *binding, const KernelResult *result) {
  PyObject *tuple = PyTuple_New(binding->results);
  if (tuple == NULL) return NULL;
  for (int i = 0; i < binding->results; i++) {
    PyObject *value = binding->result[i] == TYPE_INT ? PyLong_FromLongLong(result[i].integer)
                                                     : PyFloat_FromDouble(result[i].real);
    if (value == NULL || PyTuple_SetItem(tuple, i, value) < 0) {
      Py_DECREF(tuple);
      return NULL;
    }
  }
  if (binding->results != 1) return tuple;
  PyObject *single = Py_NewRef(PyTuple_GetItem(tuple, 0));
  Py_DECREF(tuple);
  return single;
}

static PyObject *call_bound(PyObject *capsule, PyObject *arguments) {
  const Binding *binding = PyCapsule_GetPointer(capsule, "anonloom.binding");
  if (binding == NULL) return NULL;
  if (PyTuple_Size(arguments) != binding->arguments)
    return PyErr_Format(PyExc_TypeError, "kernel %s: takes %d arguments; it was given %zd",
                        binding->entry->name, binding->arguments, PyTuple_Size(arguments));
  /* On the heap: deep recursion or small stacks of threads must not matter. */
  Arguments *taken = PyMem_Malloc(sizeof *taken);
  if (taken == NULL) return PyErr_NoMemory();
  taken->binding = binding;
  taken->node = taken->leaf = taken->buffers = 0;
  for (int i = 0; i < binding->names; i++) taken->size[i] = -1;
  int whole = 1;
  for (int i = 0; i < binding->arguments && whole; i++)
    whole = take_node(taken, PyTuple_GetItem(arguments, i));
  PyObject *outcome = NULL;
  if (whole) {
    KernelResult result[MOST_RESULTS];
    memset(result, 0, sizeof result);
    KernelCall call = {taken->argument, result};
    KernelStatus status;
    Py_BEGIN_ALLOW_THREADS
    status = binding->entry->enter(&call);
    Py_END_ALLOW_THREADS
    if (status == KERNEL_NO_MEMORY)
      PyErr_NoMemory();
    else if (binding->results == 0)
      outcome = Py_NewRef(Py_None);
    else
      outcome = give_results(binding, result);
  }
  for (int i = 0; i < taken->buffers; i++) PyBuffer_Release(&taken->buffer[i]);
  PyMem_Free(taken);
  return outcome;
}

/* -- the module --------------------------------------------------------------------------------- */

static PyMethodDef CALL = {"kernel", call_bound, METH_VARARGS, NULL};

static void free_binding(PyObject *capsule) {
  PyMem_Free(PyCapsule_GetPointer(capsule, "anonloom.binding"));
}

static const KernelTable *table_of(PyObject *capsule) {
  const KernelTable *table = PyCapsule_GetPointer(capsule, KERNEL_CAPSULE);
  if (table != NULL && table->abi != KERNEL_ABI) {
    PyErr_SetString(PyExc_ImportError, "the kernels were built for another version of the binding");
    return NULL;
  }
  return table;
}

static PyObject *bind(PyObject *self, PyObject *arguments) {
  (void)self;
  PyObject *capsule;
  const char *name;
  if (!PyArg_ParseTuple(arguments, "Os", &capsule, &name)) return NULL;
  const KernelTable *table = table_of(capsule);
  if (table == NULL) return NULL;
  const KernelEntry *entry = NULL;
  for (int i = 0; i < table->count; i++)
    if (strcmp(table->entries[i].name, name) == 0) entry = &table->entries[i];
  if (entry == NULL) return PyErr_Format(PyExc_LookupError, "no kernel is called '%s'", name);
  Binding *binding = PyMem_Calloc(1, sizeof *binding);
  if (binding == NULL) return PyErr_NoMemory();
  binding->entry = entry;
  if (!read_signature(binding, entry->signature)) {
    PyMem_Free(binding);
    return PyErr_Format(PyExc_SystemError, "kernel %s: its signature cannot be read", name);
  }
  PyObject *state = PyCapsule_New(binding, "anonloom.binding", free_binding);
  if (state == NULL) {
    PyMem_Free(binding);
    return NULL;
  }
  PyObject *bound = PyCFunction_NewEx(&CALL, state, NULL);
  Py_DECREF(state);
  return bound;
}

static PyObject *signatures(PyObject *self, PyObject *capsule) {
  (void)self;
  const KernelTable *table = table_of(capsule);
  PyObject *found = table == NULL ? NULL : PyDict_New();
  for (int i = 0; found != NULL && i < table->count; i++) {
    PyObject *text = PyUnicode_FromString(table->entries[i].signature);
    if (text == NULL || PyDict_SetItemString(found, table->entries[i].name, text) < 0) Py_CLEAR(found);
    Py_XDECREF(text);
  }
  return found;
}

static PyMethodDef METHODS[] = {
    {"bind", bind, METH_VARARGS, "bind(table, name): a function that calls the kernel of that name."},
    {"signatures", signatures, METH_O, "signatures(table): the signature of every kernel by name."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot SLOTS[] = {{0, NULL}};
static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "_binding", NULL, 0, METHODS, SLOTS, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__binding(void) { return PyModuleDef_Init(&MODULE); }
