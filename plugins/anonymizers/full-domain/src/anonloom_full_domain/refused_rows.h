/* The C of refused_rows.py: the rows that no box admits go where the table loses least by it. */
#include "shared/losses.h"

#define TELLS_NOTHING (1 - 1e-12)
#define FORBIDDING 1e12

#define CHOOSE_CLASSES                                                                      \
  "codes i32[*, columns+1], points i64[asked], weights i64[asked], parents i32[classes], "  \
  "places i64[columns], lo i32[classes, columns]!, hi i32[classes, columns]!, "             \
  "sizes i64[classes]!, " LOSSES ", chosen i64[asked]!"

static KernelStatus choose_classes(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints points = take_Ints(call), weights = take_Ints(call);
  const Codes parents = take_Codes(call);
  const Ints places = take_Ints(call);
  const Codes2 lo = take_Codes2(call), hi = take_Codes2(call);
  const Ints sizes = take_Ints(call);
  const Losses losses = take_losses(call);
  const Ints chosen = take_Ints(call);

  for (int64_t index = 0; index < points.length; index++) {
    const int32_t *own = row_of(codes, points.at[index]);
    double least = INFINITY;
    for (int64_t to = 0; to < lo.rows; to++) {
      if (parents.at[to] != own[0]) continue;
      double before = 0.0, after = 0.0;
      for (int64_t axis = 0; axis < lo.columns; axis++) {
        const int64_t code = own[axis + 1];
        const int64_t begin = cell(lo, to, axis), end = cell(hi, to, axis);
        double loss = extent_loss(&losses, places.at[axis], begin, end);
        before += loss;
        if (code < begin || code > end)
          loss = extent_loss(&losses, places.at[axis], least_of(begin, code), most_of(end, code));
        after += loss;
      }
      double rise = (double)sizes.at[to] * (after - before) + (double)weights.at[index] * after;
      /* Published as nothing but `*`, its rows would count as suppressed. */
      if (after >= TELLS_NOTHING) rise += FORBIDDING;
      if (rise < least) {
        least = rise;
        chosen.at[index] = to;
      }
    }
    const int64_t to = chosen.at[index];
    if (to < 0) continue;
    sizes.at[to] += weights.at[index];
    for (int64_t axis = 0; axis < lo.columns; axis++) {
      const int32_t code = own[axis + 1];
      if (code < cell(lo, to, axis)) cell(lo, to, axis) = code;
      if (code > cell(hi, to, axis)) cell(hi, to, axis) = code;
    }
  }
  return KERNEL_DONE;
}
