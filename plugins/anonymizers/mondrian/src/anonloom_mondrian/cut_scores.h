/* The C of cut_scores.py: which cuts of a class come into question, and how much each saves. */
#include "candidates.h"

typedef struct {
  Floats2 score;
  Ints2 smaller;
  Codes3 best, even;
} CutPairs;

/* Write down the different codes and in which segments each occurs; return how many. */
static int64_t note_members(const int32_t *codes, int64_t count, Scratch *scratch) {
  uint64_t *seen = scratch->seen.at;
  int64_t members = 0;
  for (int64_t i = 0; i < count; i++) {
    if (!seen[codes[i]]) scratch->member.at[members++] = codes[i];
    seen[codes[i]] |= (uint64_t)1 << scratch->segment.at[i];
  }
  return members;
}

/* Clear what note_members wrote. */
static void forget_members(int64_t members, Scratch *scratch) {
  for (int64_t i = 0; i < members; i++) scratch->seen.at[scratch->member.at[i]] = 0;
}

/* How many of the noted codes occur in these segments, and how many outside of them. */
static void count_members(int64_t members, int64_t first, int64_t last, const Scratch *scratch,
                          int64_t *inside, int64_t *outside) {
  const uint64_t taken = (((uint64_t)1 << (last + 1 - first)) - 1) << first;
  *inside = *outside = 0;
  for (int64_t i = 0; i < members; i++) {
    const uint64_t seen = scratch->seen.at[scratch->member.at[i]];
    *inside += (seen & taken) != 0;
    *outside += (seen & ~taken) != 0;
  }
}

/* What one row of the class loses while it is not cut; also marks the axes that vary. */
static double whole_lost(Codes2 codes, int64_t begin, int64_t count, const Losses *losses,
                         Scratch *scratch) {
  double lost = 0.0;
  for (int64_t axis = 0; axis < codes.rows; axis++) {
    const int32_t *own = row_of(codes, axis) + begin;
    int64_t low, high;
    ends_of(own, count, &low, &high);
    scratch->varied.at[axis] = low < high;
    if (losses->kind.at[axis] != SET) {
      lost += extent_loss(losses, axis, low, high);
      continue;
    }
    for (int64_t i = 0; i < count; i++) scratch->segment.at[i] = 0;
    const int64_t members = note_members(own, count, scratch);
    forget_members(members, scratch);
    lost += set_loss(losses, axis, members, high == losses->missing.at[axis]);
  }
  return lost;
}

/* Least and most code of the segments before, and of those from, each segment on. */
static void cumulate(int64_t segments, int64_t top, Scratch *scratch) {
  int64_t *least = &cell3(scratch->ends, 0, 0, 0), *most = &cell3(scratch->ends, 1, 0, 0);
  int64_t *least_before = &cell3(scratch->ends, 0, 1, 0), *most_before = &cell3(scratch->ends, 1, 1, 0);
  int64_t *least_from = &cell3(scratch->ends, 0, 2, 0), *most_from = &cell3(scratch->ends, 1, 2, 0);
  least_before[0] = least_from[segments] = top;
  most_before[0] = most_from[segments] = -1;
  for (int64_t segment = 0; segment < segments; segment++) {
    least_before[segment + 1] = least_of(least_before[segment], least[segment]);
    most_before[segment + 1] = most_of(most_before[segment], most[segment]);
    const int64_t back = segments - 1 - segment;
    least_from[back] = least_of(least_from[back + 1], least[back]);
    most_from[back] = most_of(most_from[back + 1], most[back]);
  }
}

/* Add what one row loses on an axis inside and outside of every cut. */
static void add_lost(const int32_t *codes, int64_t count, int64_t axis, int64_t segments,
                     int64_t cuts, const Losses *losses, Scratch *scratch) {
  int64_t *least = &cell3(scratch->ends, 0, 0, 0), *most = &cell3(scratch->ends, 1, 0, 0);
  const int64_t *segment_of = scratch->segment.at;
  const int64_t top = losses->size.at[axis], missing = losses->missing.at[axis];
  for (int64_t segment = 0; segment < segments; segment++) {
    least[segment] = top;
    most[segment] = -1;
  }
  for (int64_t i = 0; i < count; i++) {
    const int64_t code = codes[i], segment = segment_of[i];
    if (code < least[segment]) least[segment] = code;
    if (code > most[segment]) most[segment] = code;
  }
  cumulate(segments, top, scratch);
  const int is_set = losses->kind.at[axis] == SET;
  const int64_t members = is_set ? note_members(codes, count, scratch) : 0;
  for (int64_t cut = 0; cut < cuts; cut++) {
    const int64_t first = cell(scratch->cut, 2, cut), last = cell(scratch->cut, 3, cut);
    int64_t lo = cell3(scratch->ends, 0, 1, last + 1), hi = cell3(scratch->ends, 1, 1, last + 1);
    if (first) {
      lo = top;
      hi = -1;
      for (int64_t segment = first; segment <= last; segment++) {
        lo = least_of(lo, least[segment]);
        hi = most_of(hi, most[segment]);
      }
    }
    const int64_t low =
        least_of(cell3(scratch->ends, 0, 1, first), cell3(scratch->ends, 0, 2, last + 1));
    const int64_t high =
        most_of(cell3(scratch->ends, 1, 1, first), cell3(scratch->ends, 1, 2, last + 1));
    if (is_set) {
      int64_t inside, outside;
      count_members(members, first, last, scratch, &inside, &outside);
      cell(scratch->lost, 0, cut) += set_loss(losses, axis, inside, hi == missing);
      cell(scratch->lost, 1, cut) += set_loss(losses, axis, outside, high == missing);
    } else {
      cell(scratch->lost, 0, cut) += extent_loss(losses, axis, lo, hi);
      cell(scratch->lost, 1, cut) += extent_loss(losses, axis, low, high);
    }
  }
  if (is_set) forget_members(members, scratch);
}

/* Write down the best and the most even of the cuts that leave enough rows on both sides. */
static void choose(int64_t axis, int64_t index, int64_t cuts, int64_t rows, double before,
                   const uint8_t *enough, double per_bit, const Scratch *scratch, CutPairs *found) {
  const int64_t *reach = scratch->reach.at;
  const int32_t *value = scratch->value.at;
  int64_t most_even = 0;
  for (int64_t cut = 0; cut < cuts; cut++) {
    const int64_t first = cell(scratch->cut, 0, cut), last = cell(scratch->cut, 1, cut);
    const int64_t inside = reach[last] - (first ? reach[first - 1] : 0), outside = rows - inside;
    if (!(enough[inside] && enough[outside])) continue;
    const double share = (double)inside / (double)rows;
    const int64_t smaller = least_of(inside, outside);
    const double drop =
        before - share * cell(scratch->lost, 0, cut) - (1 - share) * cell(scratch->lost, 1, cut);
    const double bits = -share * log2(share) - (1 - share) * log2(1 - share);
    const double score = round12(drop / pow(bits, per_bit));
    const double best = cell(found->score, axis, index);
    if (score > best || (score == best && smaller > cell(found->smaller, axis, index))) {
      cell(found->score, axis, index) = score;
      cell(found->smaller, axis, index) = smaller;
      cell3(found->best, 0, axis, index) = value[first];
      cell3(found->best, 1, axis, index) = value[last];
    }
    if (smaller > most_even) {
      most_even = smaller;
      cell3(found->even, 0, axis, index) = value[first];
      cell3(found->even, 1, axis, index) = value[last];
    }
  }
}

#define SCORE_CUTS                                                                          \
  "codes i32[axes, fragments], weight i64[fragments], bounds i64[classes+1], orders i64[*, *], " \
  LOSSES ", " WAYS ", enough bool[*], per_bit float, " SCRATCH ", "                         \
  "(score f64[axes, classes]!, smaller i64[axes, classes]!, best i32[2, axes, classes]!, "  \
  "even i32[2, axes, classes]!)"

static KernelStatus score_cuts(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints weight = take_Ints(call), bounds = take_Ints(call);
  const Ints2 orders = take_Ints2(call);
  const Losses losses = take_losses(call);
  const Ways ways = take_ways(call);
  const Bools enough = take_Bools(call);
  const double per_bit = take_float(call);
  Scratch scratch = take_scratch(call);
  CutPairs found;
  found.score = take_Floats2(call);
  found.smaller = take_Ints2(call);
  found.best = take_Codes3(call);
  found.even = take_Codes3(call);

  for (int64_t index = 0; index < bounds.length - 1; index++) {
    const int64_t begin = bounds.at[index], count = bounds.at[index + 1] - begin;
    const int64_t *weights = weight.at + begin;
    int64_t rows = 0;
    for (int64_t i = 0; i < count; i++) rows += weights[i];
    const double before = whole_lost(codes, begin, count, &losses, &scratch);
    for (int64_t axis = 0; axis < codes.rows; axis++) {
      if (!scratch.varied.at[axis]) continue;
      const int64_t row = ways.sorted.at[axis];
      const int64_t *order = row >= 0 ? row_of(orders, row) + begin : NULL;
      const int32_t *own = row_of(codes, axis) + begin;
      const int64_t values = tally(own, weights, order, count, &scratch);
      const int64_t cuts = find_cuts(axis, values, &losses, &ways, &scratch);
      const int64_t segments = number_segments(own, values, order, count, cuts, &scratch);
      for (int64_t cut = 0; cut < cuts; cut++)
        cell(scratch.lost, 0, cut) = cell(scratch.lost, 1, cut) = 0.0;
      for (int64_t other = 0; other < codes.rows; other++)
        if (scratch.varied.at[other])
          add_lost(row_of(codes, other) + begin, count, other, segments, cuts, &losses, &scratch);
      choose(axis, index, cuts, rows, before, enough.at, per_bit, &scratch, &found);
    }
  }
  return KERNEL_DONE;
}
