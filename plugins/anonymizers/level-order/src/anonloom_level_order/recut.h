/* The C of recut.py: cutting neighbouring classes anew along other orders. */
#include "search.h"

typedef struct {
  Ints trial;
  Codes2 ordered;
  Floats best;
  Ints sizes;
} Trials;

#define TRIALS \
  "(trial i64[rows]!, ordered i32[rows, axes]!, best f64[rows+1]!, sizes i64[rows+1]!)"

static Trials take_trials(KernelCall *call) {
  Trials trials;
  trials.trial = take_Ints(call);
  trials.ordered = take_Codes2(call);
  trials.best = take_Floats(call);
  trials.sizes = take_Ints(call);
  return trials;
}

/* Loss of `count` classes as they are, summed over their rows. */
static double old_loss(const Losses *losses, Codes2 ordered, const int64_t *edges, int64_t count,
                       const CutRoom *room) {
  double loss = 0.0;
  for (int64_t index = 0; index < count; index++) {
    const int64_t start = edges[index], stop = edges[index + 1];
    loss += (double)(stop - start) * loss_of_window(losses, ordered, start, stop, room);
  }
  return loss;
}

#define RECUT_GROUPS                                                                        \
  "codes i32[axes, rows], weights i64[rows], " LOSSES ", " LEVELS ", edges i64[*], "        \
  "groups i64[groups+1], preference f64[groups, tries, axes], bits f64[groups, tries], " WINDOWS \
  ", order i64[rows]!, taken i64[rows]!, " SCRATCH ", " TRIALS ", " CUT_ROOM

/* Try other orders for some groups of classes; what is better is written down. */
static KernelStatus recut_groups(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints weights = take_Ints(call);
  const Losses losses = take_losses(call);
  const Levels levels = take_levels(call);
  const Ints edges = take_Ints(call), groups = take_Ints(call);
  const Floats3 preference = take_Floats3(call);
  const Floats2 bits = take_Floats2(call);
  const Windows windows = take_windows(call);
  const Ints order = take_Ints(call), taken = take_Ints(call);
  const Scratch room = take_scratch(call);
  const Trials trials = take_trials(call);
  const CutRoom cut_room = take_cut_room(call);
  int64_t *trial = trials.trial.at;
  for (int64_t group = 0; group < groups.length - 1; group++) {
    const int64_t *of_group = edges.at + groups.at[group] - groups.at[0];
    const int64_t classes = groups.at[group + 1] - groups.at[group];
    const int64_t first = of_group[0], last = of_group[classes];
    for (int64_t index = first; index < last; index++) trial[index] = index;
    write_codes(codes, trial, first, last, trials.ordered);
    /* Rounding must not count as a gain. */
    double least = old_loss(&losses, trials.ordered, of_group, classes, &cut_room) - 1e-9;
    for (int64_t turn = 0; turn < preference.rows; turn++) {
      order_block(codes, weights.at, &losses, &levels, trial, first, last, -1, -1, -1,
                  &cell3(preference, group, turn, 0), cell(bits, group, turn), &room);
      write_codes(codes, trial, first, last, trials.ordered);
      const double lost = best_division(&losses, trials.ordered, first, last, &windows,
                                        trials.best.at, trials.sizes.at, &cut_room);
      if (lost < least) {
        least = lost;
        for (int64_t index = first; index < last; index++) {
          order.at[index] = trial[index];
          taken.at[index] = trials.sizes.at[index + 1];
        }
      }
    }
  }
  return KERNEL_DONE;
}
