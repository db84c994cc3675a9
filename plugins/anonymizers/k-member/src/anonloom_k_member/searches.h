/* The C of searches.py: searches among the points of a cell by what they would cost. */
#include "shared/merge_cost.h"

/* Loss of one row of the cluster, if this point joined. */
static inline double cost(const Prices *prices, int64_t point) {
  const int64_t *value = row_of(prices->value, point), axes = prices->value.columns;
  const double *price = prices->price.at;
  double total = 0.0;
  for (int64_t axis = 0; axis < axes; axis++) total += price[value[axis]];
  return total == total ? total : INFINITY;
}

/* Place of the point that would cost the most; the first of several. */
static int64_t dearest(const Prices *prices, const int64_t *alive, int64_t count) {
  double most = -1.0;
  int64_t result = 0;
  for (int64_t index = 0; index < count; index++) {
    const double own = cost(prices, alive[index]);
    if (own > most) {
      most = own;
      result = index;
    }
  }
  return result;
}

/* Place of the point with the most rows left; of several the cheapest, then the first. */
static int64_t densest(const Prices *prices, const int64_t *alive, int64_t count,
                       const int64_t *left) {
  int64_t most = 0, result = 0;
  double least = INFINITY;
  for (int64_t index = 0; index < count; index++) {
    const int64_t rows = left[alive[index]];
    if (rows < most) continue;
    const double own = cost(prices, alive[index]);
    if (rows > most || own < least) {
      most = rows;
      least = own;
      result = index;
    }
  }
  return result;
}

/* Place and cost of the point that would cost the least; the first of several. It is sought from
 * `start` on and round: what costs no more than `least` ends the search. */
static int64_t cheapest(const Prices *prices, const int64_t *alive, int64_t count,
                        const int64_t *left, int64_t start, double least, double *lowest) {
  int64_t result = count, index = start - 1;
  *lowest = INFINITY;
  for (int64_t step = 0; step < count; step++) {
    index = index + 1 < count ? index + 1 : 0;
    if (!left[alive[index]]) continue;
    const double own = cost(prices, alive[index]);
    if (own < *lowest || (own == *lowest && index < result)) {
      *lowest = own;
      result = index;
      if (own <= least) break;
    }
  }
  return result;
}
