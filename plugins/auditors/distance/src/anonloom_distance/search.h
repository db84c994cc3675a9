/* The C of search.py: what lies nearest to every asking point among those that are asked. */
#include "pair_distances.h"

/* Squared distances that differ by less, in proportion, are ties. */
#define TIE 1e-9
/* Relative error of a single-precision operation: 2^-24. */
#define EPSILON 5.9604644775390625e-08

#define WRITE_POINTS                                                                       \
  "codes i32[parts, *], first int, " FEATURES ", shown i64[*], out f32[points, *]!, "      \
  "lengths f64[points]!"

/* Write those features of some points that the product uses, and their squared lengths. The last
 * place of every point is for what stands beside the features. */
static KernelStatus write_points(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const int64_t first = take_int(call);
  const Features features = take_features(call);
  const Ints shown = take_Ints(call);
  const Singles2 out = take_Singles2(call);
  const Floats lengths = take_Floats(call);
  for (int64_t i = 0; i < out.rows; i++) {
    float *row = row_of(out, i);
    double square = 0.0;
    for (int64_t k = 0; k < out.columns; k++) row[k] = 0.0f;
    for (int64_t part = 0; part < features.starts.length; part++) {
      const int64_t of = features.starts.at[part] + cell(codes, part, first + i);
      for (int64_t index = features.indptr.at[of]; index < features.indptr.at[of + 1]; index++) {
        const int64_t to = shown.at[features.indices.at[index]];
        if (to < 0) continue;
        row[to] = (float)features.data.at[index];
        square += features.data.at[index] * features.data.at[index];
      }
    }
    lengths.at[i] = square;
  }
  return KERNEL_DONE;
}

/* Squared distance beyond which a candidate changes nothing. */
static inline double farthest(double best, double second, int64_t ties) {
  return ties > 1 ? best + TIE * best + ZERO : second;
}

/* Whether any product reaches the limit; a plain count, which uses whole registers. */
FOR_ALL_WIDTHS
static int any_above(const float *row, int64_t size, float limit) {
  int32_t count = 0;
  for (int64_t j = 0; j < size; j++) count += row[j] >= limit;
  return count > 0;
}

#define COMPARE_TILE                                                                           \
  "scores f32[*, *], first int, low int, longest float, width int, "                           \
  "(codes i32[parts, asking], spread f64[asking], own i64[asking], lengths f64[asking]), "     \
  "(codes_r i32[parts, asked], spread_r f64[asked], weights i64[asked]), " FEATURES ", "       \
  "(best f64[asking]!, second f64[asking]!, ties i64[asking]!)"

/* Take the points of a tile that may be among the nearest, whatever the rounding. */
static KernelStatus compare_tile(KernelCall *call) {
  const Singles2 scores = take_Singles2(call);
  const int64_t first = take_int(call), low = take_int(call);
  const double longest = take_float(call);
  const int64_t width = take_int(call);
  const Codes2 codes = take_Codes2(call);
  const Floats spread = take_Floats(call);
  const Ints own = take_Ints(call);
  const Floats lengths = take_Floats(call);
  const Codes2 codes_r = take_Codes2(call);
  const Floats spread_r = take_Floats(call);
  const Ints weights = take_Ints(call);
  const Features features = take_features(call);
  double *best = take_Floats(call).at, *second = take_Floats(call).at;
  int64_t *ties = take_Ints(call).at;
  for (int64_t i = first; i < first + scores.rows; i++) {
    const float *row = row_of(scores, i - first);
    /* x y - |y|^2 / 2 with every rounding against it. */
    const double length = lengths.at[i];
    const double error = (double)(width + 8) * EPSILON * (sqrt(length * longest) + longest);
    const double reach = length + spread.at[i];
    float limit = (float)((reach - farthest(best[i], second[i], ties[i])) / 2 - error);
    if (!any_above(row, scores.columns, limit)) continue;
    for (int64_t j = 0; j < scores.columns; j++) {
      if (!(row[j] >= limit)) continue;
      const int64_t index = low + j;
      const int64_t weight = weights.at[index] - (index == own.at[i]);
      if (weight == 0) continue;
      double square = squared_distance(codes, i, codes_r, index, &features);
      square += spread.at[i] + spread_r.at[index];
      const double margin = TIE * best[i] + ZERO;
      if (ties[i] == 0 || square < best[i] - margin) {
        second[i] = best[i];
        best[i] = square;
        ties[i] = weight;
      } else if (square <= best[i] + margin) {
        ties[i] += weight;
      } else if (square < second[i]) {
        second[i] = square;
      } else {
        continue;
      }
      limit = (float)((reach - farthest(best[i], second[i], ties[i])) / 2 - error);
    }
  }
  return KERNEL_DONE;
}
