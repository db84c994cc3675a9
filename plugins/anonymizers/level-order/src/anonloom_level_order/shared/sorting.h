/* Sorting whole numbers in place, and orders that keep equals as they come. */
#ifndef ANONLOOM_SORTING_H
#define ANONLOOM_SORTING_H

#include "kernel.h"

/* Sort whole numbers, ascending. A turn halves their range, not their count, so that there are at
 * most 64 of them whatever the numbers are. */
static inline void sort_ints(int64_t *numbers, int64_t count) {
  while (count > 24) {
    int64_t least = numbers[0], most = numbers[0];
    for (int64_t i = 1; i < count; i++) {
      least = least_of(least, numbers[i]);
      most = most_of(most, numbers[i]);
    }
    if (least == most) return;
    const int64_t middle = (int64_t)((uint64_t)least + ((uint64_t)most - (uint64_t)least) / 2);
    int64_t left = 0, right = count - 1;
    for (;;) {
      while (numbers[left] <= middle) left++;
      while (numbers[right] > middle) right--;
      if (left > right) break;
      const int64_t swapped = numbers[left];
      numbers[left++] = numbers[right];
      numbers[right--] = swapped;
    }
    sort_ints(numbers, left);
    numbers += left;
    count -= left;
  }
  for (int64_t i = 1; i < count; i++) {
    const int64_t number = numbers[i];
    int64_t place = i;
    for (; place > 0 && numbers[place - 1] > number; place--) numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

/* A float as a whole number that compares as it does: zeros are equal, NaN comes last. */
static inline int64_t float_key(double number) {
  if (number != number) return INT64_MAX;
  number += 0.0; /* -0.0 becomes 0.0 */
  int64_t bits;
  memcpy(&bits, &number, sizeof bits);
  return bits >= 0 ? bits : INT64_MIN - bits;
}

/* Runs of this length are sorted by insertion, which is faster on short ones; then they are merged. */
enum { SORTED_RUN = 16 };

static inline void order_run(const int64_t *key, int64_t begin, int64_t end, int64_t *order) {
  for (int64_t i = begin; i < end; i++) {
    int64_t place = i;
    for (; place > begin && key[order[place - 1]] > key[i]; place--) order[place] = order[place - 1];
    order[place] = i;
  }
}

/* Write the places of the keys in ascending order of the keys, as np.argsort(kind="stable") does;
 * `spare` has room for as many. */
static inline void stable_order(const int64_t *key, int64_t count, int64_t *order, int64_t *spare) {
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
