/* The C of centroids.py: clusters with their centroids, kept up to date row by row. */
#include "shared/merge_cost.h"

#define NOWHERE 4.0

typedef struct {
  Ints size, newest, before;
  Floats2 total, mean;
  Ints2 mode, tally;
  Floats apart;
  Ints numbers, categories;
  Floats2 places;
  Prices prices;
} Clusters;

#define CLUSTERS                                                                               \
  "(size i64[clusters]!, newest i64[clusters]!, before i64[points]!, "                         \
  "total f64[axes, clusters]!, mean f64[axes, clusters]!, mode i64[axes, clusters]!, "         \
  "tally i64[axes, clusters]!, apart f64[clusters]!, numbers i64[*], categories i64[*], "      \
  "places f64[points, axes], " PRICES ")"

static Clusters take_clusters(KernelCall *call) {
  Clusters clusters;
  clusters.size = take_Ints(call);
  clusters.newest = take_Ints(call);
  clusters.before = take_Ints(call);
  clusters.total = take_Floats2(call);
  clusters.mean = take_Floats2(call);
  clusters.mode = take_Ints2(call);
  clusters.tally = take_Ints2(call);
  clusters.apart = take_Floats(call);
  clusters.numbers = take_Ints(call);
  clusters.categories = take_Ints(call);
  clusters.places = take_Floats2(call);
  clusters.prices = take_prices(call);
  return clusters;
}

/* Take all rows out of one cluster. */
static void clear(const Clusters *clusters, int64_t cluster) {
  clusters->size.at[cluster] = 0;
  clusters->newest.at[cluster] = -1;
  for (int64_t axis = 0; axis < clusters->total.rows; axis++) {
    cell(clusters->total, axis, cluster) = 0.0;
    cell(clusters->mode, axis, cluster) = -1;
    cell(clusters->tally, axis, cluster) = 0;
  }
}

/* Count the row's value; it is the mode if it is now more frequent than any other. */
static void count_value(const Clusters *clusters, int64_t row, int64_t cluster, int64_t axis) {
  const int64_t value = cell(clusters->prices.value, row, axis);
  if (value == cell(clusters->mode, axis, cluster)) {
    cell(clusters->tally, axis, cluster)++;
    return;
  }
  int64_t count = 0;
  while (row >= 0) {
    count += cell(clusters->prices.value, row, axis) == value;
    row = clusters->before.at[row];
  }
  if (count > cell(clusters->tally, axis, cluster)) {
    cell(clusters->mode, axis, cluster) = value;
    cell(clusters->tally, axis, cluster) = count;
  }
}

/* Put a row into a cluster and move the centroid. */
static void add(const Clusters *clusters, int64_t row, int64_t cluster) {
  clusters->before.at[row] = clusters->newest.at[cluster];
  clusters->newest.at[cluster] = row;
  const int64_t size = ++clusters->size.at[cluster];
  for (int64_t i = 0; i < clusters->numbers.length; i++) {
    const int64_t axis = clusters->numbers.at[i];
    const double place = cell(clusters->places, row, axis);
    if (place == NOWHERE)
      cell(clusters->tally, axis, cluster)++;
    else
      cell(clusters->total, axis, cluster) += place;
    const int64_t lacking = cell(clusters->tally, axis, cluster);
    const double mean = cell(clusters->total, axis, cluster) / (double)most_of(size - lacking, 1);
    cell(clusters->mean, axis, cluster) = 2 * lacking > size ? NOWHERE : mean;
  }
  for (int64_t i = 0; i < clusters->categories.length; i++)
    count_value(clusters, row, cluster, clusters->categories.at[i]);
}

/* Let the prices of all categories be the distances from this row. */
static void look_from(const Clusters *clusters, const Losses *losses, int64_t row) {
  const Prices *prices = &clusters->prices;
  for (int64_t i = 0; i < clusters->categories.length; i++) {
    const int64_t axis = clusters->categories.at[i];
    const int64_t code = prices->code.at[cell(prices->value, row, axis)];
    /* Rows are sorted: most values are those of the row before. */
    if (code != prices->lo.at[axis]) {
      prices->lo.at[axis] = prices->hi.at[axis] = code;
      price_axis(prices, losses, axis);
    }
  }
}

/* Write how far clusters at to end are from a row: numbers, then categories. */
static void measure(const Clusters *clusters, const Losses *losses, int64_t row, int64_t at,
                    int64_t end) {
  look_from(clusters, losses, row);
  double *apart = clusters->apart.at;
  const double *price = clusters->prices.price.at;
  for (int64_t cluster = at; cluster < end; cluster++) apart[cluster] = 0.0;
  for (int64_t i = 0; i < clusters->numbers.length; i++) {
    const int64_t axis = clusters->numbers.at[i];
    const double place = cell(clusters->places, row, axis), share = losses->share.at[axis];
    const double *mean = row_of(clusters->mean, axis);
    for (int64_t cluster = at; cluster < end; cluster++)
      apart[cluster] += least_float(fabs(place - mean[cluster]), share);
  }
  for (int64_t i = 0; i < clusters->categories.length; i++) {
    const int64_t *mode = row_of(clusters->mode, clusters->categories.at[i]);
    for (int64_t cluster = at; cluster < end; cluster++) apart[cluster] += price[mode[cluster]];
  }
}

/* Cluster of fewer than `below` rows with the closest centroid, as np.argmin finds it: the first of
 * several. */
static int64_t closest(const Clusters *clusters, const Losses *losses, int64_t row, int64_t at,
                       int64_t end, int64_t below) {
  measure(clusters, losses, row, at, end);
  const double *apart = clusters->apart.at;
  const int64_t *size = clusters->size.at;
  double least = INFINITY;
  int64_t result = -1;
  for (int64_t cluster = at; cluster < end; cluster++) {
    const double own = apart[cluster];
    if (size[cluster] < below && (result < 0 || own < least || (own != own && least == least))) {
      least = own;
      result = cluster;
    }
  }
  return result;
}
