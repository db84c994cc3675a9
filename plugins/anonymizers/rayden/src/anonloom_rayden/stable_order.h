/* Sorting that keeps equal keys in their order, as np.argsort(kind="stable") does. */
#ifndef ANONLOOM_RAYDEN_STABLE_ORDER_H
#define ANONLOOM_RAYDEN_STABLE_ORDER_H

#include "shared/kernel.h"

/* Runs of this length are sorted by insertion, which is faster on short ones; then they are merged. */
enum { SORTED_RUN = 16 };

static inline void order_run(const int64_t *key, int64_t begin, int64_t end, int64_t *order) {
  for (int64_t i = begin; i < end; i++) {
    int64_t place = i;
    for (; place > begin && key[order[place - 1]] > key[i]; place--) order[place] = order[place - 1];
    order[place] = i;
  }
}

/* Write the places of the keys in ascending order of the keys; `spare` has room for as many. */
static void stable_order(const int64_t *key, int64_t count, int64_t *order, int64_t *spare) {
  for (int64_t begin = 0; begin < count; begin += SORTED_RUN)
    order_run(key, begin, least_of(begin + SORTED_RUN, count), order);
  for (int64_t width = SORTED_RUN; width < count; width *= 2) {
    memcpy(spare, order, (size_t)count * sizeof *order);
    for (int64_t begin = 0; begin + width < count; begin += 2 * width) {
      const int64_t middle = begin + width, end = least_of(middle + width, count);
      int64_t one = begin, other = middle;
      for (int64_t to = begin; to < end; to++) {
        const int first = other == end || (one < middle && key[spare[one]] <= key[spare[other]]);
        order[to] = first ? spare[one++] : spare[other++];
      }
    }
  }
}

#endif
