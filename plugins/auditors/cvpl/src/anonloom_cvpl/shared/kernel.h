/* What every C kernel of Anonloom is written with: views of arrays, and how a package offers kernels.
 *
 * A package's `_kernels.c` lists its entries, the kernels that Python calls; everything else is a
 * static function in the header that is named like the Python module whose kernels it holds. Entries
 * touch no Python object. `anonloom_kernels._binding` checks the arguments of a call against the
 * entry's signature, releases the interpreter's lock, and calls it.
 *
 * A signature lists the arguments in order, tuples in parentheses, results behind an arrow:
 *
 *     "codes i32[axes, rows], (start i64[axes], share f64[axes]), best f64[rows+1]!, k int -> int"
 *
 * Arrays are C-contiguous. Sizes with the same name are equal, `*` is any, and what ends in ! is
 * written to. Scalars are `int`, `float` and `bool`.
 */
#ifndef ANONLOOM_KERNEL_H
#define ANONLOOM_KERNEL_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Changes with anything below that binding and packages must agree on. */
#define KERNEL_ABI 1
#define KERNEL_CAPSULE "anonloom.kernels"
#define KERNEL_DIMENSIONS 3

typedef enum {
  TYPE_BOOL, TYPE_U8, TYPE_I32, TYPE_I64, TYPE_U64, TYPE_F32, TYPE_F64, /* of arrays */
  TYPE_INT, TYPE_FLOAT, TYPE_TRUTH                                      /* of scalars */
} KernelType;

typedef struct {
  KernelType type;
  int dimensions; /* 0 for a scalar */
  void *data;
  int64_t shape[KERNEL_DIMENSIONS];
  int64_t integer; /* of an int or a bool */
  double real;     /* of a float */
} KernelArgument;

typedef union {
  int64_t integer;
  double real;
} KernelResult;

/* One call: arguments with tuples taken apart, in the order of the signature. */
typedef struct {
  const KernelArgument *next;
  KernelResult *result;
} KernelCall;

typedef enum { KERNEL_DONE = 0, KERNEL_NO_MEMORY = 1 } KernelStatus;

typedef struct {
  const char *name;
  const char *signature;
  KernelStatus (*enter)(KernelCall *call);
} KernelEntry;

typedef struct {
  int abi;
  int count;
  const KernelEntry *entries;
} KernelTable;

/* The module `_kernels` of a package, which holds nothing but the table. */
#define KERNEL_MODULE(entry_list)                                                             \
  static const KernelTable kernel_table = {                                                   \
      KERNEL_ABI, (int)(sizeof(entry_list) / sizeof(entry_list[0])), entry_list};             \
  static int add_kernel_table(PyObject *module) {                                             \
    PyObject *capsule = PyCapsule_New((void *)&kernel_table, KERNEL_CAPSULE, NULL);           \
    const int failed = capsule == NULL || PyModule_AddObjectRef(module, "table", capsule) < 0; \
    Py_XDECREF(capsule);                                                                      \
    return failed ? -1 : 0;                                                                   \
  }                                                                                           \
  static PyModuleDef_Slot kernel_slots[] = {{Py_mod_exec, (void *)add_kernel_table}, {0, NULL}}; \
  static struct PyModuleDef kernel_module = {                                                 \
      PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, NULL, kernel_slots, NULL, NULL, NULL};      \
  PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&kernel_module); }

/* Views of arrays, named like the types of anonloom.typing: Ints is an IntArray of one dimension,
 * Ints2 one of two, (i, j) of which is at[i * columns + j]. */
#define KERNEL_VIEWS(Element, Name, type_of)                                             \
  typedef struct { Element *at; int64_t length; } Name;                                  \
  typedef struct { Element *at; int64_t rows, columns; } Name##2;                        \
  typedef struct { Element *at; int64_t planes, rows, columns; } Name##3;                \
  static inline Name take_##Name(KernelCall *call) {                                     \
    const KernelArgument *argument = take_argument(call, type_of, 1);                    \
    return (Name){argument->data, argument->shape[0]};                                   \
  }                                                                                      \
  static inline Name##2 take_##Name##2(KernelCall *call) {                               \
    const KernelArgument *argument = take_argument(call, type_of, 2);                    \
    return (Name##2){argument->data, argument->shape[0], argument->shape[1]};            \
  }                                                                                      \
  static inline Name##3 take_##Name##3(KernelCall *call) {                               \
    const KernelArgument *argument = take_argument(call, type_of, 3);                    \
    return (Name##3){argument->data, argument->shape[0], argument->shape[1], argument->shape[2]}; \
  }

/* An entry that takes another argument than its signature says would write anywhere: it ends here. */
static inline const KernelArgument *take_argument(KernelCall *call, KernelType type, int dimensions) {
  const KernelArgument *argument = call->next++;
  if (argument->type != type || argument->dimensions != dimensions) abort();
  return argument;
}

KERNEL_VIEWS(uint8_t, Bools, TYPE_BOOL)
KERNEL_VIEWS(uint8_t, Bytes, TYPE_U8)
KERNEL_VIEWS(int32_t, Codes, TYPE_I32)
KERNEL_VIEWS(int64_t, Ints, TYPE_I64)
KERNEL_VIEWS(uint64_t, Words, TYPE_U64)
KERNEL_VIEWS(float, Singles, TYPE_F32)
KERNEL_VIEWS(double, Floats, TYPE_F64)

static inline int64_t take_int(KernelCall *call) { return take_argument(call, TYPE_INT, 0)->integer; }
static inline double take_float(KernelCall *call) { return take_argument(call, TYPE_FLOAT, 0)->real; }
static inline int take_bool(KernelCall *call) {
  return take_argument(call, TYPE_TRUTH, 0)->integer != 0;
}

static inline void give_int(KernelCall *call, int64_t value) { (call->result++)->integer = value; }
static inline void give_float(KernelCall *call, double value) { (call->result++)->real = value; }

/* Element (i, j) of a matrix, and its row i. */
#define cell(matrix, i, j) ((matrix).at[(i) * (matrix).columns + (j)])
#define row_of(matrix, i) ((matrix).at + (i) * (matrix).columns)
/* Element (h, i, j) of three dimensions. */
#define cell3(array, h, i, j) ((array).at[((h) * (array).rows + (i)) * (array).columns + (j)])

/* As Python's min and max: the first of equals, and also of what cannot be compared. */
static inline int64_t least_of(int64_t a, int64_t b) { return b < a ? b : a; }
static inline int64_t most_of(int64_t a, int64_t b) { return b > a ? b : a; }
static inline double least_float(double a, double b) { return b < a ? b : a; }
static inline double most_float(double a, double b) { return b > a ? b : a; }

/* As Python's // and %: towards minus infinity, with the sign of the divisor. As in numpy, what is
 * divided by zero is zero. */
static inline int64_t floor_quotient(int64_t a, int64_t b) {
  if (b == 0) return 0;
  if (b == -1) return (int64_t)(0 - (uint64_t)a); /* the least number has no opposite: it wraps */
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
static inline int64_t floor_remainder(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return 0;
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* As np.round with 12 decimals: scores are compared so, because sums in another order, and another
 * library's pow or log2, must not decide. */
static inline double round12(double x) { return rint(x * 1e12) / 1e12; }

/* Room for count elements, never NULL because of a count of zero. */
static inline void *room_for(int64_t count, size_t size) {
  if (count < 0 || (uint64_t)count > SIZE_MAX / 2 / size) return NULL;
  return malloc(count > 0 ? (size_t)count * size : 1);
}

#endif
