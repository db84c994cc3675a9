/* The C of level_order_key.py: an order of rows in which neighbours lose little together. */
#ifndef ANONLOOM_LEVEL_ORDER_KEY_H
#define ANONLOOM_LEVEL_ORDER_KEY_H

#include "hierarchy_levels.h"
#include "losses.h"
#include "sorting.h"

static const double MORE = 1 + 1e-12;

typedef struct {
  Ints tally, code, weight, packed, first, last, moved;
  Ints2 stack;
  Floats2 gain;
  Ints2 place;
} Scratch;

#define SCRATCH                                                                            \
  "(tally i64[codes]!, code i64[codes]!, weight i64[codes]!, packed i64[rows]!, "          \
  "first i64[codes]!, last i64[codes]!, moved i64[rows]!, stack i64[blocks_at_once, 2]!, " \
  "gain f64[axes, levels]!, place i64[axes, levels]!)"

static inline Scratch take_scratch(KernelCall *call) {
  Scratch room;
  room.tally = take_Ints(call);
  room.code = take_Ints(call);
  room.weight = take_Ints(call);
  room.packed = take_Ints(call);
  room.first = take_Ints(call);
  room.last = take_Ints(call);
  room.moved = take_Ints(call);
  room.stack = take_Ints2(call);
  room.gain = take_Floats2(call);
  room.place = take_Ints2(call);
  return room;
}

/* List the codes of a block with their weights by sorting. */
static int64_t sorted_codes(const int32_t *own, const int64_t *weights, const int64_t *order,
                            int64_t begin, int64_t end, const Scratch *room) {
  int64_t *code = room->code.at, *weight = room->weight.at, *packed = room->packed.at;
  const int64_t count = end - begin;
  for (int64_t index = 0; index < count; index++) {
    const int64_t row = order[begin + index];
    packed[index] = (int64_t)((uint64_t)own[row] << 32) | weights[row];
  }
  sort_ints(packed, count);
  int64_t result = 0;
  for (int64_t index = 0; index < count; index++) {
    const int64_t value = packed[index] >> 32, rows = packed[index] & 0xFFFFFFFF;
    if (result && code[result - 1] == value) {
      weight[result - 1] += rows;
    } else {
      code[result] = value;
      weight[result++] = rows;
    }
  }
  return result;
}

/* List the codes of a block on one axis with their weights; return how many there are. A single
 * code is not written down: it cannot be divided. */
static int64_t list_codes(const int32_t *own, const int64_t *weights, const int64_t *order,
                          int64_t begin, int64_t end, const Scratch *room) {
  int64_t *tally = room->tally.at, *code = room->code.at, *weight = room->weight.at;
  int32_t least = own[order[begin]], most = least;
  for (int64_t index = begin + 1; index < end; index++) {
    const int32_t value = own[order[index]];
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  if (least == most) return 1;
  /* Few rows far apart: sorting them is cheaper than walking over all codes between. */
  if ((int64_t)most - least > 4 * (end - begin) + 64)
    return sorted_codes(own, weights, order, begin, end, room);
  for (int64_t index = begin; index < end; index++) {
    const int64_t row = order[index];
    tally[own[row]] += weights[row];
  }
  int64_t result = 0;
  for (int64_t value = least; value <= most; value++) {
    if (tally[value]) {
      code[result] = value;
      weight[result++] = tally[value];
      tally[value] = 0;
    }
  }
  return result;
}

/* What a part of this share adds to the entropy of a division. */
static inline double bits_of(double share) { return -share * log2(share); }

/* What dividing a block by the nodes of a level gains per bit; 0 if it does not divide. */
static double gain_of_level(const Losses *losses, int64_t axis, const int32_t *digits,
                            int64_t found, int64_t total, double bits, const Scratch *room) {
  const int64_t *code = room->code.at, *weight = room->weight.at;
  double entropy = 0.0, lost = 0.0;
  int64_t first = 0, inside = 0;
  for (int64_t index = 0; index < found; index++) {
    inside += weight[index];
    if (index + 1 == found || digits[code[index + 1]] != digits[code[index]]) {
      entropy += bits_of((double)inside / (double)total);
      lost += (double)inside * extent_loss(losses, axis, code[first], code[index]);
      first = index + 1;
      inside = 0;
    }
  }
  const double whole = extent_loss(losses, axis, code[0], code[found - 1]);
  return entropy > 0.0 ? (whole - lost / (double)total) / pow(entropy, bits) : 0.0;
}

/* What cutting a block in two gains per bit at the best place; `place` is the first code behind. */
static double best_cut(const Losses *losses, int64_t axis, int64_t found, int64_t total,
                       double bits, const Scratch *room, int64_t *place) {
  const int64_t *code = room->code.at, *weight = room->weight.at;
  const int64_t least = code[0], most = code[found - 1];
  const double whole = extent_loss(losses, axis, least, most);
  double best = 0.0;
  int64_t left = 0;
  *place = code[1];
  for (int64_t index = 1; index < found; index++) {
    left += weight[index - 1];
    const double share = (double)left / (double)total;
    double lost = share * extent_loss(losses, axis, least, code[index - 1]);
    lost += (1.0 - share) * extent_loss(losses, axis, code[index], most);
    const double gain = (whole - lost) / pow(bits_of(share) + bits_of(1.0 - share), bits);
    /* Of equals the first: rounding must not choose between them. */
    if (gain > best * MORE) {
      best = gain;
      *place = code[index];
    }
  }
  return best;
}

/* Write into `gain` and `place` what every part would gain in a block. */
static void weigh_parts(Codes2 codes, const int64_t *weights, const Losses *losses,
                        const Levels *levels, const int64_t *order, int64_t begin, int64_t end,
                        const double *preference, double bits, const Scratch *room) {
  const int64_t *weight = room->weight.at;
  for (int64_t axis = 0; axis < codes.rows; axis++) {
    double *gain = row_of(room->gain, axis);
    int64_t *place = row_of(room->place, axis);
    for (int64_t level = 0; level < room->gain.columns; level++) gain[level] = 0.0;
    const int64_t found = list_codes(row_of(codes, axis), weights, order, begin, end, room);
    if (found < 2) continue;
    int64_t total = 0;
    for (int64_t index = 0; index < found; index++) total += weight[index];
    const int64_t depth = levels->depth.at[axis];
    if (depth == 0) {
      int64_t cut;
      gain[0] = best_cut(losses, axis, found, total, bits, room, &cut) * preference[axis];
      place[0] = cut;
    }
    const int32_t *digits = levels->digits.at + levels->start.at[axis];
    for (int64_t level = 0; level < depth; level++) {
      gain[level] =
          gain_of_level(losses, axis, digits, found, total, bits, room) * preference[axis];
      place[level] = level;
      digits += levels->size.at[axis];
    }
  }
}

/* Axis and level of the part that gains most, both -1 if none gains; the first of equals. */
static void best_part(const Scratch *room, int64_t *axis, int64_t *level) {
  double best = 0.0;
  *axis = *level = -1;
  for (int64_t a = 0; a < room->gain.rows; a++) {
    for (int64_t b = 0; b < room->gain.columns; b++) {
      if (cell(room->gain, a, b) > best * MORE) {
        best = cell(room->gain, a, b);
        *axis = a;
        *level = b;
      }
    }
  }
}

/* Digit of a code: by a level, or before and behind a place where there are no levels (NULL). */
static inline int64_t digit_of(const int32_t *digits, int64_t place, int32_t code) {
  return digits == NULL ? code >= place : digits[code];
}

/* Sort a block by a part, and put its cells on the stack, the first in order on top; return the new
 * height of the stack. The digits ascend, or descend if that brings the cell nearer to the previous
 * row first. */
static int64_t divide(Codes2 codes, const Levels *levels, int64_t *order, int64_t begin, int64_t end,
                      int64_t axis, int64_t place, int64_t previous, Ints2 stack, int64_t top,
                      const Scratch *room) {
  const int32_t *own = row_of(codes, axis);
  int64_t *first = room->first.at, *last = room->last.at, *moved = room->moved.at;
  const int leveled = levels->depth.at[axis] > 0;
  const int64_t cells = leveled ? cell(levels->cells, axis, place) : 2;
  const int32_t *digits =
      leveled ? levels->digits.at + levels->start.at[axis] + place * levels->size.at[axis] : NULL;
  for (int64_t cell = 0; cell < cells; cell++) last[cell] = 0;
  for (int64_t index = begin; index < end; index++)
    last[digit_of(digits, place, own[order[index]])]++;
  int64_t least = 0, most = cells - 1;
  while (last[least] == 0) least++;
  while (last[most] == 0) most--;
  int falling = 0;
  if (previous >= 0) {
    const int64_t before = digit_of(digits, place, own[previous]);
    falling = llabs(before - most) < llabs(before - least);
  }
  int64_t reach = begin;
  for (int64_t turn = 0; turn < cells; turn++) {
    const int64_t cell = falling ? cells - 1 - turn : turn;
    const int64_t size = last[cell];
    first[cell] = last[cell] = reach;
    reach += size;
  }
  for (int64_t index = begin; index < end; index++)
    moved[last[digit_of(digits, place, own[order[index]])]++] = order[index];
  for (int64_t index = begin; index < end; index++) order[index] = moved[index];
  for (int64_t turn = 0; turn < cells; turn++) {
    const int64_t cell = falling ? turn : cells - 1 - turn;
    if (last[cell] > first[cell]) {
      stack.at[2 * top] = first[cell];
      stack.at[2 * top + 1] = last[cell];
      top++;
    }
  }
  return top;
}

/* Order the rows of a block, which has any, in place. `previous` is the row before it, or -1; axis
 * and place are the part by which it is divided itself, or -1 to choose it as all others. */
static void order_block(Codes2 codes, const int64_t *weights, const Losses *losses,
                        const Levels *levels, int64_t *order, int64_t begin, int64_t end,
                        int64_t previous, int64_t axis, int64_t place, const double *preference,
                        double bits, const Scratch *room) {
  const Ints2 stack = room->stack;
  stack.at[0] = begin;
  stack.at[1] = end;
  int64_t top = 1;
  while (top > 0) {
    top--;
    const int64_t first = stack.at[2 * top], last = stack.at[2 * top + 1];
    if (axis < 0 && last - first > 1) {
      int64_t level;
      weigh_parts(codes, weights, losses, levels, order, first, last, preference, bits, room);
      best_part(room, &axis, &level);
      if (axis >= 0) place = cell(room->place, axis, level);
    }
    if (axis >= 0)
      top = divide(codes, levels, order, first, last, axis, place, previous, stack, top, room);
    else
      previous = order[last - 1];
    axis = -1;
  }
}

#define ORDER_BLOCKS                                                                        \
  "codes i32[axes, rows], weights i64[rows], " LOSSES ", " LEVELS ", order i64[rows]!, "    \
  "bounds i64[blocks+1], preference f64[axes], bits float, " SCRATCH

/* Order the rows of every block in place, each for itself. */
static KernelStatus order_blocks(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints weights = take_Ints(call);
  const Losses losses = take_losses(call);
  const Levels levels = take_levels(call);
  const Ints order = take_Ints(call), bounds = take_Ints(call);
  const Floats preference = take_Floats(call);
  const double bits = take_float(call);
  const Scratch room = take_scratch(call);
  for (int64_t block = 0; block < bounds.length - 1; block++) {
    const int64_t begin = bounds.at[block], end = bounds.at[block + 1];
    if (begin < end)
      order_block(codes, weights.at, &losses, &levels, order.at, begin, end, -1, -1, -1,
                  preference.at, bits, &room);
  }
  return KERNEL_DONE;
}

#endif
