/* The C of merge_cost.py: what adding a row would cost a cluster that is being built. */
#ifndef ANONLOOM_MERGE_COST_H
#define ANONLOOM_MERGE_COST_H

#include "losses.h"

typedef struct {
  Ints2 value;
  Ints first; /* of one cell: a row */
  Ints code;
  Floats price;
  Bools inside;
  Ints lo, hi, members;
} Prices;

/* Those of all cells; an entry takes the cells' number from the same name. */
#define PRICES                                                                        \
  "(value i64[points, axes], first i64[cells, axes+1], code i64[values], "            \
  "price f64[values]!, inside bool[values]!, lo i64[axes]!, hi i64[axes]!, members i64[axes]!)"

static inline Prices take_prices(KernelCall *call) {
  Prices prices;
  prices.value = take_Ints2(call);
  const Ints2 first = take_Ints2(call);
  prices.first = (Ints){first.at, first.columns};
  prices.code = take_Ints(call);
  prices.price = take_Floats(call);
  prices.inside = take_Bools(call);
  prices.lo = take_Ints(call);
  prices.hi = take_Ints(call);
  prices.members = take_Ints(call);
  return prices;
}

/* The prices of one cell out of many: a view. */
static inline Prices of_cell(const Prices *prices, int64_t cell) {
  Prices own = *prices;
  own.first.at += cell * prices->first.length;
  return own;
}

/* Price all values of one axis for the cluster's present extent. */
static inline void price_axis(const Prices *prices, const Losses *losses, int64_t axis) {
  const int64_t lo = prices->lo.at[axis], hi = prices->hi.at[axis];
  const int64_t missing = losses->missing.at[axis], end = prices->first.at[axis + 1];
  const int64_t *codes = prices->code.at;
  double *price = prices->price.at;
  if (losses->kind.at[axis] == SET) {
    for (int64_t value = prices->first.at[axis]; value < end; value++) {
      const int64_t members = prices->members.at[axis] + !prices->inside.at[value];
      const int lacking = missing == hi || missing == codes[value];
      price[value] = set_loss(losses, axis, members, lacking);
    }
  } else {
    for (int64_t value = prices->first.at[axis]; value < end; value++)
      price[value] =
          extent_loss(losses, axis, least_of(lo, codes[value]), most_of(hi, codes[value]));
  }
}

/* Let the cluster be this point alone. */
static inline void begin(const Prices *prices, const Losses *losses, int64_t point) {
  for (int64_t axis = 0; axis < prices->lo.length; axis++) {
    const int64_t value = cell(prices->value, point, axis);
    prices->lo.at[axis] = prices->hi.at[axis] = prices->code.at[value];
    if (losses->kind.at[axis] == SET) {
      const int64_t first = prices->first.at[axis];
      memset(prices->inside.at + first, 0, (size_t)(prices->first.at[axis + 1] - first));
      prices->inside.at[value] = 1;
      prices->members.at[axis] = 1;
    }
    price_axis(prices, losses, axis);
  }
}

/* Add a point to the cluster. */
static inline void join(const Prices *prices, const Losses *losses, int64_t point) {
  for (int64_t axis = 0; axis < prices->lo.length; axis++) {
    const int64_t value = cell(prices->value, point, axis), code = prices->code.at[value];
    int fresh = code < prices->lo.at[axis] || code > prices->hi.at[axis];
    if (losses->kind.at[axis] == SET) {
      fresh = !prices->inside.at[value];
      prices->inside.at[value] = 1;
      prices->members.at[axis] += fresh;
    }
    if (fresh) {
      prices->lo.at[axis] = least_of(prices->lo.at[axis], code);
      prices->hi.at[axis] = most_of(prices->hi.at[axis], code);
      price_axis(prices, losses, axis);
    }
  }
}

#endif
