/* The C of optimal_cuts.py: the division of an order of least loss, by a dynamic programme. */
#ifndef ANONLOOM_OPTIMAL_CUTS_H
#define ANONLOOM_OPTIMAL_CUTS_H

#include "admissible_windows.h"
#include "losses.h"

typedef struct {
  Ints lo, hi, members;
  Floats lost;
  Ints seen, stamp;
} CutRoom;

#define CUT_ROOM                                                                    \
  "(lo i64[axes]!, hi i64[axes]!, members i64[axes]!, lost f64[axes]!, seen i64[*]!, " \
  "stamp i64[1]!)"

static inline CutRoom take_cut_room(KernelCall *call) {
  CutRoom room;
  room.lo = take_Ints(call);
  room.hi = take_Ints(call);
  room.members = take_Ints(call);
  room.lost = take_Floats(call);
  room.seen = take_Ints(call);
  room.stamp = take_Ints(call);
  return room;
}

/* Take a row into the sets of a window; return by how much the loss of the window grows. */
static double widen_sets(const Losses *losses, const int32_t *row, const CutRoom *room) {
  int64_t *members = room->members.at, *seen = room->seen.at;
  double *lost = room->lost.at, grown = 0.0;
  const int64_t stamp = room->stamp.at[0];
  for (int64_t axis = 0; axis < losses->kind.length; axis++) {
    if (losses->kind.at[axis] != SET) continue;
    const int64_t code = row[axis];
    if (seen[code] != stamp) {
      seen[code] = stamp;
      const int mixed = members[axis] < 0 || code == losses->missing.at[axis];
      const int64_t count = llabs(members[axis]) + 1;
      members[axis] = mixed ? -count : count;
      const double loss = set_loss(losses, axis, count, mixed);
      grown += loss - lost[axis];
      lost[axis] = loss;
    }
    seen += losses->size.at[axis];
  }
  return grown;
}

/* Loss of one row of a window. */
static double loss_of_window(const Losses *losses, Codes2 ordered, int64_t start, int64_t stop,
                             const CutRoom *room) {
  const int64_t axes = ordered.columns;
  double loss = 0.0;
  for (int64_t axis = 0; axis < axes; axis++) {
    if (losses->kind.at[axis] == SET) continue;
    int32_t lo = cell(ordered, start, axis), hi = lo;
    for (int64_t row = start + 1; row < stop; row++) {
      const int32_t code = cell(ordered, row, axis);
      lo = code < lo ? code : lo;
      hi = code > hi ? code : hi;
    }
    loss += extent_loss(losses, axis, lo, hi);
  }
  if (room->seen.length) {
    room->stamp.at[0]++;
    for (int64_t axis = 0; axis < axes; axis++) {
      room->members.at[axis] = 0;
      room->lost.at[axis] = 0.0;
    }
    for (int64_t row = start; row < stop; row++)
      loss += widen_sets(losses, row_of(ordered, row), room);
  }
  return loss;
}

/* Try the long windows that end where number `at` does; return the number behind them. */
static int64_t try_long(const Losses *losses, Codes2 ordered, int64_t begin, const Windows *windows,
                        int64_t at, double *best, int64_t *taken, const CutRoom *room) {
  const int64_t *stops = windows->stops.at;
  const int64_t stop = stops[at];
  for (; at < windows->stops.length && stops[at] == stop; at++) {
    const int64_t start = windows->starts.at[at], size = stop - start;
    if (start < begin || !(best[start] < best[stop])) continue;
    const double whole =
        best[start] + (double)size * loss_of_window(losses, ordered, start, stop, room);
    if (whole < best[stop]) {
      best[stop] = whole;
      taken[stop] = size;
    }
  }
  return at;
}

/* The first of ascending numbers that is not less than a limit. */
static int64_t first_from(Ints ascending, int64_t limit) {
  int64_t first = 0, behind = ascending.length;
  while (first < behind) {
    const int64_t middle = first + (behind - first) / 2;
    if (ascending.at[middle] < limit)
      first = middle + 1;
    else
      behind = middle;
  }
  return first;
}

/* Least loss of a block; `taken[i]` becomes the size of the class that ends behind row i - 1. */
static double best_division(const Losses *losses, Codes2 ordered, int64_t begin, int64_t end,
                            const Windows *windows, double *best, int64_t *taken,
                            const CutRoom *room) {
  const int64_t axes = ordered.columns, least = windows->least, most = windows->most;
  int64_t *lo = room->lo.at, *hi = room->hi.at, *members = room->members.at;
  double *lost = room->lost.at;
  int64_t at = first_from(windows->stops, begin + 1);
  best[begin] = 0.0;
  for (int64_t stop = begin + 1; stop <= end; stop++) {
    const int32_t *row = row_of(ordered, stop - 1);
    best[stop] = INFINITY;
    for (int64_t axis = 0; axis < axes; axis++) {
      lo[axis] = hi[axis] = row[axis];
      members[axis] = 0;
      lost[axis] = 0.0;
    }
    double loss = 0.0;
    room->stamp.at[0]++;
    const int64_t longest = stop - begin >= least ? least_of(most, stop - begin) : 0;
    for (int64_t size = 1; size <= longest; size++, row -= axes) {
      for (int64_t axis = 0; axis < axes; axis++) {
        const int64_t code = row[axis];
        if (lo[axis] <= code && code <= hi[axis]) continue;
        if (code < lo[axis])
          lo[axis] = code;
        else
          hi[axis] = code;
        if (cell(losses->layout, axis, 0) != SET) {
          const double wider = extent_loss(losses, axis, lo[axis], hi[axis]);
          loss += wider - lost[axis];
          lost[axis] = wider;
        }
      }
      if (room->seen.length) loss += widen_sets(losses, row, room);
      if (size < least) continue;
      int allowed = windows->by_size.at[size];
      if (windows->admitted.rows) {
        const int64_t column = windows->column.at[size];
        allowed = column >= 0 && cell(windows->admitted, stop - 1, column);
      }
      if (!allowed) continue;
      const double whole = best[stop - size] + (double)size * loss;
      if (whole < best[stop]) {
        best[stop] = whole;
        taken[stop] = size;
      }
    }
    if (at < windows->stops.length && windows->stops.at[at] == stop)
      at = try_long(losses, ordered, begin, windows, at, best, taken, room);
  }
  return best[end];
}

#define DIVIDE_ALL                                                                       \
  LOSSES ", ordered i32[rows, axes], bounds i64[blocks+1], " WINDOWS ", "                \
  "best f64[rows+1]!, taken i64[rows+1]!, loss f64[blocks]!, " CUT_ROOM

/* Write down the sizes of the classes that end behind each row, and the loss of every block. */
static KernelStatus divide_all(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Codes2 ordered = take_Codes2(call);
  const Ints bounds = take_Ints(call);
  const Windows windows = take_windows(call);
  const Floats best = take_Floats(call);
  const Ints taken = take_Ints(call);
  const Floats loss = take_Floats(call);
  const CutRoom room = take_cut_room(call);
  for (int64_t block = 0; block < loss.length; block++)
    loss.at[block] = best_division(&losses, ordered, bounds.at[block], bounds.at[block + 1],
                                   &windows, best.at, taken.at, &room);
  return KERNEL_DONE;
}

#define WALK_BACK "taken i64[rows+1], begin int, end int, ends i64[rows]! -> int"

/* Write the ends of a block's classes, the last first; return how many there are. */
static KernelStatus walk_back(KernelCall *call) {
  const Ints taken = take_Ints(call);
  const int64_t begin = take_int(call);
  int64_t end = take_int(call);
  const Ints ends = take_Ints(call);
  int64_t count = 0;
  while (end > begin) {
    ends.at[count++] = end;
    end -= taken.at[end];
  }
  give_int(call, count);
  return KERNEL_DONE;
}

#endif
