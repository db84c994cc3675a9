/* The C of pair_distances.py: the distance between two records, and of given pairs. */
#include "shared/lanes.h"

/* Squared distances below this are 0. */
#define ZERO 1e-18

typedef struct {
  Ints starts, indptr, indices;
  Floats data;
} Features;

#define FEATURES \
  "(starts i64[parts], indptr i64[*], indices i64[entries], data f64[entries])"

static Features take_features(KernelCall *call) {
  Features features;
  features.starts = take_Ints(call);
  features.indptr = take_Ints(call);
  features.indices = take_Ints(call);
  features.data = take_Floats(call);
  return features;
}

/* Sum of the squared differences of all features; equal cells differ by exactly nothing. */
static double squared_distance(Codes2 codes_a, int64_t a, Codes2 codes_b, int64_t b,
                               const Features *features) {
  const int64_t *indptr = features->indptr.at, *indices = features->indices.at;
  const double *data = features->data.at;
  double total = 0.0;
  for (int64_t part = 0; part < features->starts.length; part++) {
    const int32_t code_a = cell(codes_a, part, a), code_b = cell(codes_b, part, b);
    if (code_a == code_b) continue;
    const int64_t p = features->starts.at[part] + code_a, q = features->starts.at[part] + code_b;
    int64_t i = indptr[p], j = indptr[q];
    const int64_t stop_i = indptr[p + 1], stop_j = indptr[q + 1];
    while (i < stop_i || j < stop_j) {
      if (j == stop_j || (i < stop_i && indices[i] < indices[j])) {
        total += data[i] * data[i];
        i++;
      } else if (i == stop_i || indices[j] < indices[i]) {
        total += data[j] * data[j];
        j++;
      } else {
        total += (data[i] - data[j]) * (data[i] - data[j]);
        i++;
        j++;
      }
    }
  }
  return total;
}

#define OF_PAIRS                                                                               \
  "codes_a i32[parts, points_a], spread_a f64[points_a], codes_b i32[parts, points_b], "       \
  "spread_b f64[points_b], rows_a i64[pairs], rows_b i64[pairs], " FEATURES ", out f64[pairs]!"

/* Distance between the points of every pair. */
static KernelStatus of_pairs(KernelCall *call) {
  const Codes2 codes_a = take_Codes2(call);
  const Floats spread_a = take_Floats(call);
  const Codes2 codes_b = take_Codes2(call);
  const Floats spread_b = take_Floats(call);
  const Ints rows_a = take_Ints(call), rows_b = take_Ints(call);
  const Features features = take_features(call);
  const Floats out = take_Floats(call);
  for (int64_t pair = 0; pair < out.length; pair++) {
    const int64_t a = rows_a.at[pair], b = rows_b.at[pair];
    double square = squared_distance(codes_a, a, codes_b, b, &features);
    square += spread_a.at[a] + spread_b.at[b];
    out.at[pair] = square > ZERO ? sqrt(square) : 0.0;
  }
  return KERNEL_DONE;
}
