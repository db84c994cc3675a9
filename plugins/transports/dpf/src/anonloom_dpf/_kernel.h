/* What the module and the two copies of the evaluation (AES-NI, VAES) share. */
#ifndef ANONLOOM_DPF_KERNEL_H
#define ANONLOOM_DPF_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#define BLOCK 16u
#define SCHEDULE 176u /* eleven round keys */
#define TILE_LEVELS 10u
#define TILE (1u << TILE_LEVELS)
#define CHECK_BLOCKS 4u
#define PAD 64u      /* states that a vector may touch past the end of a buffer */
#define BATCH 8u     /* keys whose tile is expanded before their payloads are added */
#define PLANE (BLOCK * (TILE + 4)) /* bytes from plane to plane: no power of two, for the cache's sake */
#define STREAMS 8    /* AES computations in flight */
#define MOST_TOP 32u /* levels above the tiles */
#define PRIME_BITS 50
#define PRIME_TOP UINT64_C(27) /* the prime is 2^50 - 27 */
#define NUMBER_MASK ((UINT64_C(1) << PRIME_BITS) - 1)
#define PRIME (NUMBER_MASK + 1 - PRIME_TOP)
#define WEIGHT_BITS 22
#define WEIGHT_MASK ((1 << WEIGHT_BITS) - 1)
#define SKETCH 3u  /* sums of a sketch; see columns.py */
#define LAZY 2048u /* keys whose numbers are added up before sums are reduced */

/* Number of a permutation in the table of schedules. */
enum { LEFT = 0, RIGHT = 1, CHECK = 2, NUMBER = CHECK + CHECK_BLOCKS, LEAF = NUMBER + 1 };

/* See shape.py for which node is whose child. */
typedef struct {
  size_t leaves, tiles, tile_levels, above, depth;
  size_t top[MOST_TOP];
} shape_t;

/* Offsets in a key; see tree.py. */
typedef struct {
  size_t width, planes, key_size, bits_at, last_at, numbers_at, check_at;
} layout_t;

typedef struct {
  shape_t shape;
  layout_t layout;
  const uint8_t *schedules;
  const uint8_t *keys;
  size_t count;
  int party;
  uint8_t *share;
  const uint8_t *check; /* hash key and mask of GMAC, 32 bytes; NULL: no check */
  uint8_t *tags;        /* count x 16, running value until the end */
  uint8_t *tops;        /* count x top_stride: states of the tiles' roots */
  size_t top_stride;
  uint8_t *states; /* BATCH x (TILE + PAD) states */
  uint64_t *column;        /* sums of first numbers per leaf; NULL: none */
  const uint64_t *weights; /* of a tile's leaves, then their squares, then of the next tile */
  uint64_t *sketches;      /* count x SKETCH */
  uint8_t *sums;   /* planes x PLANE bytes, or NULL where the share is its own plane */
} job_t;

#endif
