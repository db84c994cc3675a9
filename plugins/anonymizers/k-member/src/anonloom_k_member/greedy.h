/* The C of greedy.py: greedy k-member clustering of cells. */
#include "searches.h"

typedef struct {
  Codes2 codes;
  Ints first, cells, starts, point, turn, left, alive;
} Points;

#define POINTS                                                                              \
  "(codes i32[points, axes], first i64[points+1], cells i64[cells+1], starts i64[cells], "  \
  "point i64[rows], turn i64[rows], left i64[points]!, alive i64[points]!)"

static Points take_points(KernelCall *call) {
  Points points;
  points.codes = take_Codes2(call);
  points.first = take_Ints(call);
  points.cells = take_Ints(call);
  points.starts = take_Ints(call);
  points.point = take_Ints(call);
  points.turn = take_Ints(call);
  points.left = take_Ints(call);
  points.alive = take_Ints(call);
  return points;
}

typedef struct {
  Ints2 lo, hi, members;
  Ints size;
  Floats loss;
  Bools2 has;
} Clusters;

#define CLUSTERS                                                                             \
  "(lo i64[clusters, axes]!, hi i64[clusters, axes]!, members i64[clusters, axes]!, "        \
  "size i64[clusters]!, loss f64[clusters]!, has bool[clusters, axes]!)"

static Clusters take_clusters(KernelCall *call) {
  Clusters clusters;
  clusters.lo = take_Ints2(call);
  clusters.hi = take_Ints2(call);
  clusters.members = take_Ints2(call);
  clusters.size = take_Ints(call);
  clusters.loss = take_Floats(call);
  clusters.has = take_Bools2(call);
  return clusters;
}

/* Move the points that have rows left to the front; return how many. */
static int64_t still_alive(int64_t *alive, int64_t count, const int64_t *left) {
  int64_t still = 0;
  for (int64_t index = 0; index < count; index++)
    if (left[alive[index]] > 0) alive[still++] = alive[index];
  return still;
}

/* Build one cluster from its first record; return the last one, and the loss of a row. */
static int64_t build(const Losses *losses, const Points *points, const Prices *prices,
                     const int64_t *alive, int64_t count, int64_t record, int64_t k,
                     int64_t cluster, int64_t *label, double *loss) {
  int64_t *left = points->left.at;
  begin(prices, losses, record);
  int64_t missing = k, start = 0;
  *loss = 0.0;
  for (;;) {
    const int64_t taken = least_of(left[record], missing);
    const int64_t row = points->first.at[record + 1] - left[record];
    for (int64_t i = row; i < row + taken; i++) label[i] = cluster;
    left[record] -= taken;
    missing -= taken;
    if (!missing) return record;
    double own;
    start = cheapest(prices, alive, count, left, start, *loss, &own);
    record = alive[start];
    if (own > *loss) {
      /* Nothing is priced anew by a row that adds no loss, so that the search goes on where it
       * was. */
      join(prices, losses, record);
      start = 0;
      *loss = own;
    }
  }
}

/* Say which clusters from at to end have a row with this code. */
static void who_has(const Points *points, int64_t here, int64_t stop, int64_t axis, int32_t code,
                    const int64_t *label, const Clusters *clusters, int64_t at, int64_t end) {
  for (int64_t cluster = at; cluster < end; cluster++) cell(clusters->has, cluster, axis) = 0;
  for (int64_t point = here; point < stop; point++) {
    if (cell(points->codes, point, axis) != code) continue;
    for (int64_t row = points->first.at[point]; row < points->first.at[point + 1]; row++)
      if (label[row] >= 0) cell(clusters->has, label[row], axis) = 1;
  }
}

/* Loss of one row of a cluster, if a row with these codes joined. */
static double with(const Losses *losses, const Clusters *clusters, int64_t cluster,
                   const int32_t *codes) {
  double total = 0.0;
  for (int64_t axis = 0; axis < clusters->lo.columns; axis++) {
    const int64_t lo = least_of(cell(clusters->lo, cluster, axis), codes[axis]);
    const int64_t hi = most_of(cell(clusters->hi, cluster, axis), codes[axis]);
    if (losses->kind.at[axis] == SET) {
      const int64_t members =
          cell(clusters->members, cluster, axis) + !cell(clusters->has, cluster, axis);
      total += set_loss(losses, axis, members, hi == losses->missing.at[axis]);
    } else {
      total += extent_loss(losses, axis, lo, hi);
    }
  }
  return total;
}

/* Give each row that is left over, in random order, to the cluster that it costs least. */
static void spread(const Losses *losses, const Points *points, const Clusters *clusters,
                   int64_t here, int64_t stop, int64_t at, int64_t end, const int64_t *alive,
                   int64_t count, int64_t *label) {
  const int64_t *first = points->first.at;
  const int64_t axes = points->codes.columns;
  for (int64_t index = 0; index < count; index++) {
    const int64_t behind = first[alive[index] + 1];
    for (int64_t row = behind - points->left.at[alive[index]]; row < behind; row++) label[row] = -1;
  }
  for (int64_t turn = first[here]; turn < first[stop]; turn++) {
    const int64_t row = points->turn.at[turn];
    if (label[row] >= 0) continue;
    const int32_t *codes = row_of(points->codes, points->point.at[row]);
    for (int64_t axis = 0; axis < axes; axis++)
      if (losses->kind.at[axis] == SET)
        who_has(points, here, stop, axis, codes[axis], label, clusters, at, end);
    int64_t best = at;
    double least = INFINITY, total = 0.0;
    for (int64_t cluster = at; cluster < end; cluster++) {
      const int64_t size = clusters->size.at[cluster];
      const double own = with(losses, clusters, cluster, codes);
      const double rise = (double)(size + 1) * own - (double)size * clusters->loss.at[cluster];
      if (rise < least) {
        best = cluster;
        least = rise;
        total = own;
      }
    }
    label[row] = best;
    clusters->size.at[best]++;
    clusters->loss.at[best] = total;
    for (int64_t axis = 0; axis < axes; axis++) {
      cell(clusters->lo, best, axis) = least_of(cell(clusters->lo, best, axis), codes[axis]);
      cell(clusters->hi, best, axis) = most_of(cell(clusters->hi, best, axis), codes[axis]);
      cell(clusters->members, best, axis) += !cell(clusters->has, best, axis);
    }
  }
}

/* Make clusters at to end of a cell, as if one had just ended with a random record. */
static void cluster_cell(const Losses *losses, const Points *points, const Prices *prices,
                         const Clusters *clusters, int64_t cell, int64_t at, int64_t end,
                         int64_t k, int dense, int64_t *label) {
  const int64_t here = points->cells.at[cell], stop = points->cells.at[cell + 1];
  const size_t bytes = (size_t)clusters->lo.columns * sizeof(int64_t);
  int64_t *alive = points->alive.at + here, count = stop - here;
  const int64_t *left = points->left.at;
  int64_t record = points->starts.at[cell];
  for (int64_t cluster = at; cluster < end; cluster++) {
    begin(prices, losses, record);
    const int64_t index =
        dense ? densest(prices, alive, count, left) : dearest(prices, alive, count);
    record = build(losses, points, prices, alive, count, alive[index], k, cluster, label,
                   &clusters->loss.at[cluster]);
    memcpy(row_of(clusters->lo, cluster), prices->lo.at, bytes);
    memcpy(row_of(clusters->hi, cluster), prices->hi.at, bytes);
    memcpy(row_of(clusters->members, cluster), prices->members.at, bytes);
    count = still_alive(alive, count, left);
  }
  spread(losses, points, clusters, here, stop, at, end, alive, count, label);
}

#define CLUSTER_EACH \
  LOSSES ", " POINTS ", " PRICES ", " CLUSTERS ", k int, dense bool, label i64[rows]!"

/* Cluster every cell; clusters are counted through all of them. */
static KernelStatus cluster_each(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Points points = take_points(call);
  const Prices prices = take_prices(call);
  const Clusters clusters = take_clusters(call);
  const int64_t k = take_int(call);
  const int dense = take_bool(call);
  int64_t *label = take_Ints(call).at;

  int64_t at = 0;
  for (int64_t cell = 0; cell < points.starts.length; cell++) {
    const int64_t here = points.first.at[points.cells.at[cell]];
    const int64_t stop = points.first.at[points.cells.at[cell + 1]];
    const int64_t end = at + floor_quotient(stop - here, k);
    if (end - at < 2) {
      for (int64_t row = here; row < stop; row++) label[row] = at;
    } else {
      const Prices own = of_cell(&prices, cell);
      cluster_cell(&losses, &points, &own, &clusters, cell, at, end, k, dense, label);
    }
    at = end;
  }
  return KERNEL_DONE;
}
