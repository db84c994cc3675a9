/* The C of impurity.py: how impure both parts of a split are, from counts. */
#include "shared/kernel.h"

typedef struct {
  Codes2 value;
  Ints start;
  Bools entropy;
  Floats worth;
  Ints2 known;
  Floats2 total, square;
  Floats number_worth;
} Targets;

#define TARGETS                                                                               \
  "(value i32[categories, points], start i64[categories+1], entropy bool[categories], "       \
  "worth f64[categories], known i64[numbers, points], total f64[numbers, points], "           \
  "square f64[numbers, points], number_worth f64[numbers])"

static Targets take_targets(KernelCall *call) {
  Targets targets;
  targets.value = take_Codes2(call);
  targets.start = take_Ints(call);
  targets.entropy = take_Bools(call);
  targets.worth = take_Floats(call);
  targets.known = take_Ints2(call);
  targets.total = take_Floats2(call);
  targets.square = take_Floats2(call);
  targets.number_worth = take_Floats(call);
  return targets;
}

typedef struct {
  Ints whole, part;
  Ints2 rows;
  Floats2 summed;
  Ints2 known;
  Floats2 total, square;
} Counts;

#define COUNTS                                                                          \
  "(whole i64[values]!, part i64[values]!, rows i64[2, categories]!, "                  \
  "summed f64[3, categories]!, known i64[2, numbers]!, total f64[2, numbers]!, "        \
  "square f64[2, numbers]!)"

static Counts take_counts(KernelCall *call) {
  Counts counts;
  counts.whole = take_Ints(call);
  counts.part = take_Ints(call);
  counts.rows = take_Ints2(call);
  counts.summed = take_Floats2(call);
  counts.known = take_Ints2(call);
  counts.total = take_Floats2(call);
  counts.square = take_Floats2(call);
  return counts;
}

/* What the term of a value grows by when it occurs more often. */
static inline double step(int64_t rows, int64_t more, int entropy, const double *term) {
  if (entropy) return term[rows + more] - term[rows];
  return (double)more * (2.0 * (double)rows + (double)more);
}

/* Count the points of a node. */
static void take_whole(const int32_t *points, int64_t count, const int64_t *weight,
                       const Targets *targets, const double *term, const Counts *counts) {
  for (int64_t target = 0; target < targets->value.rows; target++) {
    const int32_t *value = row_of(targets->value, target);
    const int entropy = targets->entropy.at[target];
    int64_t *whole = counts->whole.at + targets->start.at[target];
    int64_t rows = 0;
    double summed = 0.0;
    for (int64_t i = 0; i < count; i++) {
      const int32_t own = value[points[i]];
      if (own < 0) continue;
      const int64_t more = weight[points[i]];
      summed += step(whole[own], more, entropy, term);
      whole[own] += more;
      rows += more;
    }
    cell(counts->rows, 0, target) = rows;
    cell(counts->rows, 1, target) = 0;
    cell(counts->summed, 0, target) = cell(counts->summed, 2, target) = summed;
    cell(counts->summed, 1, target) = 0.0;
  }
  for (int64_t target = 0; target < targets->known.rows; target++) {
    int64_t known = 0;
    double total = 0.0, square = 0.0;
    for (int64_t i = 0; i < count; i++) {
      known += cell(targets->known, target, points[i]);
      total += cell(targets->total, target, points[i]);
      square += cell(targets->square, target, points[i]);
    }
    cell(counts->known, 0, target) = known;
    cell(counts->known, 1, target) = 0;
    cell(counts->total, 0, target) = total;
    cell(counts->total, 1, target) = 0.0;
    cell(counts->square, 0, target) = square;
    cell(counts->square, 1, target) = 0.0;
  }
}

/* Clear the counts of the values of points. */
static void forget(const int32_t *points, int64_t count, const Targets *targets, int64_t *counted) {
  for (int64_t target = 0; target < targets->value.rows; target++) {
    const int32_t *value = row_of(targets->value, target);
    int64_t *own = counted + targets->start.at[target];
    for (int64_t i = 0; i < count; i++)
      if (value[points[i]] >= 0) own[value[points[i]]] = 0;
  }
}

/* Move points from outside of the split to its inside. */
static void take_in(const int32_t *points, int64_t count, const int64_t *weight,
                    const Targets *targets, const double *term, const Counts *counts) {
  for (int64_t target = 0; target < targets->value.rows; target++) {
    const int32_t *value = row_of(targets->value, target);
    const int entropy = targets->entropy.at[target];
    const int64_t *whole = counts->whole.at + targets->start.at[target];
    int64_t *part = counts->part.at + targets->start.at[target];
    int64_t rows = cell(counts->rows, 1, target);
    double inside = cell(counts->summed, 1, target), outside = cell(counts->summed, 2, target);
    for (int64_t i = 0; i < count; i++) {
      const int32_t own = value[points[i]];
      if (own < 0) continue;
      const int64_t more = weight[points[i]], before = part[own];
      inside += step(before, more, entropy, term);
      outside -= step(whole[own] - before - more, more, entropy, term);
      part[own] = before + more;
      rows += more;
    }
    cell(counts->rows, 1, target) = rows;
    cell(counts->summed, 1, target) = inside;
    cell(counts->summed, 2, target) = outside;
  }
  for (int64_t target = 0; target < targets->known.rows; target++) {
    int64_t known = cell(counts->known, 1, target);
    double total = cell(counts->total, 1, target), square = cell(counts->square, 1, target);
    for (int64_t i = 0; i < count; i++) {
      known += cell(targets->known, target, points[i]);
      total += cell(targets->total, target, points[i]);
      square += cell(targets->square, target, points[i]);
    }
    cell(counts->known, 1, target) = known;
    cell(counts->total, 1, target) = total;
    cell(counts->square, 1, target) = square;
  }
}

/* Move all points that are inside back. */
static void empty(const int32_t *points, int64_t count, const Targets *targets,
                  const Counts *counts) {
  forget(points, count, targets, counts->part.at);
  for (int64_t target = 0; target < targets->value.rows; target++) {
    cell(counts->rows, 1, target) = 0;
    cell(counts->summed, 1, target) = 0.0;
    cell(counts->summed, 2, target) = cell(counts->summed, 0, target);
  }
  for (int64_t target = 0; target < targets->known.rows; target++) {
    cell(counts->known, 1, target) = 0;
    cell(counts->total, 1, target) = cell(counts->square, 1, target) = 0.0;
  }
}

/* Impurity of so many rows, given the sum of the terms of their values. */
static inline double impurity_of(int64_t rows, double summed, int entropy, const double *term) {
  if (rows == 0) return 0.0;
  return entropy ? term[rows] - summed : (double)rows - summed / (double)rows;
}

/* Sum of the squared deviations from the mean. */
static inline double deviation(int64_t known, double total, double square) {
  return known > 0 ? most_float(square - total * total / (double)known, 0.0) : 0.0;
}

/* Impurity of a node, over all targets. */
static double whole_impurity(const Targets *targets, const double *term, const Counts *counts) {
  double result = 0.0;
  for (int64_t target = 0; target < targets->worth.length; target++) {
    const double own = impurity_of(cell(counts->rows, 0, target), cell(counts->summed, 0, target),
                                   targets->entropy.at[target], term);
    result += targets->worth.at[target] * own;
  }
  for (int64_t target = 0; target < targets->number_worth.length; target++) {
    const double own = deviation(cell(counts->known, 0, target), cell(counts->total, 0, target),
                                 cell(counts->square, 0, target));
    result += targets->number_worth.at[target] * own;
  }
  return result;
}

/* Impurity of inside and outside together, over all targets. */
static double parts_impurity(const Targets *targets, const double *term, const Counts *counts) {
  double result = 0.0;
  for (int64_t target = 0; target < targets->worth.length; target++) {
    const int entropy = targets->entropy.at[target];
    const int64_t inside = cell(counts->rows, 1, target);
    const int64_t outside = cell(counts->rows, 0, target) - inside;
    double own = impurity_of(inside, cell(counts->summed, 1, target), entropy, term);
    own += impurity_of(outside, cell(counts->summed, 2, target), entropy, term);
    result += targets->worth.at[target] * own;
  }
  for (int64_t target = 0; target < targets->number_worth.length; target++) {
    const int64_t known = cell(counts->known, 1, target);
    const double total = cell(counts->total, 1, target), square = cell(counts->square, 1, target);
    double own = deviation(known, total, square);
    own += deviation(cell(counts->known, 0, target) - known, cell(counts->total, 0, target) - total,
                     cell(counts->square, 0, target) - square);
    result += targets->number_worth.at[target] * own;
  }
  return result;
}
