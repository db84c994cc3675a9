/* Optional kernel of anonloom_dpf: the same bytes as evaluation.py and generation.py, faster.
 *
 * Which instructions are used is decided at run time; a CPU without AES, another architecture or
 * another compiler gets a module that offers nothing, and numpy is used. Nothing here branches on
 * a secret or looks one up in a table: AES and carry-less products are instructions.
 */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdlib.h>
#include <string.h>

#include "_kernel.h"

#if defined(__x86_64__) && defined(__GNUC__)
#define HAVE_KERNELS 1
#include <immintrin.h>

#define AESNI __attribute__((target("aes,pclmul,avx")))

AESNI static inline __m128i load_block(const uint8_t *p) { return _mm_loadu_si128((const __m128i *)p); }
AESNI static inline void store_block(uint8_t *p, __m128i x) { _mm_storeu_si128((__m128i *)p, x); }

/* GHASH with reflected bits: blocks have their bytes reversed, products are reduced as
 * Gueron and Kounavis do, with the hash key multiplied by x beforehand. */
static const uint8_t GHASH_POLY[BLOCK] = {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xC2};
static const uint8_t REVERSED[BLOCK] = {15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};

AESNI static __m128i ghash_product(__m128i a, __m128i b) {
  const __m128i poly = load_block(GHASH_POLY);
  const __m128i low = _mm_clmulepi64_si128(a, b, 0x00);
  const __m128i high = _mm_clmulepi64_si128(a, b, 0x11);
  __m128i middle = _mm_xor_si128(_mm_clmulepi64_si128(a, b, 0x01), _mm_clmulepi64_si128(a, b, 0x10));
  middle = _mm_xor_si128(middle, _mm_shuffle_epi32(low, 0x4E));
  middle = _mm_xor_si128(middle, _mm_clmulepi64_si128(poly, low, 0x01));
  const __m128i rest = _mm_xor_si128(high, _mm_shuffle_epi32(middle, 0x4E));
  return _mm_xor_si128(rest, _mm_clmulepi64_si128(poly, middle, 0x01));
}

AESNI static __m128i ghash_block(__m128i running, const uint8_t *block, const uint8_t *power) {
  const __m128i data = _mm_shuffle_epi8(load_block(block), load_block(REVERSED));
  return ghash_product(_mm_xor_si128(running, data), load_block(power));
}

/* H^n, ..., H^1 (each times x), in this order. */
AESNI static void ghash_powers(uint8_t *powers, size_t n, const uint8_t *hash_key) {
  uint64_t h[2];
  store_block((uint8_t *)h, _mm_shuffle_epi8(load_block(hash_key), load_block(REVERSED)));
  const uint64_t carry = 0 - (h[1] >> 63);
  h[1] = (h[1] << 1 | h[0] >> 63) ^ (carry & 0xC200000000000000ULL);
  h[0] = h[0] << 1 ^ (carry & 1);
  const __m128i one = load_block((const uint8_t *)h);
  __m128i power = one;
  store_block(powers + BLOCK * (n - 1), power);
  for (size_t i = n - 1; i-- > 0;) {
    power = ghash_product(power, one);
    store_block(powers + BLOCK * i, power);
  }
}

/* The tag begins with the public part, padded with zeros. */
AESNI static void begin_tags(job_t *job, const uint8_t *power) {
  const size_t size = job->layout.key_size - BLOCK;
  for (size_t k = 0; k < job->count; k++) {
    const uint8_t *public = job->keys + job->layout.key_size * k + BLOCK;
    __m128i running = _mm_setzero_si128();
    for (size_t i = 0; i < size; i += BLOCK) {
      uint8_t block[BLOCK] = {0};
      memcpy(block, public + i, size - i < BLOCK ? size - i : BLOCK);
      running = ghash_block(running, block, power);
    }
    store_block(job->tags + BLOCK * k, running);
  }
}

/* It ends with the length in bits, and the mask of GMAC. */
AESNI static void finish_tags(job_t *job, const uint8_t *power) {
  const size_t public_blocks = (job->layout.key_size - BLOCK + BLOCK - 1) / BLOCK;
  uint64_t bits = 8 * (uint64_t)BLOCK * (public_blocks + CHECK_BLOCKS * job->shape.leaves);
  uint8_t length[BLOCK] = {0};
  for (int i = 7; i >= 0; i--, bits >>= 8) length[i] = (uint8_t)bits;
  for (size_t k = 0; k < job->count; k++) {
    __m128i tag = ghash_block(load_block(job->tags + BLOCK * k), length, power);
    tag = _mm_shuffle_epi8(tag, load_block(REVERSED));
    store_block(job->tags + BLOCK * k, _mm_xor_si128(tag, load_block(job->check + BLOCK)));
  }
}

/* Numbers modulo 2^50 - 27: the upper bits come round again, 27 times. */
static inline uint64_t reduce(uint64_t x) {
  x = (x & NUMBER_MASK) + PRIME_TOP * (x >> PRIME_BITS);
  return x - (PRIME & (0 - ((x + PRIME_TOP) >> PRIME_BITS)));
}

static inline uint64_t reduce_long(unsigned __int128 x) { /* below 2^108 */
  return reduce(((uint64_t)x & NUMBER_MASK) + PRIME_TOP * (uint64_t)(x >> PRIME_BITS));
}

/* Sums of a sketch: of weights times first and second numbers, of squares times first numbers. */
enum { PLAIN, SECOND, SQUARE };

/* One leaf, for what is left over by vectors: its two numbers, its weight and the square of it. */
static inline void count_one(uint64_t *column, const uint64_t *numbers, const uint64_t *weights,
                             unsigned __int128 total[SKETCH]) {
  *column += numbers[0];
  total[PLAIN] += (unsigned __int128)numbers[0] * weights[0];
  total[SECOND] += (unsigned __int128)numbers[1] * weights[0];
  total[SQUARE] += (unsigned __int128)numbers[0] * weights[TILE];
}

static void reduce_column(job_t *job, size_t tile) {
  const size_t left = job->shape.leaves - tile * TILE, n = left < TILE ? left : TILE;
  for (size_t i = 0; i < n; i++) job->column[TILE * tile + i] = reduce(job->column[TILE * tile + i]);
}

/* Add the planes of one tile to the rows of the share. */
AESNI static void put_together(job_t *job, size_t tile) {
  const size_t left = job->shape.leaves - tile * TILE, n = left < TILE ? left : TILE;
  const size_t width = job->layout.width, whole = width / BLOCK, rest = width % BLOCK;
  for (size_t leaf = 0; leaf < n; leaf++) {
    uint8_t *row = job->share + width * (tile * TILE + leaf);
    const uint8_t *from = job->sums + BLOCK * leaf;
    for (size_t j = 0; j < whole; j++)
      store_block(row + BLOCK * j,
                  _mm_xor_si128(load_block(row + BLOCK * j), load_block(from + PLANE * j)));
    for (size_t i = 0; i < rest; i++) row[BLOCK * whole + i] ^= from[PLANE * whole + i];
  }
}

/* Once with one state per vector ... */
#define V __m128i
#define M __m128i
#define LANES 1
#define NAME(f) f##_aesni
#define TARGET AESNI
#define ZERO _mm_setzero_si128()
#define LOAD(p) load_block(p)
#define STORE(p, x) store_block(p, x)
#define LOAD_N(p, n) load_block(p)
#define STORE_N(p, x, n) store_block(p, x)
#define SPREAD(p) load_block(p)
#define XOR(a, b) _mm_xor_si128(a, b)
#define XOR3(a, b, c) _mm_xor_si128(a, _mm_xor_si128(b, c))
#define ADD32(a, b) _mm_add_epi32(a, b)
#define ENC(x, k) _mm_aesenc_si128(x, k)
#define LAST(x, k) _mm_aesenclast_si128(x, k)
#define CLMUL(a, b, i) _mm_clmulepi64_si128(a, b, i)
#define SWAP(x) _mm_shuffle_epi8(x, load_block(REVERSED))
#define HALVES(x) _mm_shuffle_epi32(x, 0x4E)
#define FOLD(x) (x)
#define FIRST(x) (x)
#define BITS(x) _mm_srai_epi32(_mm_slli_epi32(_mm_shuffle_epi32(x, 0x00), 31), 31)
#define XOR_IF(a, m, b) _mm_xor_si128(a, _mm_and_si128(m, b))
#define AND(a, b) _mm_and_si128(a, b)
#define ADD64(a, b) _mm_add_epi64(a, b)
#define ADD_IF(a, m, b) _mm_add_epi64(a, _mm_and_si128(m, b))
/* Products in two parts, of which the upper one counts 2^PART: here of the halves of numbers, and for
 * weights of 32 bits at most, so that squares of weights are taken as two limbs. */
#define PART 32
#define LIMBS 2
#define LIMB(w, i) ((i) ? _mm_srli_epi64(w, WEIGHT_BITS) : _mm_and_si128(w, _mm_set1_epi64x(WEIGHT_MASK)))
#define ADD_LOWER(sum, x, w) _mm_add_epi64(sum, _mm_mul_epu32(x, w))
#define ADD_UPPER(sum, x, w) _mm_add_epi64(sum, _mm_mul_epu32(_mm_srli_epi64(x, 32), w))
#define EVEN(a, b) _mm_unpacklo_epi64(a, b)
#define ODD(a, b) _mm_unpackhi_epi64(a, b)
#define ALL64(x) _mm_set1_epi64x(x)
#include "_lanes.h"
#undef V
#undef M
#undef LANES
#undef NAME
#undef TARGET
#undef ZERO
#undef LOAD
#undef STORE
#undef LOAD_N
#undef STORE_N
#undef SPREAD
#undef XOR
#undef XOR3
#undef ADD32
#undef ENC
#undef LAST
#undef CLMUL
#undef SWAP
#undef HALVES
#undef FOLD
#undef FIRST
#undef BITS
#undef XOR_IF
#undef AND
#undef ADD64
#undef ADD_IF
#undef PART
#undef LIMBS
#undef LIMB
#undef ADD_LOWER
#undef ADD_UPPER
#undef EVEN
#undef ODD
#undef ALL64

/* ... and once with four. */
#define VAES \
  __attribute__((target("aes,pclmul,avx,avx512f,avx512bw,avx512dq,avx512vl,vaes,vpclmulqdq,avx512ifma")))
#define V __m512i
#define M __mmask8
#define LANES 4
#define NAME(f) f##_vaes
#define TARGET VAES
#define FEW(n) ((n) < 4 ? (__mmask8)((1u << 2 * (n)) - 1) : (__mmask8)0xFF)
#define ZERO _mm512_setzero_si512()
#define LOAD(p) _mm512_loadu_si512(p)
#define STORE(p, x) _mm512_storeu_si512(p, x)
#define LOAD_N(p, n) _mm512_maskz_loadu_epi64(FEW(n), p)
#define STORE_N(p, x, n) _mm512_mask_storeu_epi64(p, FEW(n), x)
#define SPREAD(p) _mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(p)))
#define XOR(a, b) _mm512_xor_si512(a, b)
#define XOR3(a, b, c) _mm512_ternarylogic_epi64(a, b, c, 0x96)
#define ADD32(a, b) _mm512_add_epi32(a, b)
#define ENC(x, k) _mm512_aesenc_epi128(x, k)
#define LAST(x, k) _mm512_aesenclast_epi128(x, k)
#define CLMUL(a, b, i) _mm512_clmulepi64_epi128(a, b, i)
#define SWAP(x) _mm512_shuffle_epi8(x, SPREAD(REVERSED))
#define HALVES(x) _mm512_shuffle_epi32(x, 0x4E)
#define FOLD(x) fold_vaes(x)
#define FIRST(x) _mm512_zextsi128_si512(x)
#define BITS(x) _mm512_test_epi64_mask(_mm512_shuffle_epi32(x, 0x44), _mm512_set1_epi64(1))
#define XOR_IF(a, m, b) _mm512_mask_xor_epi64(a, m, a, b)
#define AND(a, b) _mm512_and_si512(a, b)
#define ADD64(a, b) _mm512_add_epi64(a, b)
#define ADD_IF(a, m, b) _mm512_mask_add_epi64(a, m, a, b)
#define PART 52
#define LIMBS 1
#define LIMB(w, i) (w)
#define ADD_LOWER(sum, x, w) _mm512_madd52lo_epu64(sum, x, w)
#define ADD_UPPER(sum, x, w) _mm512_madd52hi_epu64(sum, x, w)
#define EVEN(a, b) _mm512_permutex2var_epi64(a, _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14), b)
#define ODD(a, b) _mm512_permutex2var_epi64(a, _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15), b)
#define ALL64(x) _mm512_set1_epi64(x)
VAES static inline __m128i fold_vaes(__m512i x) {
  const __m256i half = _mm256_xor_si256(_mm512_castsi512_si256(x), _mm512_extracti64x4_epi64(x, 1));
  return _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}
#include "_lanes.h"

#define EXPAND(i, rcon)                                                    \
  do {                                                                     \
    __m128i t = _mm_shuffle_epi32(_mm_aeskeygenassist_si128(k, rcon), 0xFF); \
    k = _mm_xor_si128(k, _mm_slli_si128(k, 4));                            \
    k = _mm_xor_si128(k, _mm_slli_si128(k, 8));                            \
    k = _mm_xor_si128(k, t);                                               \
    store_block(to + BLOCK * (i), k);                                      \
  } while (0)

AESNI static void key_schedule(uint8_t *to, const uint8_t *key) {
  __m128i k = load_block(key);
  store_block(to, k);
  EXPAND(1, 0x01);
  EXPAND(2, 0x02);
  EXPAND(3, 0x04);
  EXPAND(4, 0x08);
  EXPAND(5, 0x10);
  EXPAND(6, 0x20);
  EXPAND(7, 0x40);
  EXPAND(8, 0x80);
  EXPAND(9, 0x1B);
  EXPAND(10, 0x36);
}
#include "_generation.h"
#else
#define HAVE_KERNELS 0
#endif

#include "_module.h"
