/* The C of groups.py: the classes of a block, and what each would lose after a change. */
#include "shared/losses.h"

/* Beyond every code. */
#define BEYOND INT32_MAX

typedef struct {
  Ints2 value;
  Ints first;
  Codes code;
  Ints owner, following, preceding, head, size;
  Codes3 ends;
  Codes2 held;
  Ints2 members;
  Floats2 price;
  Floats drawn, loss, relief;
  Ints touched;
  Floats entered, prices;
  Ints leaving, targets;
} Groups;

#define GROUPS                                                                             \
  "(value i64[rows, axes], first i64[axes+1], code i32[values], owner i64[rows]!, "        \
  "following i64[rows]!, preceding i64[rows]!, head i64[classes]!, size i64[classes]!, "   \
  "ends i32[classes, axes, 4]!, held i32[classes, values]!, members i64[classes, axes]!, " \
  "price f64[values, classes]!, drawn f64[values]!, loss f64[classes]!, "                  \
  "relief f64[classes]!, touched i64[classes]!, entered f64[classes]!, "                   \
  "prices f64[values]!, leaving i64[rows]!, targets i64[rows]!)"

static Groups take_groups(KernelCall *call) {
  Groups groups;
  groups.value = take_Ints2(call);
  groups.first = take_Ints(call);
  groups.code = take_Codes(call);
  groups.owner = take_Ints(call);
  groups.following = take_Ints(call);
  groups.preceding = take_Ints(call);
  groups.head = take_Ints(call);
  groups.size = take_Ints(call);
  groups.ends = take_Codes3(call);
  groups.held = take_Codes2(call);
  groups.members = take_Ints2(call);
  groups.price = take_Floats2(call);
  groups.drawn = take_Floats(call);
  groups.loss = take_Floats(call);
  groups.relief = take_Floats(call);
  groups.touched = take_Ints(call);
  groups.entered = take_Floats(call);
  groups.prices = take_Floats(call);
  groups.leaving = take_Ints(call);
  groups.targets = take_Ints(call);
  return groups;
}

/* Loss per row of a class with these prices once a row has come. */
static inline double loss_with(const double *prices, Ints2 value, int64_t row) {
  const int64_t *own = row_of(value, row);
  double loss = 0.0;
  for (int64_t axis = 0; axis < value.columns; axis++) loss += prices[own[axis]];
  return loss;
}

typedef struct {
  int64_t lo, hi, count;
} Extent;

/* Ends and number of members of a class on an axis after row `gone` left; -1 for none. */
static inline Extent extent_without(const Groups *groups, int64_t which, int64_t gone,
                                    int64_t axis) {
  const int32_t *ends = &cell3(groups->ends, which, axis, 0);
  Extent extent = {ends[0], ends[3], cell(groups->members, which, axis)};
  if (gone >= 0) {
    const int64_t own = cell(groups->value, gone, axis);
    const int32_t code = groups->code.at[own];
    if (code == extent.lo) extent.lo = ends[1];
    if (code == extent.hi) extent.hi = ends[2];
    if (cell(groups->held, which, own) == 1) extent.count--;
  }
  return extent;
}

/* Least loss per row of a class after one row has left, tried for so many rows in turn. */
static inline double least_without(const Losses *losses, const Groups *groups, int64_t which,
                                   int64_t row, int64_t many) {
  double least = INFINITY;
  for (int64_t tried = 0; tried < many; tried++) {
    double loss = 0.0;
    for (int64_t axis = 0; axis < groups->value.columns; axis++) {
      const Extent rest = extent_without(groups, which, row, axis);
      const int64_t *layout = row_of(losses->layout, axis);
      if (layout[0] == SET)
        loss += set_loss(losses, axis, rest.count, rest.hi == layout[2]);
      else if (rest.lo < rest.hi)
        loss += extent_loss(losses, axis, rest.lo, rest.hi);
    }
    least = least_float(least, loss);
    row = groups->following.at[row];
  }
  return least;
}

/* Loss per row of a class after a row has left. */
static double loss_without(const Losses *losses, const Groups *groups, int64_t which,
                           int64_t gone) {
  return least_without(losses, groups, which, gone, 1);
}

/* Loss per row of a class after one row has left and another has come. */
static double loss_exchanged(const Losses *losses, const Groups *groups, int64_t which,
                             int64_t gone, int64_t come) {
  double loss = 0.0;
  for (int64_t axis = 0; axis < groups->value.columns; axis++) {
    const Extent rest = extent_without(groups, which, gone, axis);
    const int64_t own = cell(groups->value, come, axis);
    const int64_t code = groups->code.at[own];
    const int64_t lo = least_of(rest.lo, code), hi = most_of(rest.hi, code);
    const int64_t *layout = row_of(losses->layout, axis);
    if (layout[0] == SET) {
      const int known = cell(groups->held, which, own) - (own == cell(groups->value, gone, axis));
      loss += set_loss(losses, axis, rest.count + (known <= 0), hi == layout[2]);
    } else {
      loss += extent_loss(losses, axis, lo, hi);
    }
  }
  return loss;
}

/* Price every value for a class that row `gone` has left; -1 for none. */
static void write_prices(const Losses *losses, const Groups *groups, int64_t which, int64_t gone,
                         double *prices) {
  const int32_t *code = groups->code.at;
  for (int64_t axis = 0; axis < groups->value.columns; axis++) {
    const Extent rest = extent_without(groups, which, gone, axis);
    const int64_t *layout = row_of(losses->layout, axis);
    const int64_t first = groups->first.at[axis], last = groups->first.at[axis + 1];
    if (layout[0] == SET) {
      const int64_t own = gone >= 0 ? cell(groups->value, gone, axis) : -1;
      for (int64_t index = first; index < last; index++) {
        const int known = cell(groups->held, which, index) - (index == own);
        const int64_t end = most_of(rest.hi, code[index]);
        prices[index] = set_loss(losses, axis, rest.count + (known <= 0), end == layout[2]);
      }
    } else if (layout[0] == DENSE) {
      const double *values = losses->values.at + layout[3];
      for (int64_t index = first; index < last; index++)
        prices[index] =
            values[least_of(rest.lo, code[index]) * layout[1] + most_of(rest.hi, code[index])];
    } else {
      for (int64_t index = first; index < last; index++)
        prices[index] = extent_loss(losses, axis, least_of(rest.lo, code[index]),
                                    most_of(rest.hi, code[index]));
    }
  }
}

/* Look at all rows of a class anew. */
static void survey(const Losses *losses, const Groups *groups, int64_t which) {
  for (int64_t axis = 0; axis < groups->value.columns; axis++) {
    int32_t first = BEYOND, second = BEYOND, former = -1, last = -1;
    int64_t different = 0;
    const int is_set = losses->kind.at[axis] == SET;
    int32_t *held = row_of(groups->held, which);
    if (is_set)
      for (int64_t index = groups->first.at[axis]; index < groups->first.at[axis + 1]; index++)
        held[index] = 0;
    for (int64_t row = groups->head.at[which]; row >= 0; row = groups->following.at[row]) {
      const int64_t value = cell(groups->value, row, axis);
      const int32_t own = groups->code.at[value];
      const int32_t above = own > first ? own : first, below = own < last ? own : last;
      second = above < second ? above : second;
      first = own < first ? own : first;
      former = below > former ? below : former;
      last = own > last ? own : last;
      if (is_set) different += held[value]++ == 0;
    }
    int32_t *ends = &cell3(groups->ends, which, axis, 0);
    ends[0] = first;
    ends[1] = second;
    ends[2] = former;
    ends[3] = last;
    cell(groups->members, which, axis) = different;
  }
}

/* Update everything that is known of a class whose rows changed. */
static void weigh(const Losses *losses, const Groups *groups, int64_t which) {
  groups->loss.at[which] = groups->relief.at[which] = 0.0;
  if (groups->size.at[which] == 0) return;
  survey(losses, groups, which);
  const double *drawn = groups->drawn.at;
  write_prices(losses, groups, which, -1, groups->drawn.at);
  for (int64_t value = 0; value < groups->drawn.length; value++)
    cell(groups->price, value, which) = drawn[value];
  const int64_t head = groups->head.at[which], size = groups->size.at[which];
  const double whole = loss_with(drawn, groups->value, head);
  groups->loss.at[which] = whole;
  if (size > 1)
    groups->relief.at[which] =
        most_float(0.0, whole - least_without(losses, groups, which, head, size));
}

/* Put a row into another class; weigh must follow for both. */
static void transfer(const Groups *groups, int64_t row, int64_t to) {
  int64_t *following = groups->following.at, *preceding = groups->preceding.at;
  int64_t *head = groups->head.at;
  const int64_t old = groups->owner.at[row];
  if (preceding[row] >= 0)
    following[preceding[row]] = following[row];
  else
    head[old] = following[row];
  if (following[row] >= 0) preceding[following[row]] = preceding[row];
  groups->size.at[old]--;
  following[row] = head[to];
  preceding[row] = -1;
  if (head[to] >= 0) preceding[head[to]] = row;
  head[to] = row;
  groups->owner.at[row] = to;
  groups->size.at[to]++;
}

#define LINK_ROWS                                                             \
  "owner i64[rows], head i64[classes]!, following i64[rows]!, preceding i64[rows]!, " \
  "size i64[classes]!"

static KernelStatus link_rows(KernelCall *call) {
  const Ints owner = take_Ints(call), head = take_Ints(call), following = take_Ints(call),
             preceding = take_Ints(call), size = take_Ints(call);
  for (int64_t row = owner.length - 1; row >= 0; row--) {
    const int64_t which = owner.at[row];
    following.at[row] = head.at[which];
    preceding.at[row] = -1;
    if (head.at[which] >= 0) preceding.at[head.at[which]] = row;
    head.at[which] = row;
    size.at[which]++;
  }
  return KERNEL_DONE;
}

#define WEIGH_ALL LOSSES ", " GROUPS

static KernelStatus weigh_all(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Groups groups = take_groups(call);
  for (int64_t which = 0; which < groups.size.length; which++) weigh(&losses, &groups, which);
  return KERNEL_DONE;
}
