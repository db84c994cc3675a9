/* The C of top2_search.py: the two best candidates of every record. */
#include "shared/lanes.h"

/* Records that are looked at together. What is known of them is copied: the compiler then knows
 * that it overlaps with no score, and uses whole registers. */
enum { TOGETHER = 256 };

/* Best score, its place and second score, with one more candidate. Nothing depends on a branch. */
static inline void with_one_more(float *first, int32_t *place, float *second, float value,
                                 int32_t number) {
  const float lower = value < *first ? value : *first;
  *second = lower > *second ? lower : *second;
  *place = value > *first ? number : *place;
  *first = value > *first ? value : *first;
}

/* Four candidates at a time, so that what is known is read and written less often. */
FOR_ALL_WIDTHS
static void keep_best_of(const float *products, int64_t candidates, int64_t records, int32_t low,
                         float *score, int32_t *place, float *second) {
  for (int64_t begin = 0; begin < records; begin += TOGETHER) {
    const int64_t count = least_of(records - begin, TOGETHER);
    float first[TOGETHER], next[TOGETHER];
    int32_t at[TOGETHER];
    for (int64_t i = 0; i < count; i++) {
      first[i] = score[begin + i];
      next[i] = second[begin + i];
      at[i] = place[begin + i];
    }
    int64_t j = 0;
    for (; j + 4 <= candidates; j += 4) {
      const float *a = products + j * records + begin;
      const float *b = a + records, *c = b + records, *d = c + records;
      const int32_t number = low + (int32_t)j;
      for (int64_t i = 0; i < count; i++) {
        float score_of = first[i], second_of = next[i];
        int32_t place_of = at[i];
        with_one_more(&score_of, &place_of, &second_of, a[i], number);
        with_one_more(&score_of, &place_of, &second_of, b[i], number + 1);
        with_one_more(&score_of, &place_of, &second_of, c[i], number + 2);
        with_one_more(&score_of, &place_of, &second_of, d[i], number + 3);
        first[i] = score_of;
        next[i] = second_of;
        at[i] = place_of;
      }
    }
    for (; j < candidates; j++) {
      const float *a = products + j * records + begin;
      for (int64_t i = 0; i < count; i++)
        with_one_more(&first[i], &at[i], &next[i], a[i], low + (int32_t)j);
    }
    for (int64_t i = 0; i < count; i++) {
      score[begin + i] = first[i];
      second[begin + i] = next[i];
      place[begin + i] = at[i];
    }
  }
}

#define KEEP_BEST                                                            \
  "products f32[candidates, records], low int, score f32[records]!, "        \
  "place i32[records]!, second f32[records]!"

static KernelStatus keep_best(KernelCall *call) {
  const Singles2 products = take_Singles2(call);
  const int64_t low = take_int(call);
  const Singles score = take_Singles(call);
  const Codes place = take_Codes(call);
  const Singles second = take_Singles(call);
  keep_best_of(products.at, products.rows, products.columns, (int32_t)low, score.at, place.at,
               second.at);
  return KERNEL_DONE;
}

#define MERGE_ROWS                                                                          \
  "best_score f32[all]!, best_candidate i64[all]!, best_second f32[all]!, rows i64[some], " \
  "new_score f32[some], new_candidate i64[some], new_second f32[some]"

/* Merge new candidates of some rows into the best ones known. */
static KernelStatus merge_rows(KernelCall *call) {
  const Singles best_score = take_Singles(call);
  const Ints best_candidate = take_Ints(call);
  const Singles best_second = take_Singles(call);
  const Ints rows = take_Ints(call);
  const Singles new_score = take_Singles(call);
  const Ints new_candidate = take_Ints(call);
  const Singles new_second = take_Singles(call);
  for (int64_t i = 0; i < rows.length; i++) {
    const int64_t row = rows.at[i];
    const float score = best_score.at[row], value = new_score.at[i];
    const int64_t candidate = new_candidate.at[i];
    const float second = best_second.at[row], beside = new_second.at[i];
    const float lower = score < value ? score : value;
    /* The same candidate, seen again in another block, is no second. */
    const float other = candidate == best_candidate.at[row] ? -(float)INFINITY : lower;
    const float rest = second > beside ? second : beside;
    best_second.at[row] = other > rest ? other : rest;
    if (value > score) {
      best_score.at[row] = value;
      best_candidate.at[row] = candidate;
    }
  }
  return KERNEL_DONE;
}
