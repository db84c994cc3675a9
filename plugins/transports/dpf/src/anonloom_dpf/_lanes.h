/* The evaluation, written once over vectors of LANES states. Included once per instruction set, with
 * V (a vector), M (which lanes have their control bit set), NAME(f), TARGET and the operations LOAD,
 * STORE, LOAD_N, STORE_N (the first n lanes), SPREAD (one block to all lanes), XOR, XOR3, ENC, LAST,
 * CLMUL, SWAP (byte order of a block), HALVES (swap of 64-bit halves), FOLD (xor of all lanes),
 * FIRST (a block in lane 0), BITS and XOR_IF; for numbers of 64 bits AND, ADD64, ADD_IF, ALL64, EVEN and
 * ODD (every second number of two vectors), and products: PART, LIMBS, LIMB, ADD_LOWER, ADD_UPPER. */

#define INLINE static inline __attribute__((always_inline)) TARGET
#define WIDE (STREAMS * LANES)

/* p(x) of several vectors at once. */
INLINE void NAME(encrypt)(V *s, const int n, const uint8_t *schedule) {
  V k = SPREAD(schedule);
  for (int i = 0; i < n; i++) s[i] = XOR(s[i], k);
  for (int r = 1; r < 10; r++) {
    k = SPREAD(schedule + BLOCK * r);
    for (int i = 0; i < n; i++) s[i] = ENC(s[i], k);
  }
  k = SPREAD(schedule + BLOCK * 10);
  for (int i = 0; i < n; i++) s[i] = LAST(s[i], k);
}

/* Children of n vectors of states: left and right in flight together. */
INLINE void NAME(children)(const V *x, V *l, V *r, const int n, const uint8_t *schedules) {
  const uint8_t *left = schedules + LEFT * SCHEDULE, *right = schedules + RIGHT * SCHEDULE;
  V a = SPREAD(left), b = SPREAD(right);
  for (int i = 0; i < n; i++) l[i] = XOR(x[i], a), r[i] = XOR(x[i], b);
  for (int k = 1; k < 10; k++) {
    a = SPREAD(left + BLOCK * k), b = SPREAD(right + BLOCK * k);
    for (int i = 0; i < n; i++) l[i] = ENC(l[i], a), r[i] = ENC(r[i], b);
  }
  a = SPREAD(left + BLOCK * 10), b = SPREAD(right + BLOCK * 10);
  for (int i = 0; i < n; i++) l[i] = LAST(l[i], a), r[i] = LAST(r[i], b);
}

/* One level in place: `here` states become `here` left and `right` right children. */
TARGET static void NAME(descend)(uint8_t *states, size_t here, size_t right,
                                 const uint8_t *schedules, const uint8_t *word, int right_bit) {
  enum { N = STREAMS / 2 };
  uint8_t other[BLOCK];
  memcpy(other, word, BLOCK);
  other[0] = (uint8_t)((other[0] & 0xFE) | right_bit);
  const V to_left = SPREAD(word), to_right = SPREAD(other);
  V x[N], l[N], r[N];
  size_t p = 0;
  for (; p + N * LANES <= here; p += N * LANES) {
    for (int i = 0; i < N; i++) x[i] = LOAD(states + BLOCK * (p + i * LANES));
    NAME(children)(x, l, r, N, schedules);
    for (int i = 0; i < N; i++) {
      const M set = BITS(x[i]);
      STORE(states + BLOCK * (p + i * LANES), XOR_IF(XOR(l[i], x[i]), set, to_left));
      /* Past the right children nothing is kept: buffers are padded. */
      if (right) STORE(states + BLOCK * (here + p + i * LANES), XOR_IF(XOR(r[i], x[i]), set, to_right));
    }
  }
  for (; p < here; p += LANES) {
    x[0] = LOAD(states + BLOCK * p);
    NAME(children)(x, l, r, 1, schedules);
    const M set = BITS(x[0]);
    STORE_N(states + BLOCK * p, XOR_IF(XOR(l[0], x[0]), set, to_left), here - p);
    if (right) STORE(states + BLOCK * (here + p), XOR_IF(XOR(r[0], x[0]), set, to_right));
  }
}

/* Walk one key down `levels` levels; sizes of levels as in shape.py. */
TARGET static void NAME(walk)(uint8_t *states, const size_t *sizes, size_t levels, size_t level,
                              const job_t *job, const uint8_t *key) {
  for (size_t i = 0; i < levels; i++) {
    const size_t at = level + i;
    const int right_bit = key[job->layout.bits_at + at / 8] >> (at % 8) & 1;
    NAME(descend)(states, sizes[i], sizes[i + 1] - sizes[i], job->schedules,
                  key + BLOCK + BLOCK * at, right_bit);
  }
}

/* Add block p(x) xor x, and where the control bit is set the last correction word, to a plane. */
TARGET static void NAME(payload)(uint8_t *plane, const uint8_t *states, size_t n,
                                 const uint8_t *schedule, const uint8_t *word) {
  const V last = SPREAD(word);
  V x[STREAMS], s[STREAMS];
  size_t p = 0;
  for (; p + WIDE <= n; p += WIDE) {
    for (int i = 0; i < STREAMS; i++) s[i] = LOAD(states + BLOCK * (p + i * LANES));
    NAME(encrypt)(s, STREAMS, schedule);
    for (int i = 0; i < STREAMS; i++) {
      uint8_t *to = plane + BLOCK * (p + i * LANES);
      x[i] = LOAD(states + BLOCK * (p + i * LANES));
      STORE(to, XOR_IF(XOR3(LOAD(to), s[i], x[i]), BITS(x[i]), last));
    }
  }
  for (; p < n; p += LANES) {
    uint8_t *to = plane + BLOCK * p;
    x[0] = s[0] = LOAD(states + BLOCK * p);
    NAME(encrypt)(s, 1, schedule);
    STORE_N(to, XOR_IF(XOR3(LOAD_N(to, n - p), s[0], x[0]), BITS(x[0]), last), n - p);
  }
}

/* Absorb WIDE blocks into a running GHASH value; powers of the hash key in falling order. */
INLINE __m128i NAME(absorb)(__m128i running, const V *blocks, const uint8_t *powers) {
  V low = ZERO, middle = ZERO, high = ZERO;
  for (int i = 0; i < STREAMS; i++) {
    V d = SWAP(blocks[i]);
    if (i == 0) d = XOR(d, FIRST(running));
    const V p = LOAD(powers + BLOCK * LANES * i);
    low = XOR(low, CLMUL(d, p, 0x00));
    high = XOR(high, CLMUL(d, p, 0x11));
    middle = XOR3(middle, CLMUL(d, p, 0x01), CLMUL(d, p, 0x10));
  }
  const V poly = SPREAD(GHASH_POLY);
  middle = XOR3(middle, HALVES(low), CLMUL(poly, low, 0x01));
  return FOLD(XOR3(high, HALVES(middle), CLMUL(poly, middle, 0x01)));
}

/* Block j of the hashes of one tile: p(z) xor z, z = x xor leaf number; into the running tag. */
TARGET static __m128i NAME(hash_block)(__m128i running, const uint8_t *states, size_t n, uint32_t first,
                                       unsigned j, const job_t *job, const uint8_t *word,
                                       const uint8_t *powers) {
  const uint8_t *schedule = job->schedules + SCHEDULE * (CHECK + j);
  uint32_t start[4 * LANES] = {0}, step[4 * LANES] = {0};
  for (unsigned i = 0; i < LANES; i++) start[4 * i + j] = first + i, step[4 * i + j] = LANES;
  V number = LOAD((const uint8_t *)start);
  const V by = LOAD((const uint8_t *)step), cs = SPREAD(word);
  V z[STREAMS], s[STREAMS];
  size_t p = 0;
  for (; p + WIDE <= n; p += WIDE) {
    for (int i = 0; i < STREAMS; i++, number = ADD32(number, by))
      s[i] = z[i] = XOR(LOAD(states + BLOCK * (p + i * LANES)), number);
    NAME(encrypt)(s, STREAMS, schedule);
    for (int i = 0; i < STREAMS; i++)
      s[i] = XOR_IF(XOR(s[i], z[i]), BITS(LOAD(states + BLOCK * (p + i * LANES))), cs);
    running = NAME(absorb)(running, s, powers);
  }
  for (; p < n; p += LANES, number = ADD32(number, by)) {
    uint8_t rest[BLOCK * LANES];
    const V x = LOAD(states + BLOCK * p);
    s[0] = z[0] = XOR(x, number);
    NAME(encrypt)(s, 1, schedule);
    STORE(rest, XOR_IF(XOR(s[0], z[0]), BITS(x), cs));
    for (size_t i = 0; i < LANES && p + i < n; i++)
      running = ghash_block(running, rest + BLOCK * i, powers + BLOCK * (WIDE - 1));
  }
  return running;
}

/* Numbers of one tile of a key: added to the column, and to the key's sketch. */
TARGET static void NAME(count)(uint64_t *column, const uint8_t *states, size_t n, const uint8_t *schedule,
                               const uint8_t *word, const uint64_t *weights, uint64_t *sketch) {
  const V mask = ALL64(NUMBER_MASK), last = AND(SPREAD(word), mask);
  V s[STREAMS], x, low[SKETCH + 1], high[SKETCH + 1];
  uint64_t lanes[2 * LANES];
  unsigned __int128 total[SKETCH] = {0};
  for (unsigned i = 0; i <= SKETCH; i++) low[i] = high[i] = ZERO;
  size_t p = 0;
  for (; p + WIDE <= n; p += WIDE) {
    for (int i = 0; i < STREAMS; i++) s[i] = LOAD(states + BLOCK * (p + i * LANES));
    NAME(encrypt)(s, STREAMS, schedule);
    for (int i = 0; i < STREAMS; i++) {
      x = LOAD(states + BLOCK * (p + i * LANES));
      s[i] = ADD_IF(AND(XOR(s[i], x), mask), BITS(x), last);
    }
    for (int i = 0; i < STREAMS; i += 2) {
      const size_t at = p + i * LANES;
      const V first = EVEN(s[i], s[i + 1]), second = ODD(s[i], s[i + 1]);
      const V plain = LOAD((const uint8_t *)(weights + at));
      const V square = LOAD((const uint8_t *)(weights + TILE + at));
      STORE((uint8_t *)(column + at), ADD64(LOAD((const uint8_t *)(column + at)), first));
      low[PLAIN] = ADD_LOWER(low[PLAIN], first, plain);
      high[PLAIN] = ADD_UPPER(high[PLAIN], first, plain);
      low[SECOND] = ADD_LOWER(low[SECOND], second, plain);
      high[SECOND] = ADD_UPPER(high[SECOND], second, plain);
      for (int limb = 0; limb < LIMBS; limb++) {
        low[SQUARE + limb] = ADD_LOWER(low[SQUARE + limb], first, LIMB(square, limb));
        high[SQUARE + limb] = ADD_UPPER(high[SQUARE + limb], first, LIMB(square, limb));
      }
    }
  }
  for (unsigned i = 0; i < SQUARE + LIMBS; i++) {
    const unsigned to = i < SQUARE ? i : SQUARE, limb = (i - to) * WEIGHT_BITS;
    STORE((uint8_t *)lanes, low[i]);
    for (int lane = 0; lane < 2 * LANES; lane++) total[to] += (unsigned __int128)lanes[lane] << limb;
    STORE((uint8_t *)lanes, high[i]);
    for (int lane = 0; lane < 2 * LANES; lane++)
      total[to] += (unsigned __int128)lanes[lane] << (PART + limb);
  }
  for (; p < n; p += LANES) {
    x = s[0] = LOAD(states + BLOCK * p);
    NAME(encrypt)(s, 1, schedule);
    STORE((uint8_t *)lanes, ADD_IF(AND(XOR(s[0], x), mask), BITS(x), last));
    for (size_t i = 0; i < LANES && p + i < n; i++)
      count_one(column + p + i, lanes + 2 * i, weights + p + i, total);
  }
  for (unsigned i = 0; i < SKETCH; i++) sketch[i] = reduce(sketch[i] + reduce_long(total[i]));
}

/* A tile: expand a batch of keys, add their payloads block by block, absorb their hashes. */
TARGET static void NAME(tile)(job_t *job, size_t tile, size_t start, const uint8_t *powers) {
  const shape_t *shape = &job->shape;
  const layout_t *at = &job->layout;
  const size_t left = shape->leaves - tile * TILE, n = left < TILE ? left : TILE;
  const size_t keys = job->count - start < BATCH ? job->count - start : BATCH;
  size_t sizes[TILE_LEVELS + 1];
  for (size_t i = 0; i <= shape->tile_levels; i++) sizes[i] = n < ((size_t)1 << i) ? n : (size_t)1 << i;
  for (size_t k = 0; k < keys; k++) {
    uint8_t *states = job->states + BLOCK * (TILE + PAD) * k;
    memcpy(states, job->tops + job->top_stride * (start + k) + BLOCK * tile, BLOCK);
    NAME(walk)(states, sizes, shape->tile_levels, shape->above, job,
               job->keys + at->key_size * (start + k));
  }
  for (size_t j = 0; j < at->planes; j++) {
    uint8_t *plane = job->sums ? job->sums + PLANE * j : job->share + BLOCK * TILE * tile;
    for (size_t k = 0; k < keys; k++) {
      uint8_t word[BLOCK] = {0};
      const size_t rest = at->width - BLOCK * j;
      memcpy(word, job->keys + at->key_size * (start + k) + at->last_at + BLOCK * j,
             rest < BLOCK ? rest : BLOCK);
      NAME(payload)(plane, job->states + BLOCK * (TILE + PAD) * k, n,
                    job->schedules + SCHEDULE * (LEAF + j), word);
    }
  }
  for (size_t k = 0; k < keys && job->column; k++)
    NAME(count)(job->column + TILE * tile, job->states + BLOCK * (TILE + PAD) * k, n,
                job->schedules + SCHEDULE * NUMBER,
                job->keys + at->key_size * (start + k) + at->numbers_at,
                job->weights + 2 * TILE * tile, job->sketches + SKETCH * (start + k));
  for (size_t k = 0; k < keys && job->check; k++) {
    __m128i running = load_block(job->tags + BLOCK * (start + k));
    for (unsigned j = 0; j < CHECK_BLOCKS; j++)
      running = NAME(hash_block)(running, job->states + BLOCK * (TILE + PAD) * k, n,
                                 (uint32_t)(tile * TILE), j, job,
                                 job->keys + at->key_size * (start + k) + at->check_at + BLOCK * j, powers);
    store_block(job->tags + BLOCK * (start + k), running);
  }
}

/* All keys at all leaves. */
TARGET static void NAME(run)(job_t *job) {
  uint8_t powers[BLOCK * WIDE];
  const shape_t *shape = &job->shape;
  if (job->check) {
    ghash_powers(powers, WIDE, job->check);
    begin_tags(job, powers + BLOCK * (WIDE - 1));
  }
  for (size_t k = 0; k < job->count; k++) {
    uint8_t *top = job->tops + job->top_stride * k;
    const uint8_t *key = job->keys + job->layout.key_size * k;
    memcpy(top, key, BLOCK);
    top[0] = (uint8_t)((top[0] & 0xFE) | job->party);
    NAME(walk)(top, shape->top, shape->above, 0, job, key);
  }
  for (size_t tile = 0; tile < shape->tiles; tile++) {
    if (job->sums) memset(job->sums, 0, PLANE * job->layout.planes);
    for (size_t start = 0; start < job->count; start += BATCH) {
      NAME(tile)(job, tile, start, powers);
      if (job->column && (start % LAZY == LAZY - BATCH || start + BATCH >= job->count))
        reduce_column(job, tile);
    }
    if (job->sums) put_together(job, tile);
  }
  if (job->check) finish_tags(job, powers + BLOCK * (WIDE - 1));
}

#undef INLINE
#undef WIDE
