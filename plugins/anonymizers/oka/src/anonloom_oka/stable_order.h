/* The order of numbers, as np.argsort with kind="stable" has it: of equals the first, NaN last. */
#include "shared/kernel.h"

/* Whether b stands before a, which came first. */
static inline int overtakes(double b, double a) { return b < a || (a != a && b == b); }

/* Write the order of so many numbers; `room` is for as many. */
static void stable_order(const double *numbers, int64_t count, int64_t *order, int64_t *room) {
  for (int64_t i = 0; i < count; i++) order[i] = i;
  for (int64_t width = 1; width < count; width *= 2) {
    for (int64_t begin = 0; begin < count; begin += 2 * width) {
      const int64_t middle = least_of(begin + width, count), end = least_of(middle + width, count);
      int64_t a = begin, b = middle;
      for (int64_t i = begin; i < end; i++) {
        const int second =
            a == middle || (b < end && overtakes(numbers[order[b]], numbers[order[a]]));
        room[i] = second ? order[b++] : order[a++];
      }
    }
    memcpy(order, room, (size_t)count * sizeof *order);
  }
}
