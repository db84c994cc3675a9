/* The C of vectors.py: records as vectors, each the sum of the stretches of its cells. */
#include "shared/lanes.h"

/* So many features are summed at a time, in a place of their own: the compiler then knows that they
 * overlap with nothing that is added, and uses whole registers. */
enum { FEATURES = 64 };

typedef struct {
  Singles shift;
  Singles2 stretches;
  Ints of_stretches, starts;
  Singles features;
  Singles2 weights;
  Ints of_features, begins;
  Codes2 codes;
} Stretches;

FOR_ALL_WIDTHS
static void add_stretches_of(const Stretches *plan, int64_t start, int64_t stop, Singles2 out) {
  const int64_t width = out.columns;
  for (int64_t row = start; row < stop; row++) {
    for (int64_t first = 0; first < width; first += FEATURES) {
      const int64_t count = least_of(width - first, FEATURES);
      float total[FEATURES];
      for (int64_t k = 0; k < count; k++) total[k] = plan->shift.at[first + k];
      for (int64_t q = 0; q < plan->of_features.length; q++) {
        const int64_t code = cell(plan->codes, plan->of_features.at[q], row);
        const float value = plan->features.at[plan->begins.at[q] + code];
        const float *weights = row_of(plan->weights, q) + first;
        for (int64_t k = 0; k < count; k++) total[k] += value * weights[k];
      }
      for (int64_t p = 0; p < plan->of_stretches.length; p++) {
        const int64_t code = cell(plan->codes, plan->of_stretches.at[p], row);
        const float *stretch = row_of(plan->stretches, plan->starts.at[p] + code) + first;
        for (int64_t k = 0; k < count; k++) total[k] += stretch[k];
      }
      for (int64_t k = 0; k < count; k++) cell(out, row, first + k) = total[k];
    }
  }
}

#define ADD_STRETCHES                                                                        \
  "shift f32[width], stretches f32[*, width], of_stretches i64[coarse], starts i64[coarse], " \
  "features f32[*], weights f32[fine, width], of_features i64[fine], begins i64[fine], "      \
  "codes i32[*, rows], start int, stop int, out f32[rows, width]!"

static KernelStatus add_stretches(KernelCall *call) {
  Stretches plan;
  plan.shift = take_Singles(call);
  plan.stretches = take_Singles2(call);
  plan.of_stretches = take_Ints(call);
  plan.starts = take_Ints(call);
  plan.features = take_Singles(call);
  plan.weights = take_Singles2(call);
  plan.of_features = take_Ints(call);
  plan.begins = take_Ints(call);
  plan.codes = take_Codes2(call);
  const int64_t start = take_int(call), stop = take_int(call);
  add_stretches_of(&plan, start, stop, take_Singles2(call));
  return KERNEL_DONE;
}
