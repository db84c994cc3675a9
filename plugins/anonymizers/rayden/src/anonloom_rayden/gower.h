/* The C of gower.py: the distance of two rows over mixed columns. */
#ifndef ANONLOOM_RAYDEN_GOWER_H
#define ANONLOOM_RAYDEN_GOWER_H

#include "shared/kernel.h"

enum { LINE = 0, EQUAL = 1, PAIRS = 2, TREE = 3 };

/* No distance is below 0 or beyond 1; what is no number would count as this. */
#define BEYOND 1.5

typedef struct {
  Ints kind;
  Floats share;
  Ints size, missing, start;
  Floats values;
  Ints above;
  Codes ancestors;
  int euclidean;
} Space;

#define SPACE                                                                              \
  "(kind i64[axes], share f64[axes], size i64[axes], missing i64[axes], start i64[axes], " \
  "values f64[*], above i64[axes], ancestors i32[*], euclidean bool)"

static Space take_space(KernelCall *call) {
  Space space;
  space.kind = take_Ints(call);
  space.share = take_Floats(call);
  space.size = take_Ints(call);
  space.missing = take_Ints(call);
  space.start = take_Ints(call);
  space.values = take_Floats(call);
  space.above = take_Ints(call);
  space.ancestors = take_Codes(call);
  space.euclidean = take_bool(call);
  return space;
}

/* Loss of the lowest node above two codes. */
static inline double node_loss(const double *values, const int32_t *above, int64_t size, int64_t one,
                               int64_t other) {
  while (above[one] != above[other]) above += size;
  return values[above[one]];
}

/* Add the distances of one code from others along an axis. Called with constants for all but the
 * arrays, so that there is a loop without a decision for each kind of axis. */
static inline void add_along(const Space *space, int64_t axis, int kind, int squared, int64_t step,
                             int32_t one, const int32_t *others, int64_t count, double *out) {
  const int64_t size = space->size.at[axis], missing = space->missing.at[axis];
  const double share = space->share.at[axis];
  const double *values = space->values.at + space->start.at[axis];
  const double *pairs = values + one * size;
  const int32_t *above = space->ancestors.at + space->above.at[axis];
  const double place = kind == LINE ? values[one] : 0.0;
  const int32_t none = (int32_t)missing;
  for (int64_t i = 0; i < count; i++) {
    const int32_t other = others[i * step];
    /* Nothing here hangs on one condition after the other, nor a load on any: a branch would be
     * guessed wrongly half of the time. */
    const int differ = (other != one) & (other != none);
    double apart = 1.0;
    if (kind == LINE) apart = fabs(place - values[other]);
    if (kind == PAIRS) apart = pairs[other];
    if (kind == TREE && differ) apart = node_loss(values, above, size, one, other);
    apart = kind == EQUAL ? differ : differ ? apart : 0.0;
    out[i] += share * (squared ? apart * apart : apart);
  }
}

#define ADD_ALONG(kind, squared)                                                               \
  if (step == 1) add_along(space, axis, kind, squared, 1, one, others, count, out);            \
  else add_along(space, axis, kind, squared, step, one, others, count, out)
#define ADD_KIND(kind)                     \
  case kind:                               \
    if (space->euclidean) { ADD_ALONG(kind, 1); } else { ADD_ALONG(kind, 0); } \
    break

static void add_axis(const Space *space, int64_t axis, int64_t step, int32_t one,
                     const int32_t *others, int64_t count, double *out) {
  switch (space->kind.at[axis]) {
    ADD_KIND(LINE);
    ADD_KIND(EQUAL);
    ADD_KIND(PAIRS);
    ADD_KIND(TREE);
  }
}

/* Distances of one column of `codes` from `count` columns, every `step`-th from `begin` on. */
static void from_one(const Space *space, Codes2 codes, int64_t one, int64_t begin, int64_t count,
                     int64_t step, double *out) {
  for (int64_t i = 0; i < count; i++) out[i] = 0.0;
  for (int64_t axis = 0; axis < codes.rows; axis++) {
    const int32_t *own = row_of(codes, axis);
    if (own[one] == space->missing.at[axis]) continue;
    add_axis(space, axis, step, own[one], own + begin, count, out);
  }
  if (space->euclidean)
    for (int64_t i = 0; i < count; i++) out[i] = sqrt(out[i]);
}

/* How many steps of one over `steps` a distance has, rounded. */
static inline double in_steps(double distance, double steps) {
  return floor(most_float(0.0, least_float(BEYOND, distance)) * steps + 0.5);
}

#endif
