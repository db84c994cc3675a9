/* The C of split_scores.py: every split of every node, and how much each of them gains. */
#include "impurity.h"

typedef struct {
  Ints start, levels, size, missing;
  Codes ancestors;
} Trees;

#define TREES                                                                         \
  "(start i64[axes], levels i64[axes], size i64[axes], missing i64[axes], ancestors i32[*])"

static Trees take_trees(KernelCall *call) {
  Trees trees;
  trees.start = take_Ints(call);
  trees.levels = take_Ints(call);
  trees.size = take_Ints(call);
  trees.missing = take_Ints(call);
  trees.ancestors = take_Codes(call);
  return trees;
}

typedef struct {
  Ints node, axis;
  Codes begin, end;
  Ints inside;
  Floats gain, score;
} CandidateSplits;

#define CANDIDATE_SPLITS                                                                    \
  "(node i64[room]!, axis i64[room]!, begin i32[room]!, end i32[room]!, inside i64[room]!, " \
  "gain f64[room]!, score f64[room]!)"

static CandidateSplits take_candidate_splits(KernelCall *call) {
  CandidateSplits found;
  found.node = take_Ints(call);
  found.axis = take_Ints(call);
  found.begin = take_Codes(call);
  found.end = take_Codes(call);
  found.inside = take_Ints(call);
  found.gain = take_Floats(call);
  found.score = take_Floats(call);
  return found;
}

/* What the splits of a node are sought with. */
typedef struct {
  const int64_t *weight;
  Trees trees;
  Targets targets;
  const double *term;
  const uint8_t *enough;
  Counts counts;
  CandidateSplits found;
  int64_t node, rows;
  double before;
} SplitSearch;

/* Write down the splits along one level of an axis, or along a number; return the new count. */
static int64_t along_level(SplitSearch *search, int64_t axis, int64_t level, const int32_t *along,
                           int64_t length, const int32_t *own, int64_t count) {
  const Trees *trees = &search->trees;
  const CandidateSplits *found = &search->found;
  const int64_t *weight = search->weight;
  const uint8_t *enough = search->enough;
  const int by_nodes = trees->levels.at[axis] > 0;
  const int64_t size = trees->size.at[axis], missing = trees->missing.at[axis];
  const int32_t *above = trees->ancestors.at;
  const int64_t here = trees->start.at[axis] + level * size, below = here - size;
  const int64_t last = length - 1, rows = search->rows;
  int64_t inside = 0, groups = 0, first = 0;
  int32_t begin_code = own[along[0]];
  for (int64_t index = 0; index < length; index++) {
    const int32_t code = own[along[index]];
    inside += weight[along[index]];
    if (index < last) {
      const int32_t after = own[along[index + 1]];
      if (code == after) continue;
      if (by_nodes && after != missing && above[here + code] == above[here + after]) continue;
    }
    /* A group ends here: values below a threshold, or those under one node. */
    groups++;
    /* The last of two takes out what the first leaves, and one alone leaves nothing. */
    int wanted = index < last || (by_nodes && groups > 2);
    /* What one node of the level below covers has been looked at there. */
    if (by_nodes && level > 0 && wanted)
      wanted = code != missing && above[below + begin_code] != above[below + code];
    wanted = wanted && enough[inside] && enough[rows - inside];
    if (!by_nodes || wanted) {
      take_in(along + first, index + 1 - first, weight, &search->targets, search->term,
              &search->counts);
      if (wanted) {
        const double before = search->before;
        const double gain =
            before - parts_impurity(&search->targets, search->term, &search->counts);
        const double share = before > 0 ? gain / before : 0.0;
        found->node.at[count] = search->node;
        found->axis.at[count] = axis;
        found->begin.at[count] = begin_code;
        found->end.at[count] = code;
        found->inside.at[count] = inside;
        found->gain.at[count] = most_float(gain, 0.0);
        found->score.at[count] = round12(most_float(share, 0.0));
        count++;
      }
      if (by_nodes) empty(along + first, index + 1 - first, &search->targets, &search->counts);
    }
    first = index + 1;
    if (by_nodes && index < last) {
      inside = 0;
      begin_code = own[along[index + 1]];
    }
  }
  if (!by_nodes) empty(along, length, &search->targets, &search->counts);
  return count;
}

#define SCORE_SPLITS                                                                       \
  "start i64[nodes], stop i64[nodes], free bool[nodes, axes], orders i32[axes, points], "  \
  "codes i32[axes, points], weight i64[points], " TREES ", " TARGETS ", term f64[*], "     \
  "enough bool[*], " COUNTS ", impurity f64[nodes]!, " CANDIDATE_SPLITS " -> int"

static KernelStatus score_splits(KernelCall *call) {
  const Ints start = take_Ints(call), stop = take_Ints(call);
  const Bools2 is_free = take_Bools2(call);
  const Codes2 orders = take_Codes2(call), codes = take_Codes2(call);
  const Ints weight = take_Ints(call);
  SplitSearch search;
  search.weight = weight.at;
  search.trees = take_trees(call);
  search.targets = take_targets(call);
  search.term = take_Floats(call).at;
  search.enough = take_Bools(call).at;
  search.counts = take_counts(call);
  const Floats impurity = take_Floats(call);
  search.found = take_candidate_splits(call);

  int64_t count = 0;
  for (int64_t node = 0; node < start.length; node++) {
    const int64_t length = stop.at[node] - start.at[node];
    const int32_t *points = orders.at + start.at[node];
    int64_t rows = 0;
    for (int64_t i = 0; i < length; i++) rows += weight.at[points[i]];
    take_whole(points, length, weight.at, &search.targets, search.term, &search.counts);
    search.node = node;
    search.rows = rows;
    search.before = whole_impurity(&search.targets, search.term, &search.counts);
    impurity.at[node] = search.before;
    for (int64_t axis = 0; axis < orders.rows; axis++) {
      const int32_t *own = row_of(codes, axis), *along = row_of(orders, axis) + start.at[node];
      if (!cell(is_free, node, axis) || own[along[0]] == own[along[length - 1]]) continue;
      const int64_t levels = most_of(search.trees.levels.at[axis], 1);
      for (int64_t level = 0; level < levels; level++)
        count = along_level(&search, axis, level, along, length, own, count);
    }
    forget(points, length, &search.targets, search.counts.whole.at);
  }
  give_int(call, count);
  return KERNEL_DONE;
}

#define DIVIDE                                                                            \
  "orders i32[axes, points]!, codes i32[axes, points], start i64[nodes], stop i64[nodes], " \
  "axis i64[nodes], begin i32[nodes], end i32[nodes], middle i64[nodes]!, kept i32[*]!"

static KernelStatus divide(KernelCall *call) {
  const Codes2 orders = take_Codes2(call), codes = take_Codes2(call);
  const Ints start = take_Ints(call), stop = take_Ints(call), axis = take_Ints(call);
  const Codes begin = take_Codes(call), end = take_Codes(call);
  const Ints middle = take_Ints(call);
  const Codes kept = take_Codes(call);

  for (int64_t node = 0; node < start.length; node++) {
    const int32_t *own = row_of(codes, axis.at[node]);
    const int32_t low = begin.at[node], high = end.at[node];
    for (int64_t along = 0; along < orders.rows; along++) {
      int32_t *order = row_of(orders, along);
      int64_t put = start.at[node], held = 0;
      for (int64_t index = start.at[node]; index < stop.at[node]; index++) {
        const int32_t point = order[index];
        if (low <= own[point] && own[point] <= high)
          order[put++] = point;
        else
          kept.at[held++] = point;
      }
      middle.at[node] = put;
      memcpy(order + put, kept.at, (size_t)held * sizeof *order);
    }
  }
  return KERNEL_DONE;
}
