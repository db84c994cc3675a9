/* Key generation of generation.py, one key after the other, both parties' states in flight. */

AESNI static inline void one_way_pair(__m128i *out, const __m128i *x, const uint8_t *schedule) {
  out[0] = x[0], out[1] = x[1];
  encrypt_aesni(out, 2, schedule);
  out[0] = _mm_xor_si128(out[0], x[0]), out[1] = _mm_xor_si128(out[1], x[1]);
}

/* One level: the correction word and the right control bit; states go on to the chosen child. */
AESNI static int correct_level(__m128i *x, uint8_t *word, int turn, const uint8_t *schedules) {
  const __m128i one = _mm_set_epi64x(0, 1);
  __m128i l[2], r[2];
  children_aesni(x, l, r, 2, schedules);
  for (int b = 0; b < 2; b++) l[b] = _mm_xor_si128(l[b], x[b]), r[b] = _mm_xor_si128(r[b], x[b]);
  const __m128i to_right = _mm_set1_epi64x(-(int64_t)turn);
  const __m128i apart_left = _mm_xor_si128(l[0], l[1]), apart_right = _mm_xor_si128(r[0], r[1]);
  const __m128i seed = _mm_andnot_si128(one, _mm_blendv_epi8(apart_right, apart_left, to_right));
  const int bit_left = (_mm_cvtsi128_si32(apart_left) ^ turn ^ 1) & 1;
  const int bit_right = (_mm_cvtsi128_si32(apart_right) ^ turn) & 1;
  store_block(word, _mm_or_si128(seed, _mm_cvtsi32_si128(bit_left)));
  const int kept = (bit_left & ~-turn & 1) | (bit_right & -turn);
  const __m128i fix = _mm_or_si128(seed, _mm_cvtsi32_si128(kept));
  for (int b = 0; b < 2; b++) {
    const __m128i child = _mm_blendv_epi8(l[b], r[b], to_right);
    const __m128i set = _mm_srai_epi32(_mm_slli_epi32(_mm_shuffle_epi32(x[b], 0), 31), 31);
    x[b] = _mm_xor_si128(child, _mm_and_si128(fix, set));
  }
  return bit_right;
}

/* The turns to a leaf, root first; see shape.py. */
static void path_of(const shape_t *shape, uint64_t index, uint8_t *turns) {
  uint64_t node = index >> shape->tile_levels;
  for (size_t level = shape->above; level > 0; level--) {
    const uint64_t parents = shape->top[level - 1];
    const uint64_t right = 1 ^ ((node - parents) >> 63); /* node >= parents */
    turns[level - 1] = (uint8_t)right;
    node -= parents & (0 - right);
  }
  for (size_t level = 0; level < shape->tile_levels; level++)
    turns[shape->above + level] = (uint8_t)(index >> level & 1);
}

/* The public part of one key; `key` is where the key begins, its public part is written. */
AESNI static void generate_one(const shape_t *shape, const layout_t *at, const uint8_t *schedules,
                               uint64_t index, const uint8_t *payload, const uint8_t *seeds[2],
                               const uint64_t *numbers, int checked, uint8_t *key) {
  uint8_t turns[MOST_TOP + TILE_LEVELS], block[BLOCK];
  const __m128i one = _mm_set_epi64x(0, 1);
  __m128i x[2], out[2];
  path_of(shape, index, turns);
  x[0] = _mm_andnot_si128(one, load_block(seeds[0]));
  x[1] = _mm_or_si128(one, load_block(seeds[1]));
  memset(key + at->bits_at, 0, at->last_at - at->bits_at);
  for (size_t level = 0; level < shape->depth; level++) {
    const int bit = correct_level(x, key + BLOCK + BLOCK * level, turns[level], schedules);
    key[at->bits_at + level / 8] |= (uint8_t)(bit << level % 8);
  }
  for (size_t j = 0; j < at->planes; j++) {
    const size_t rest = at->width - BLOCK * j, size = rest < BLOCK ? rest : BLOCK;
    one_way_pair(out, x, schedules + SCHEDULE * (LEAF + j));
    store_block(block, _mm_xor_si128(out[0], out[1]));
    for (size_t i = 0; i < size; i++) key[at->last_at + BLOCK * j + i] = block[i] ^ payload[BLOCK * j + i];
  }
  if (numbers) {
    uint64_t raw[2][2], word[2];
    one_way_pair(out, x, schedules + SCHEDULE * NUMBER);
    store_block((uint8_t *)raw[0], out[0]);
    store_block((uint8_t *)raw[1], out[1]);
    /* All ones where it is party 1 that adds the correction: it counts negative. */
    const uint64_t negative = (uint64_t)(_mm_cvtsi128_si64(x[0]) & 1) - 1;
    for (int i = 0; i < 2; i++) {
      const uint64_t apart = reduce(numbers[i] + (2 * PRIME - (raw[0][i] & NUMBER_MASK)) +
                                    (raw[1][i] & NUMBER_MASK));
      word[i] = (apart & ~negative) | (reduce(PRIME - apart) & negative);
    }
    memcpy(key + at->numbers_at, word, sizeof word);
  }
  for (unsigned j = 0; j < CHECK_BLOCKS && checked; j++) {
    uint32_t number[4] = {0};
    number[j] = (uint32_t)index;
    const __m128i mark = load_block((const uint8_t *)number);
    const __m128i z[2] = {_mm_xor_si128(x[0], mark), _mm_xor_si128(x[1], mark)};
    one_way_pair(out, z, schedules + SCHEDULE * (CHECK + j));
    store_block(key + at->check_at + BLOCK * j, _mm_xor_si128(out[0], out[1]));
  }
}
