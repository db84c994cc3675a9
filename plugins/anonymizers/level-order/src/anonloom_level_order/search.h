/* The C of search.py: looking ahead before a block is divided. */
#ifndef ANONLOOM_SEARCH_H
#define ANONLOOM_SEARCH_H

#include "shared/level_order_key.h"
#include "shared/optimal_cuts.h"

typedef struct {
  Ints axes, places, trial;
  Codes2 ordered;
  Floats best;
  Ints taken;
  Ints2 stack;
} Attempts;

#define ATTEMPTS                                                                            \
  "(axes i64[tried]!, places i64[tried]!, trial i64[rows]!, ordered i32[rows, axes]!, "     \
  "best f64[rows+1]!, taken i64[rows+1]!, stack i64[blocks_at_once, 2]!)"

static Attempts take_attempts(KernelCall *call) {
  Attempts attempts;
  attempts.axes = take_Ints(call);
  attempts.places = take_Ints(call);
  attempts.trial = take_Ints(call);
  attempts.ordered = take_Codes2(call);
  attempts.best = take_Floats(call);
  attempts.taken = take_Ints(call);
  attempts.stack = take_Ints2(call);
  return attempts;
}

/* Write the codes of rows in some order, row after row. */
static void write_codes(Codes2 codes, const int64_t *order, int64_t first, int64_t last,
                        Codes2 ordered) {
  for (int64_t index = first; index < last; index++) {
    const int32_t *from = codes.at + order[index];
    int32_t *to = row_of(ordered, index);
    for (int64_t axis = 0; axis < codes.rows; axis++) to[axis] = from[axis * codes.columns];
  }
}

/* List the parts that gain most, the best first; return how many there are. */
static int64_t rank_parts(const Scratch *room, Ints axes, Ints places) {
  int64_t count = 0;
  for (; count < axes.length; count++) {
    int64_t axis, level;
    best_part(room, &axis, &level);
    if (axis < 0) break;
    axes.at[count] = axis;
    places.at[count] = cell(room->place, axis, level);
    cell(room->gain, axis, level) = 0.0;
  }
  return count;
}

/* Try out the first parts of a block's list; return the number of that which loses least. */
static int64_t choose_part(Codes2 codes, const int64_t *weights, const Losses *losses,
                           const Levels *levels, const int64_t *order, int64_t first, int64_t last,
                           int64_t previous, int64_t count, const Windows *windows,
                           const double *alike, double bits, const Scratch *room,
                           const Attempts *attempts, const CutRoom *cut_room) {
  int64_t *trial = attempts->trial.at;
  int64_t chosen = 0;
  double least = INFINITY;
  for (int64_t index = 0; index < count; index++) {
    for (int64_t row = first; row < last; row++) trial[row] = order[row];
    order_block(codes, weights, losses, levels, trial, first, last, previous,
                attempts->axes.at[index], attempts->places.at[index], alike, bits, room);
    write_codes(codes, trial, first, last, attempts->ordered);
    const double lost = best_division(losses, attempts->ordered, first, last, windows,
                                      attempts->best.at, attempts->taken.at, cut_room);
    if (lost < least) {
      chosen = index;
      least = lost;
    }
  }
  return chosen;
}

#define LOOK_AHEAD                                                                          \
  "codes i32[axes, rows], weights i64[rows], " LOSSES ", " LEVELS ", order i64[rows]!, "    \
  "bounds i64[blocks+1], " WINDOWS ", alike f64[axes], bits float, " SCRATCH ", " ATTEMPTS \
  ", " CUT_ROOM

/* Order the rows of every block in place, looking ahead where it can hold four classes. */
static KernelStatus look_ahead(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints weights = take_Ints(call);
  const Losses losses = take_losses(call);
  const Levels levels = take_levels(call);
  const Ints order = take_Ints(call), bounds = take_Ints(call);
  const Windows windows = take_windows(call);
  const Floats alike = take_Floats(call);
  const double bits = take_float(call);
  const Scratch room = take_scratch(call);
  const Attempts attempts = take_attempts(call);
  const CutRoom cut_room = take_cut_room(call);
  const Ints2 stack = attempts.stack;
  for (int64_t block = 0; block < bounds.length - 1; block++) {
    stack.at[0] = bounds.at[block];
    stack.at[1] = bounds.at[block + 1];
    int64_t top = bounds.at[block] < bounds.at[block + 1], previous = -1;
    while (top > 0) {
      top--;
      const int64_t first = stack.at[2 * top], last = stack.at[2 * top + 1];
      weigh_parts(codes, weights.at, &losses, &levels, order.at, first, last, alike.at, bits, &room);
      const int64_t count = rank_parts(&room, attempts.axes, attempts.places);
      if (count == 0) {
        previous = order.at[last - 1];
        continue;
      }
      int64_t chosen = 0;
      if (count > 1 && last - first >= 4 * windows.least)
        chosen = choose_part(codes, weights.at, &losses, &levels, order.at, first, last, previous,
                             count, &windows, alike.at, bits, &room, &attempts, &cut_room);
      top = divide(codes, &levels, order.at, first, last, attempts.axes.at[chosen],
                   attempts.places.at[chosen], previous, stack, top, &room);
    }
  }
  return KERNEL_DONE;
}

#endif
