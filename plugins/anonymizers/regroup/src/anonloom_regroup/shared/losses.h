/* The C of losses.py: the loss of an extent, as plain arrays and one function. */
#ifndef ANONLOOM_LOSSES_H
#define ANONLOOM_LOSSES_H

#include "kernel.h"

enum { LINE = 0, DENSE = 1, TREE = 2, SET = 3 };

typedef struct {
  Ints kind;
  Floats share;
  Ints size, missing, start;
  Floats values;
  Ints above, levels;
  Codes ancestors;
  Ints2 layout;
} Losses;

#define LOSSES                                                                             \
  "(kind i64[axes], share f64[axes], size i64[axes], missing i64[axes], start i64[axes], " \
  "values f64[*], above i64[axes], levels i64[axes], ancestors i32[*], layout i64[axes, 6])"

static inline Losses take_losses(KernelCall *call) {
  Losses losses;
  losses.kind = take_Ints(call);
  losses.share = take_Floats(call);
  losses.size = take_Ints(call);
  losses.missing = take_Ints(call);
  losses.start = take_Ints(call);
  losses.values = take_Floats(call);
  losses.above = take_Ints(call);
  losses.levels = take_Ints(call);
  losses.ancestors = take_Codes(call);
  losses.layout = take_Ints2(call);
  return losses;
}

/* Weighted loss of one axis for a class from lo to hi; on an axis of kind SET the most it can be. */
static inline double extent_loss(const Losses *losses, int64_t axis, int64_t lo, int64_t hi) {
  const int64_t *layout = row_of(losses->layout, axis);
  const double *values = losses->values.at;
  const int64_t kind = layout[0], start = layout[3];
  if (kind == DENSE) return values[start + lo * layout[1] + hi];
  if (lo == hi) return 0.0;
  if (hi == layout[2]) return values[layout[5]];
  if (kind == LINE) return values[start + hi] - values[start + lo];
  if (kind == SET) return values[start + hi - lo + 1];
  const int32_t *ancestors = losses->ancestors.at;
  int64_t level = layout[4];
  while (ancestors[level + lo] != ancestors[level + hi]) level += layout[1];
  return values[start + ancestors[level + lo]];
}

/* Weighted loss of one axis of kind SET for a class with so many different codes. */
static inline double set_loss(const Losses *losses, int64_t axis, int64_t members, int with_missing) {
  if (members > 1 && with_missing) return losses->share.at[axis];
  return losses->values.at[losses->start.at[axis] + members];
}

#endif
