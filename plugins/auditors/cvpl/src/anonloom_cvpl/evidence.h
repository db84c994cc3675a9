/* The C of evidence.py: how many candidates reach a record's best score. */
#include "shared/kernel.h"

/* Candidates whose scores are summed side by side; each sum keeps its order. */
enum { TOGETHER = 8 };

#define COUNT_REACHING                                                                     \
  "records f32[rows, width], vectors f32[*, width], block i64[rows], starts i64[*], "      \
  "points i64[entries], weights i64[entries], limit f32[rows], count i64[rows]!"

/* Sum the weights of the candidates whose score reaches the record's limit. */
static KernelStatus count_reaching(KernelCall *call) {
  const Singles2 records = take_Singles2(call), vectors = take_Singles2(call);
  const Ints block = take_Ints(call), starts = take_Ints(call), points = take_Ints(call);
  const Ints weights = take_Ints(call);
  const Singles limit = take_Singles(call);
  const Ints count = take_Ints(call);
  for (int64_t i = 0; i < records.rows; i++) {
    if (block.at[i] < 0) continue;
    const float *record = row_of(records, i);
    const int64_t stop = starts.at[block.at[i] + 1];
    int64_t reached = 0;
    for (int64_t entry = starts.at[block.at[i]]; entry < stop; entry += TOGETHER) {
      const int64_t size = least_of(stop - entry, TOGETHER);
      const float *vector[TOGETHER];
      float score[TOGETHER];
      for (int64_t j = 0; j < TOGETHER; j++) {
        /* Beyond the last, the last again. */
        vector[j] = row_of(vectors, points.at[entry + least_of(j, size - 1)]);
        score[j] = 0.0f;
      }
      for (int64_t feature = 0; feature < records.columns; feature++)
        for (int64_t j = 0; j < TOGETHER; j++) score[j] += record[feature] * vector[j][feature];
      for (int64_t j = 0; j < size; j++)
        if (score[j] >= limit.at[i]) reached += weights.at[entry + j];
    }
    count.at[i] += reached;
  }
  return KERNEL_DONE;
}
