/* The Python side: buffers in, nothing allocated by Python while the work goes on. */

static PyObject *features(PyObject *self, PyObject *ignored) {
  PyObject *names = PyList_New(0);
#if HAVE_KERNELS
  __builtin_cpu_init();
  const int aesni = __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul") &&
                    __builtin_cpu_supports("avx");
  const int vaes = aesni && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                   __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("vaes") && __builtin_cpu_supports("vpclmulqdq") &&
                   __builtin_cpu_supports("avx512ifma");
  const char *found[] = {aesni ? "aesni" : NULL, vaes ? "vaes" : NULL};
  for (int i = 0; i < 2 && names; i++) {
    if (!found[i]) continue;
    PyObject *name = PyUnicode_FromString(found[i]);
    if (!name || PyList_Append(names, name)) Py_CLEAR(names);
    Py_XDECREF(name);
  }
#endif
  return names;
}

#if HAVE_KERNELS
static void shape_of(shape_t *shape, size_t leaves) {
  memset(shape, 0, sizeof *shape);
  shape->leaves = leaves;
  shape->tiles = (leaves + TILE - 1) / TILE;
  size_t levels = 0;
  for (size_t n = shape->tiles; n > 1; n = (n + 1) / 2) levels++;
  shape->above = levels;
  for (size_t n = shape->tiles, i = levels + 1; i-- > 0; n = (n + 1) / 2) shape->top[i] = n;
  shape->tile_levels = TILE_LEVELS;
  if (shape->tiles == 1)
    for (shape->tile_levels = 0; ((size_t)1 << shape->tile_levels) < leaves;) shape->tile_levels++;
  shape->depth = shape->above + shape->tile_levels;
}

static void layout_of(layout_t *at, const shape_t *shape, size_t width, int checked, int counted) {
  at->width = width;
  at->planes = (width + BLOCK - 1) / BLOCK;
  at->bits_at = BLOCK + BLOCK * shape->depth;
  at->last_at = at->bits_at + (shape->depth + 7) / 8;
  at->numbers_at = at->last_at + width;
  at->check_at = at->numbers_at + (counted ? BLOCK : 0);
  at->key_size = at->check_at + (checked ? CHECK_BLOCKS * BLOCK : 0);
}

/* What shape_of and all products of sizes are made for; tree.py asks for no more. */
static int fits(Py_ssize_t leaves, Py_ssize_t width) {
  const Py_ssize_t most = (Py_ssize_t)1 << 31;
  if (leaves >= 1 && leaves <= most && width >= 1 && width <= most) return 1;
  PyErr_SetString(PyExc_ValueError, "leaves and width must be between 1 and 2^31.");
  return 0;
}

static PyObject *wrong_size(const char *what) {
  return PyErr_Format(PyExc_ValueError, "%s has another size than the tree asks for.", what);
}

static PyObject *schedule(PyObject *self, PyObject *args) {
  Py_buffer keys;
  if (!PyArg_ParseTuple(args, "y*", &keys)) return NULL;
  const size_t count = (size_t)keys.len / BLOCK;
  PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(count * SCHEDULE));
  for (size_t i = 0; i < count && out; i++)
    key_schedule((uint8_t *)PyBytes_AsString(out) + SCHEDULE * i, (const uint8_t *)keys.buf + BLOCK * i);
  PyBuffer_Release(&keys);
  return out;
}

/* Room for the work, run without the GIL. Returns 0, or -1 if there is no memory. */
static int work(job_t *job, int vaes) {
  const size_t planes = job->layout.width == BLOCK ? 0 : job->layout.planes;
  job->top_stride = BLOCK * (job->shape.tiles + PAD);
  job->tops = malloc(job->top_stride * job->count + 1);
  job->states = malloc(BLOCK * BATCH * (TILE + PAD));
  job->sums = planes ? malloc(PLANE * planes) : NULL;
  const int ready = job->tops && job->states && (job->sums || !planes);
  if (ready) {
    Py_BEGIN_ALLOW_THREADS;
    if (vaes)
      run_vaes(job);
    else
      run_aesni(job);
    Py_END_ALLOW_THREADS;
  }
  free(job->tops);
  free(job->states);
  free(job->sums);
  return ready ? 0 : -1;
}

/* evaluate(vaes, schedules, leaves, width, checked, counted, party, keys, share, check, tags, column,
 * weights, sketches): the last three are empty where nothing is counted. Weights come tile by tile,
 * the last one filled up, and in each all weights before all their squares. */
static PyObject *evaluate(PyObject *self, PyObject *args) {
  int vaes, checked, counted, party;
  Py_ssize_t leaves, width;
  Py_buffer schedules, keys, share, check, tags, column, weights, sketches;
  if (!PyArg_ParseTuple(args, "py*nnpppy*w*y*w*w*y*w*", &vaes, &schedules, &leaves, &width, &checked,
                        &counted, &party, &keys, &share, &check, &tags, &column, &weights, &sketches))
    return NULL;
  job_t job = {0};
  const int fit = fits(leaves, width);
  shape_of(&job.shape, fit ? (size_t)leaves : 1);
  layout_of(&job.layout, &job.shape, fit ? (size_t)width : 1, checked, counted);
  job.count = (size_t)keys.len / job.layout.key_size;
  job.schedules = schedules.buf, job.keys = keys.buf, job.share = share.buf;
  job.party = party, job.check = check.len ? check.buf : NULL, job.tags = tags.buf;
  job.column = column.len ? column.buf : NULL, job.weights = weights.buf, job.sketches = sketches.buf;
  PyObject *result = NULL;
  if (!fit)
    ; /* said already */
  else if ((size_t)schedules.len != SCHEDULE * (LEAF + job.layout.planes))
    wrong_size("schedules");
  else if ((size_t)keys.len != job.count * job.layout.key_size)
    wrong_size("keys");
  else if (share.len != leaves * width)
    wrong_size("share");
  else if (check.len && (check.len != 2 * BLOCK || !checked || (size_t)tags.len != BLOCK * job.count))
    wrong_size("check");
  else if (column.len && (!counted || column.len != leaves * (Py_ssize_t)sizeof(uint64_t) ||
                          (size_t)weights.len != 2 * TILE * job.shape.tiles * sizeof(uint64_t) ||
                          (size_t)sketches.len != SKETCH * job.count * sizeof(uint64_t)))
    wrong_size("column");
  else if (work(&job, vaes))
    PyErr_NoMemory();
  else
    result = Py_NewRef(Py_None);
  PyBuffer_Release(&schedules);
  PyBuffer_Release(&keys);
  PyBuffer_Release(&share);
  PyBuffer_Release(&check);
  PyBuffer_Release(&tags);
  PyBuffer_Release(&column);
  PyBuffer_Release(&weights);
  PyBuffer_Release(&sketches);
  return result;
}

/* generate(schedules, leaves, width, checked, indices, payloads, numbers, keys of 0, keys of 1): the
 * keys hold their seeds already; the public parts are written. Numbers are two per key, or none. */
static PyObject *generate(PyObject *self, PyObject *args) {
  int checked;
  Py_ssize_t leaves, width;
  Py_buffer schedules, indices, payloads, numbers, first, second;
  if (!PyArg_ParseTuple(args, "y*nnpy*y*y*w*w*", &schedules, &leaves, &width, &checked, &indices,
                        &payloads, &numbers, &first, &second))
    return NULL;
  shape_t shape;
  layout_t at;
  const int fit = fits(leaves, width);
  shape_of(&shape, fit ? (size_t)leaves : 1);
  const int counted = numbers.len > 0;
  layout_of(&at, &shape, fit ? (size_t)width : 1, checked, counted);
  const size_t count = (size_t)indices.len / sizeof(int64_t);
  PyObject *result = NULL;
  if (!fit)
    ; /* said already */
  else if ((size_t)schedules.len != SCHEDULE * (LEAF + at.planes))
    wrong_size("schedules");
  else if ((size_t)payloads.len != count * at.width)
    wrong_size("payloads");
  else if (counted && (size_t)numbers.len != count * 2 * sizeof(uint64_t))
    wrong_size("numbers");
  else if ((size_t)first.len != count * at.key_size || second.len != first.len)
    wrong_size("keys");
  else {
    Py_BEGIN_ALLOW_THREADS;
    for (size_t k = 0; k < count; k++) {
      uint8_t *key = (uint8_t *)first.buf + at.key_size * k, *other = (uint8_t *)second.buf + at.key_size * k;
      const uint8_t *seeds[2] = {key, other};
      generate_one(&shape, &at, schedules.buf, (uint64_t)((const int64_t *)indices.buf)[k],
                   (const uint8_t *)payloads.buf + at.width * k, seeds,
                   counted ? (const uint64_t *)numbers.buf + 2 * k : NULL, checked, key);
      memcpy(other + BLOCK, key + BLOCK, at.key_size - BLOCK);
    }
    Py_END_ALLOW_THREADS;
    result = Py_NewRef(Py_None);
  }
  PyBuffer_Release(&schedules);
  PyBuffer_Release(&indices);
  PyBuffer_Release(&payloads);
  PyBuffer_Release(&numbers);
  PyBuffer_Release(&first);
  PyBuffer_Release(&second);
  return result;
}
#endif

static PyMethodDef methods[] = {
    {"features", features, METH_NOARGS, "Names of the kernels that this CPU can run, slowest first."},
#if HAVE_KERNELS
    {"schedule", schedule, METH_VARARGS, "Round keys of AES-128 keys in a row."},
    {"evaluate", evaluate, METH_VARARGS, "Add the evaluation of keys to a share."},
    {"generate", generate, METH_VARARGS, "Write the public parts of keys."},
#endif
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "anonloom_dpf._kernel", "AES kernels of the tree.", -1, methods, NULL, NULL,
    NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModule_Create(&module); }
