/* Sorting in place. */
#ifndef ANONLOOM_SORTING_H
#define ANONLOOM_SORTING_H

#include "kernel.h"

static void sift_down(int64_t *numbers, int64_t root, int64_t count) {
  const int64_t sunk = numbers[root];
  for (int64_t child = 2 * root + 1; child < count; child = 2 * root + 1) {
    child += child + 1 < count && numbers[child] < numbers[child + 1];
    if (sunk >= numbers[child]) break;
    numbers[root] = numbers[child];
    root = child;
  }
  numbers[root] = sunk;
}

static void sort_by_heap(int64_t *numbers, int64_t count) {
  for (int64_t root = count / 2 - 1; root >= 0; root--) sift_down(numbers, root, count);
  for (int64_t last = count - 1; last > 0; last--) {
    const int64_t most = numbers[0];
    numbers[0] = numbers[last];
    numbers[last] = most;
    sift_down(numbers, 0, last);
  }
}

static void sort_by_insertion(int64_t *numbers, int64_t count) {
  for (int64_t i = 1; i < count; i++) {
    const int64_t number = numbers[i];
    int64_t place = i;
    for (; place > 0 && numbers[place - 1] > number; place--) numbers[place] = numbers[place - 1];
    numbers[place] = number;
  }
}

/* Partitions until `turns` are used up, which no numbers but hostile ones do; then by a heap. */
static void sort_in_turns(int64_t *numbers, int64_t count, int turns) {
  while (count > 24) {
    if (turns-- == 0) {
      sort_by_heap(numbers, count);
      return;
    }
    const int64_t a = numbers[0], b = numbers[count / 2], c = numbers[count - 1];
    const int64_t pivot = most_of(least_of(a, b), least_of(most_of(a, b), c));
    int64_t left = 0, right = count - 1;
    while (left <= right) {
      while (numbers[left] < pivot) left++;
      while (numbers[right] > pivot) right--;
      if (left <= right) {
        const int64_t swapped = numbers[left];
        numbers[left++] = numbers[right];
        numbers[right--] = swapped;
      }
    }
    /* The smaller side on the stack, so that it never is deep; the larger one here. */
    if (right + 1 < count - left) {
      sort_in_turns(numbers, right + 1, turns);
      numbers += left;
      count -= left;
    } else {
      sort_in_turns(numbers + left, count - left, turns);
      count = right + 1;
    }
  }
  sort_by_insertion(numbers, count);
}

/* Sort whole numbers, ascending. */
static void sort_ints(int64_t *numbers, int64_t count) {
  int turns = 2;
  for (int64_t rest = count; rest > 1; rest /= 2) turns += 2;
  sort_in_turns(numbers, count, turns);
}

#endif
