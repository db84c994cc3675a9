/* The C of tree.py: nodes are cut by the distance of their points from a vantage point. */
#include "vantage.h"

enum { CUT_ALIGNED = 0, CUT_HALF = 1, CUT_PAPER = 2 };

#define TREE_STEPS 1073741824.0 /* 2**30 */
#define PLACE INT64_C(0xFFFFFFFF)
/* Of two branches the smaller one is grown first: then no more than this wait at a time. */
#define MOST_WAITING 64

typedef struct {
  int64_t cut, vantage, least, attempt;
} Rule;

typedef struct {
  Codes2 codes;
  Ints first, weight;
} Points;

typedef struct {
  Ints start, points, size, salt;
} Nodes;

typedef struct {
  int64_t start, points, size, salt;
} Node;

#define GROW_NODES                                                                            \
  SPACE ", (cut int, vantage int, least int, attempt int), "                                  \
  "(codes i32[axes, points]!, first i64[points]!, weight i64[points]!), "                     \
  "(start i64[roots], points i64[roots], size i64[roots], salt i64[roots]), until int, once bool, " \
  "(start i64[leaves]!, points i64[leaves]!, size i64[leaves]!, salt i64[leaves]!) -> int"

/* Room for one cut. */
typedef struct {
  double *distance;
  int64_t *key, *other, *first, *weight;
  int32_t *code;
} Cut;

static void free_cut(Cut *room) {
  free(room->distance);
  free(room->key);
  free(room->other);
  free(room->first);
  free(room->weight);
  free(room->code);
}

static int room_for_cut(Cut *room, int64_t count) {
  room->distance = room_for(count, sizeof(double));
  room->key = room_for(count, sizeof(int64_t));
  room->other = room_for(count, sizeof(int64_t));
  room->first = room_for(count, sizeof(int64_t));
  room->weight = room_for(count, sizeof(int64_t));
  room->code = room_for(count, sizeof(int32_t));
  return room->distance && room->key && room->other && room->first && room->weight && room->code;
}

static inline int64_t sorted_middle(int64_t one, int64_t two, int64_t three) {
  return most_of(least_of(one, two), least_of(most_of(one, two), three));
}

/* Find the key with which the weight of all smaller ones and itself reaches `rows`. Keys differ;
 * their lower half is the place of the point that they stand for. The keys are reordered: no more of
 * them are sorted than is needed. */
static int64_t select_key(int64_t *key, int64_t count, const int64_t *weight, int64_t rows,
                          int64_t *before) {
  int64_t low = 0, high = count - 1;
  *before = 0;
  while (low < high) {
    const int64_t pivot = sorted_middle(key[low], key[(low + high) / 2], key[high]);
    int64_t left = low, right = high;
    while (left <= right) {
      while (key[left] < pivot) left++;
      while (key[right] > pivot) right--;
      if (left <= right) {
        const int64_t moved = key[left];
        key[left++] = key[right];
        key[right--] = moved;
      }
    }
    /* Now low..right are at most the pivot, left..high at least; one may lie between them. */
    int64_t reached = *before;
    for (int64_t i = low; i <= right; i++) reached += weight[key[i] & PLACE];
    if (rows <= reached) {
      high = right;
      continue;
    }
    if (left - right == 2) {
      const int64_t middle = weight[key[right + 1] & PLACE];
      if (rows <= reached + middle) {
        *before = reached;
        return key[right + 1];
      }
      reached += middle;
    }
    low = left;
    *before = reached;
  }
  return key[low];
}

/* How many rows lie near: half of them, or a multiple of the least size close to that. */
static int64_t near_rows(const Rule *rule, int64_t size) {
  if (rule->cut == CUT_ALIGNED) return floor_quotient(size, rule->least) / 2 * rule->least;
  return (size + 1) / 2;
}

/* Order the points of a node by distance, and find where the near ones end: points whose key in
 * `room` is at most what is returned are near. Of the point `torn`, if it is not negative, only the
 * first `inside` rows are. */
static int64_t border(const Space *space, const Rule *rule, const Points *points, const Node *node,
                      Cut *room, int64_t *torn, int64_t *inside) {
  const int64_t start = node->start, count = node->points;
  const int64_t *weight = points->weight.at;
  if (count > 1) {
    const int64_t one = vantage_point(space, rule->vantage, rule->attempt, points->codes, weight,
                                      start, count, node->size, node->salt, room->distance);
    from_one(space, points->codes, one, start, count, 1, room->distance);
  } else {
    for (int64_t i = 0; i < count; i++) room->distance[i] = 0.0;
  }
  for (int64_t i = 0; i < count; i++)
    room->key[i] = room->other[i] = ((int64_t)in_steps(room->distance[i], TREE_STEPS) << 32) | i;
  const int64_t rows = near_rows(rule, node->size);
  int64_t before;
  const int64_t limit = select_key(room->other, count, weight + start, rows, &before);
  *torn = -1;
  *inside = 0;
  /* All rows at the median distance are near. */
  if (rule->cut == CUT_PAPER) return limit | PLACE;
  if (rows - before == weight[start + (limit & PLACE)]) return limit;
  *torn = limit & PLACE;
  *inside = rows - before;
  return limit - 1;
}

/* Put the near points of a node first, and the far ones behind them; the order stays. Return the
 * number of near points; tell that of their rows, and where the far points begin. */
static int64_t divide(Points *points, const Node *node, int64_t limit, int64_t torn, int64_t inside,
                      int64_t least, Cut *room, int64_t *rows, int64_t *begin) {
  const int64_t count = node->points, *key = room->key;
  int64_t *first = points->first.at + node->start, *weight = points->weight.at + node->start;
  int64_t inner = 0, outer = 0;
  *rows = 0;
  for (int64_t i = 0; i < count; i++) {
    const int64_t own = first[i];
    int64_t kept = weight[i];
    if (key[i] > limit) {
      kept = i == torn ? inside : 0;
      room->first[outer] = own + kept;
      room->weight[outer++] = weight[i] - kept;
    }
    if (kept > 0) {
      first[inner] = own;
      weight[inner++] = kept;
      *rows += kept;
    }
  }
  /* Room for the points that cuts of the near ones will add. */
  const int64_t spare = least ? most_of(*rows / least - 1, 0) : 0;
  *begin = node->start + inner + spare;
  memcpy(points->first.at + *begin, room->first, (size_t)outer * sizeof(int64_t));
  memcpy(points->weight.at + *begin, room->weight, (size_t)outer * sizeof(int64_t));
  for (int64_t axis = 0; axis < points->codes.rows; axis++) {
    int32_t *codes = row_of(points->codes, axis) + node->start;
    int64_t here = 0, there = 0;
    for (int64_t i = 0; i < count; i++) {
      const int32_t code = codes[i];
      if (key[i] > limit) room->code[there++] = code;
      if (key[i] <= limit || i == torn) codes[here++] = code;
    }
    memcpy(row_of(points->codes, axis) + *begin, room->code, (size_t)outer * sizeof(int32_t));
  }
  return inner;
}

static Nodes take_nodes(KernelCall *call) {
  Nodes nodes;
  nodes.start = take_Ints(call);
  nodes.points = take_Ints(call);
  nodes.size = take_Ints(call);
  nodes.salt = take_Ints(call);
  return nodes;
}

static void set_node(Nodes *nodes, int64_t index, Node node) {
  nodes->start.at[index] = node.start;
  nodes->points.at[index] = node.points;
  nodes->size.at[index] = node.size;
  nodes->salt.at[index] = node.salt;
}

/* Grow the tree below one node: write down its leaves from number `result` on; return how many there
 * are then. */
static int64_t grow_node(const Space *space, const Rule *rule, Points *points, Node root,
                         int64_t until, int once, Cut *room, Nodes *leaves, int64_t result) {
  const int64_t spare = once || rule->cut == CUT_PAPER ? 0 : rule->least;
  Node waiting[MOST_WAITING + 1];
  int open = 0;
  waiting[open++] = root;
  while (open) {
    const Node node = waiting[--open];
    int64_t inner = node.points, rows = node.size, begin = node.start, torn = -1, inside;
    if (node.size >= until) {
      const int64_t limit = border(space, rule, points, &node, room, &torn, &inside);
      inner = divide(points, &node, limit, torn, inside, spare, room, &rows, &begin);
    }
    if (rows == node.size) {
      set_node(leaves, result++, node);
      continue;
    }
    const Node nearer = {node.start, inner, rows, salted_hash(node.salt, 0)};
    const Node farther = {begin, node.points - inner + (torn >= 0), node.size - rows,
                          salted_hash(node.salt, 1)};
    if (once) {
      set_node(leaves, result++, nearer);
      set_node(leaves, result++, farther);
    } else {
      const int nearer_first = 2 * rows < node.size;
      waiting[open++] = nearer_first ? farther : nearer;
      waiting[open++] = nearer_first ? nearer : farther;
    }
  }
  return result;
}

static KernelStatus grow_nodes(KernelCall *call) {
  const Space space = take_space(call);
  Rule rule;
  rule.cut = take_int(call);
  rule.vantage = take_int(call);
  rule.least = take_int(call);
  rule.attempt = take_int(call);
  Points points;
  points.codes = take_Codes2(call);
  points.first = take_Ints(call);
  points.weight = take_Ints(call);
  const Nodes roots = take_nodes(call);
  const int64_t until = take_int(call);
  const int once = take_bool(call);
  Nodes leaves = take_nodes(call);
  int64_t most = 0, result = 0;
  for (int64_t root = 0; root < roots.start.length; root++)
    most = most_of(most, roots.points.at[root]);
  Cut room;
  KernelStatus status = KERNEL_NO_MEMORY;
  if (room_for_cut(&room, most)) {
    for (int64_t root = 0; root < roots.start.length; root++) {
      const Node node = {roots.start.at[root], roots.points.at[root], roots.size.at[root],
                         roots.salt.at[root]};
      result = grow_node(&space, &rule, &points, node, until, once, &room, &leaves, result);
    }
    status = KERNEL_DONE;
  }
  free_cut(&room);
  give_int(call, result);
  return status;
}
