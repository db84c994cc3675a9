/* The C of one_pass.py: the two stages of one-pass k-means on cells. */
#include "centroids.h"
#include "shared/sorting.h"

typedef struct {
  Ints cells, drawn, turn;
  Bools taken;
  Ints member;
  Floats away;
} Turns;

#define TURNS                                                                          \
  "(cells i64[cells+1], drawn i64[points], turn i64[points], taken bool[points]!, "    \
  "member i64[points]!, away f64[points]!)"

static Turns take_turns(KernelCall *call) {
  Turns turns;
  turns.cells = take_Ints(call);
  turns.drawn = take_Ints(call);
  turns.turn = take_Ints(call);
  turns.taken = take_Bools(call);
  turns.member = take_Ints(call);
  turns.away = take_Floats(call);
  return turns;
}

/* The clustering stage: random seeds, then every row to the closest centroid. */
static void cluster_cell(const Losses *losses, const Turns *order, const Clusters *clusters,
                         int64_t here, int64_t stop, int64_t at, int64_t end) {
  const Ints lo = clusters->prices.lo;
  for (int64_t axis = 0; axis < lo.length; axis++) lo.at[axis] = -1;
  for (int64_t cluster = at; cluster < end; cluster++) {
    const int64_t row = order->drawn.at[here + cluster - at];
    add(clusters, row, cluster);
    order->taken.at[row] = 1;
  }
  for (int64_t row = here; row < stop; row++)
    if (!order->taken.at[row])
      add(clusters, row, closest(clusters, losses, row, at, end, stop - here));
}

/* Room to sort the rows of a cluster. */
typedef struct {
  int64_t *key, *order, *spare;
} Sorting;

/* Leave a cluster the k rows that are closest to its centroid, and move that. */
static void trim(const Losses *losses, const Turns *order, const Clusters *clusters,
                 int64_t cluster, int64_t k, Sorting *room) {
  const int64_t size = clusters->size.at[cluster];
  int64_t *member = order->member.at, row = clusters->newest.at[cluster];
  double *away = order->away.at;
  uint8_t *removed = order->taken.at;
  /* In the order in which they came; the later of two equally far rows is removed. */
  for (int64_t index = size - 1; index >= 0; index--) {
    member[index] = row;
    measure(clusters, losses, row, cluster, cluster + 1);
    away[index] = clusters->apart.at[cluster];
    row = clusters->before.at[row];
  }
  for (int64_t index = 0; index < size; index++) room->key[index] = float_key(away[index]);
  stable_order(room->key, size, room->order, room->spare);
  for (int64_t index = k; index < size; index++) removed[member[room->order[index]]] = 1;
  clear(clusters, cluster);
  for (int64_t index = 0; index < size; index++)
    if (!removed[member[index]]) add(clusters, member[index], cluster);
}

/* The adjustment stage: what large clusters have too many of goes to the small ones first. */
static void adjust(const Losses *losses, const Turns *order, const Clusters *clusters,
                   int64_t here, int64_t stop, int64_t at, int64_t end, int64_t k, Sorting *room) {
  uint8_t *removed = order->taken.at;
  memset(removed + here, 0, (size_t)(stop - here));
  for (int64_t cluster = at; cluster < end; cluster++)
    if (clusters->size.at[cluster] > k) trim(losses, order, clusters, cluster, k, room);
  int64_t lacking = 0;
  for (int64_t cluster = at; cluster < end; cluster++) lacking += k - clusters->size.at[cluster];
  for (int64_t index = here; index < stop; index++) {
    const int64_t row = order->turn.at[index];
    if (!removed[row]) continue;
    add(clusters, row, closest(clusters, losses, row, at, end, lacking > 0 ? k : stop - here));
    lacking--;
  }
}

/* Write the cluster of every row. */
static void write_labels(const Clusters *clusters, int64_t at, int64_t end, int64_t *label) {
  for (int64_t cluster = at; cluster < end; cluster++)
    for (int64_t row = clusters->newest.at[cluster]; row >= 0; row = clusters->before.at[row])
      label[row] = cluster;
}

#define CLUSTER_EACH LOSSES ", " TURNS ", " CLUSTERS ", k int, labels i64[2, points]!"

/* Cluster every cell; clusters are counted through all of them. */
static KernelStatus cluster_each(KernelCall *call) {
  const Losses losses = take_losses(call);
  const Turns order = take_turns(call);
  const Clusters clusters = take_clusters(call);
  const int64_t k = take_int(call);
  const Ints2 labels = take_Ints2(call);

  /* A cluster may have all rows of its cell. */
  int64_t most = 0;
  for (int64_t cell = 0; cell + 1 < order.cells.length; cell++)
    most = most_of(most, order.cells.at[cell + 1] - order.cells.at[cell]);
  int64_t *whole = room_for(3 * most, sizeof *whole);
  if (whole == NULL) return KERNEL_NO_MEMORY;
  Sorting room = {whole, whole + most, whole + 2 * most};
  int64_t at = 0;
  for (int64_t cell = 0; cell + 1 < order.cells.length; cell++) {
    const int64_t here = order.cells.at[cell], stop = order.cells.at[cell + 1];
    const int64_t end = at + floor_quotient(stop - here, k);
    if (end - at < 2) {
      for (int64_t row = here; row < stop; row++)
        labels.at[row] = labels.at[labels.columns + row] = at;
    } else {
      Clusters own = clusters;
      own.prices = of_cell(&clusters.prices, cell);
      cluster_cell(&losses, &order, &own, here, stop, at, end);
      write_labels(&own, at, end, row_of(labels, 1));
      adjust(&losses, &order, &own, here, stop, at, end, k, &room);
      write_labels(&own, at, end, row_of(labels, 0));
    }
    at = end;
  }
  free(whole);
  return KERNEL_DONE;
}
