/* The C of exchange.py: each row of a block goes where the block loses least. */
#include "groups.h"

#define LEAST_GAIN 1e-9

/* Price a row in every other class; return the class where it costs least, or -1 if every class
 * costs as much as there is room for, and what it costs. */
static int64_t enter(const Groups *groups, int64_t row, int64_t most, double room, double *entered,
                     double *cost) {
  const int64_t classes = groups->size.length, axes = groups->value.columns;
  const int64_t *size = groups->size.at, *value = row_of(groups->value, row);
  const double *loss = groups->loss.at;
  for (int64_t which = 0; which < classes; which++) entered[which] = 0.0;
  int64_t axis = 0;
  /* Two axes at a time are added in the same order, with half the stores. */
  for (; axis + 1 < axes; axis += 2) {
    const double *one = row_of(groups->price, value[axis]);
    const double *other = row_of(groups->price, value[axis + 1]);
    for (int64_t which = 0; which < classes; which++)
      entered[which] = entered[which] + one[which] + other[which];
  }
  for (; axis < axes; axis++) {
    const double *price = row_of(groups->price, value[axis]);
    for (int64_t which = 0; which < classes; which++) entered[which] += price[which];
  }
  entered[groups->owner.at[row]] = INFINITY;
  int64_t target = -1;
  double least = room;
  for (int64_t which = 0; which < classes; which++) {
    if (size[which] == 0) entered[which] = INFINITY;
    const double next =
        (double)(size[which] + 1) * entered[which] - (double)size[which] * loss[which];
    if (next < least && size[which] < most) {
      target = which;
      least = next;
    }
  }
  *cost = least;
  return target;
}

/* Partner with which swapping gains more than `best`, which becomes the gain, and most; or -1. */
static int64_t best_swap(const Losses *losses, const Groups *groups, int64_t row, double rest,
                         const double *entered, const double *prices, double *best) {
  const int64_t own = groups->owner.at[row];
  const double rows = (double)groups->size.at[own], now = rows * groups->loss.at[own];
  int64_t partner = -1;
  for (int64_t which = 0; which < groups->size.length; which++) {
    const double size = (double)groups->size.at[which], loss = groups->loss.at[which];
    /* What the other class keeps of the row's coming when the best of its rows leaves. */
    const double kept = most_float(0.0, entered[which] - groups->relief.at[which]);
    const double there = size * (loss - kept);
    if (now - rows * rest + there <= *best) continue;
    for (int64_t other = groups->head.at[which]; other >= 0; other = groups->following.at[other]) {
      const double mine = now - rows * loss_with(prices, groups->value, other);
      if (!(mine + there > *best)) continue;
      const double gain =
          mine + size * (loss - loss_exchanged(losses, groups, which, other, row));
      if (gain > *best) {
        partner = other;
        *best = gain;
      }
    }
  }
  return partner;
}

/* Row of a third class that takes the place of one that goes to the target and gains more than
 * `best`, which becomes the gain; or -1. */
static int64_t best_refill(const Losses *losses, const Groups *groups, int64_t row, int64_t target,
                           double room, const uint8_t *allowed, const double *prices,
                           double *best) {
  const int64_t own = groups->owner.at[row];
  const double rows = (double)groups->size.at[own];
  const double spare = (double)(groups->size.at[own] - 1) * loss_without(losses, groups, own, row);
  int64_t filler = -1;
  for (int64_t which = 0; which < groups->size.length; which++) {
    const int64_t size = groups->size.at[which];
    if (which == own || which == target || size < 2 || !allowed[size - 1]) continue;
    const double loss = groups->loss.at[which], now = (double)size * loss;
    const double fewer = (double)(size - 1);
    const double spared = now - fewer * (loss - groups->relief.at[which]);
    if (room + spared <= *best) continue;
    for (int64_t other = groups->head.at[which]; other >= 0; other = groups->following.at[other]) {
      const double mine = room + spare - rows * loss_with(prices, groups->value, other);
      if (!(mine + spared > *best)) continue;
      const double gain = mine + now - fewer * loss_without(losses, groups, which, other);
      if (gain > *best) {
        filler = other;
        *best = gain;
      }
    }
  }
  return filler;
}

/* Target and partner of the change that gains most for a row, and what it gains. */
static void best_change(const Losses *losses, const Groups *groups, int64_t row,
                        const uint8_t *allowed, int64_t most, int64_t *goal, int64_t *partner,
                        double *best) {
  const int64_t own = groups->owner.at[row], rows = groups->size.at[own];
  double *entered = groups->entered.at, *prices = groups->prices.at, cost;
  const double rest = loss_without(losses, groups, own, row);
  const double saved = (double)rows * groups->loss.at[own] - (double)(rows - 1) * rest;
  const int64_t target = enter(groups, row, most, saved, entered, &cost);
  write_prices(losses, groups, own, row, prices);
  *best = LEAST_GAIN;
  *goal = *partner = -1;
  if (target >= 0 && allowed[groups->size.at[target] + 1]) {
    const double room = saved - cost;
    if (allowed[rows - 1]) {
      if (room > *best) {
        *best = room;
        *goal = target;
      }
    } else {
      const int64_t filler =
          best_refill(losses, groups, row, target, room, allowed, prices, best);
      if (filler >= 0) {
        *goal = target;
        *partner = filler;
      }
    }
  }
  const int64_t other = best_swap(losses, groups, row, rest, entered, prices, best);
  if (other >= 0) {
    *goal = groups->owner.at[other];
    *partner = other;
  }
}

#define SWEEP                                                                          \
  LOSSES ", " GROUPS ", allowed bool[*], most int, turn int, once bool, barred bool[rows], " \
  "record i64[*, 4]! -> int, float"

static KernelStatus sweep(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Groups groups = take_groups(call);
  const Bools allowed = take_Bools(call);
  const int64_t most = take_int(call), turn = take_int(call);
  const int once = take_bool(call);
  const Bools barred = take_Bools(call);
  const Ints2 record = take_Ints2(call);

  int64_t *touched = groups.touched.at;
  const int64_t *owner = groups.owner.at;
  double gained = 0.0;
  int64_t changes = 0;
  for (int64_t row = 0; row < groups.owner.length; row++) {
    const int64_t own = owner[row];
    const int busy = once && touched[own] == turn;
    if (barred.at[row] || busy || groups.size.at[own] < 2 || groups.loss.at[own] <= 0.0) continue;
    if (touched[own] < turn - 1) continue;
    int64_t target, partner;
    double gain;
    best_change(&losses, &groups, row, allowed.at, most, &target, &partner, &gain);
    const int64_t third = partner >= 0 ? owner[partner] : target;
    if (target < 0 || (once && (touched[target] == turn || touched[third] == turn))) continue;
    if (once) {
      int64_t *change = row_of(record, changes);
      change[0] = row;
      change[1] = own;
      change[2] = partner;
      change[3] = third;
    }
    transfer(&groups, row, target);
    if (partner >= 0) transfer(&groups, partner, own);
    const int64_t concerned[3] = {own, target, third};
    for (int index = 0; index < (third == target ? 2 : 3); index++) {
      touched[concerned[index]] = turn;
      weigh(&losses, &groups, concerned[index]);
    }
    gained += gain;
    changes++;
  }
  give_int(call, changes);
  give_float(call, gained);
  return KERNEL_DONE;
}

#define TAKE_BACK \
  LOSSES ", " GROUPS ", record i64[*, 4], refused bool[classes], barred bool[rows]! -> float"

static KernelStatus take_back(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Groups groups = take_groups(call);
  const Ints2 record = take_Ints2(call);
  const Bools refused = take_Bools(call), barred = take_Bools(call);

  const int64_t *size = groups.size.at;
  const double *loss = groups.loss.at;
  double lost = 0.0;
  for (int64_t index = 0; index < record.rows; index++) {
    const int64_t *change = row_of(record, index);
    const int64_t row = change[0], own = change[1], partner = change[2], third = change[3];
    const int64_t target = groups.owner.at[row];
    if (!(refused.at[own] || refused.at[target] || refused.at[third])) continue;
    barred.at[row] = 1;
    const int64_t concerned[3] = {own, target, third};
    const int count = third == target ? 2 : 3;
    for (int place = 0; place < count; place++)
      lost -= (double)size[concerned[place]] * loss[concerned[place]];
    transfer(&groups, row, own);
    if (partner >= 0) transfer(&groups, partner, third);
    for (int place = 0; place < count; place++) {
      weigh(&losses, &groups, concerned[place]);
      lost += (double)size[concerned[place]] * loss[concerned[place]];
    }
  }
  give_float(call, lost);
  return KERNEL_DONE;
}
