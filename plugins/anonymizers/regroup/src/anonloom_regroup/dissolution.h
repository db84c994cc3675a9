/* The C of dissolution.py: all rows of a class go to other classes if the block then loses less. */
#include "exchange.h"

/* Send the rows of a class elsewhere; return what that saved, 0 if everything stayed. */
static double dissolve(const Losses *losses, const Groups *groups, int64_t which,
                       const uint8_t *allowed, int64_t most) {
  double *entered = groups->entered.at, cost;
  int64_t *leaving = groups->leaving.at, *targets = groups->targets.at;
  const double before = (double)groups->size.at[which] * groups->loss.at[which];
  int64_t count = 0;
  for (int64_t row = groups->head.at[which]; row >= 0; row = groups->following.at[row])
    leaving[count++] = row;
  /* Each row alone must already fit elsewhere: most classes end here, before anything moves. */
  double least = 0.0;
  for (int64_t index = 0; index < count; index++) {
    const int64_t target = enter(groups, leaving[index], most, before - least, entered, &cost);
    least += cost;
    if (target < 0) return 0.0;
  }
  double spent = 0.0;
  int64_t sent = 0;
  while (sent < count) {
    const double room = before - spent - LEAST_GAIN;
    const int64_t target = enter(groups, leaving[sent], most, room, entered, &cost);
    if (target < 0 || !allowed[groups->size.at[target] + 1]) break;
    transfer(groups, leaving[sent], target);
    weigh(losses, groups, target);
    targets[sent++] = target;
    spent += cost;
  }
  if (sent == count) {
    weigh(losses, groups, which);
    return before - spent;
  }
  for (int64_t index = 0; index < sent; index++) transfer(groups, leaving[index], which);
  for (int64_t index = 0; index < sent; index++) weigh(losses, groups, targets[index]);
  weigh(losses, groups, which);
  return 0.0;
}

#define DISSOLVE_ALL LOSSES ", " GROUPS ", allowed bool[*], most int, turn int -> float"

static KernelStatus dissolve_all(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Groups groups = take_groups(call);
  const Bools allowed = take_Bools(call);
  const int64_t most = take_int(call), turn = take_int(call);

  int64_t *touched = groups.touched.at;
  double gained = 0.0;
  for (int64_t which = 0; which < groups.size.length; which++) {
    if (groups.loss.at[which] <= 0.0 || touched[which] < turn - 1) continue;
    const int64_t rows = groups.size.at[which];
    const double gain = dissolve(&losses, &groups, which, allowed.at, most);
    if (gain > 0.0) {
      gained += gain;
      touched[which] = turn;
      for (int64_t index = 0; index < rows; index++) touched[groups.targets.at[index]] = turn;
    }
  }
  give_float(call, gained);
  return KERNEL_DONE;
}
