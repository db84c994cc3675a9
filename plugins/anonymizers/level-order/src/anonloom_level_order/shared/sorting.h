/* Sorting in place. */
#ifndef ANONLOOM_SORTING_H
#define ANONLOOM_SORTING_H

#include "kernel.h"

/* Sort whole numbers, ascending. A turn halves their range, not their count, so that there are at
 * most 64 of them whatever the numbers are. */
static void sort_ints(int64_t *numbers, int64_t count) {
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

#endif
