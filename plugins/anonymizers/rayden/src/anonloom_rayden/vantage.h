/* The C of vantage.py: which point a node of the tree is cut around. */
#include "gower.h"

enum { RANDOM = 0, FARTHEST = 1, BEST_SPREAD = 2 };
enum { CANDIDATES = 6, JUDGES = 1024, FIRST_CANDIDATE = 2 };

/* The random number of a salt (63 bits) with this number: splitmix64's output function. */
static inline int64_t salted_hash(int64_t salt, int64_t number) {
  uint64_t mixed = (uint64_t)salt + ((uint64_t)number + 1) * UINT64_C(0x9E3779B97F4A7C15);
  mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94D049BB133111EB);
  return (int64_t)((mixed ^ (mixed >> 31)) >> 1);
}

/* The first of the largest distances; what is no number is larger than all. */
static int64_t farthest_of(const double *distance, int64_t count) {
  int64_t farthest = 0;
  for (int64_t i = 0; i < count; i++) {
    if (isnan(distance[i])) return i;
    if (distance[i] > distance[farthest]) farthest = i;
  }
  return farthest;
}

/* Variance of the distances of every `step`-th point, which stand for so many rows each. */
static double variance(const double *distance, const int64_t *weight, int64_t count, int64_t step) {
  double rows = 0.0, total = 0.0, squares = 0.0;
  for (int64_t i = 0; i < count; i++) {
    const double apart = distance[i], share = (double)weight[i * step];
    rows += share;
    total += share * apart;
    squares += share * apart * apart;
  }
  const double mean = total / rows;
  return squares / rows - mean * mean;
}

/* The candidate whose distances from a sample of the points vary most. */
static int64_t best_spread(const Space *space, int64_t attempt, Codes2 codes, const int64_t *weight,
                           int64_t begin, int64_t count, int64_t size, int64_t salt,
                           double *distance) {
  const int64_t step = (count + JUDGES - 1) / JUDGES, judges = (count + step - 1) / step;
  int64_t best = begin, point = begin, before = 0;
  double most = -1.0;
  for (int64_t stratum = 0; stratum < CANDIDATES; stratum++) {
    const int64_t number = FIRST_CANDIDATE + attempt * CANDIDATES + stratum;
    const int64_t row = (stratum * size + salted_hash(salt, number) % size) / CANDIDATES;
    while (row >= before + weight[point]) before += weight[point++];
    from_one(space, codes, point, begin, judges, step, distance);
    const double spread = variance(distance, weight + begin, judges, step);
    if (spread > most) {
      best = point;
      most = spread;
    }
  }
  return best;
}

/* Choose among `count` points, which hold `size` rows; another attempt, another choice. */
static int64_t vantage_point(const Space *space, int64_t how, int64_t attempt, Codes2 codes,
                             const int64_t *weight, int64_t begin, int64_t count, int64_t size,
                             int64_t salt, double *distance) {
  if (how == BEST_SPREAD)
    return best_spread(space, attempt, codes, weight, begin, count, size, salt, distance);
  int64_t row = salted_hash(salt, FIRST_CANDIDATE + attempt) % size, chosen = begin;
  while (row >= weight[chosen]) row -= weight[chosen++];
  if (how == FARTHEST) {
    from_one(space, codes, chosen, begin, count, 1, distance);
    chosen = begin + farthest_of(distance, count);
  }
  return chosen;
}
