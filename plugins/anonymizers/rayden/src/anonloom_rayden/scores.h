/* The C of scores.py: connectivity-based outlier factors inside classes. */
#include "gower.h"
#include "shared/sorting.h"

enum { CHAIN_PAPER = 0, CHAIN_SBN = 1, CHAIN_PYOD = 2 };

#define SCORE_STEPS 1099511627776.0 /* 2**40 */

#define SCORE_CLASSES                                                                         \
  SPACE ", codes i32[axes, rows], keys i64[rows], bounds i64[classes+1], neighbours int, "    \
  "chain int, scores f64[rows]!"

/* Room for the rows of the largest class, and for the points of one: how many these are is known
 * only when its rows are sorted, and the distances take the square of that. */
typedef struct {
  int64_t *order, *spare, *weight;
  Codes2 points;
  int64_t most; /* points that there is room for */
  double *apart;
  int64_t *nearest;
  double *length, *gap;
} Class;

static void free_points(Class *room) {
  free(room->apart);
  free(room->nearest);
  free(room->length);
  free(room->gap);
}

static int room_for_points(Class *room, int64_t count, int64_t most) {
  if (count <= room->most) return 1;
  free_points(room);
  room->most = count;
  room->apart = room_for(count, sizeof(double) * (size_t)count);
  room->nearest = room_for(count, sizeof(int64_t) * (size_t)most);
  room->length = room_for(count, sizeof(double));
  room->gap = room_for(count, sizeof(double));
  return room->apart && room->nearest && room->length && room->gap;
}

/* Write the distinct rows among ordered ones, and how often each occurs; return their count. */
static int64_t collapse_rows(Codes2 codes, const int64_t *keys, int64_t begin, int64_t size,
                             Class *room) {
  int64_t count = 0;
  for (int64_t place = 0; place < size; place++) {
    const int64_t row = room->order[place];
    if (place && keys[row] == keys[room->order[place - 1]]) {
      room->weight[count - 1]++;
      continue;
    }
    for (int64_t axis = 0; axis < codes.rows; axis++)
      cell(room->points, axis, count) = cell(codes, axis, begin + row);
    room->weight[count++] = 1;
  }
  return count;
}

/* Distance of every two points. */
static void distances(const Space *space, Codes2 points, int64_t count, double *apart) {
  for (int64_t point = 0; point < count; point++) {
    double *own = apart + point * count;
    from_one(space, points, point, 0, point, 1, own);
    own[point] = 0.0;
    for (int64_t other = 0; other < point; other++)
      apart[other * count + point] = own[other] = in_steps(own[other], SCORE_STEPS) / SCORE_STEPS;
  }
}

/* A chain's length over those of its neighbourhood; 0/0 is 1. */
static double ratio(double own, double around) {
  if (around > 0.0) return own / around;
  return own > 0.0 ? HUGE_VAL : 1.0;
}

/* Write the `most` points nearest to `one`, the nearest first; of equally near ones the first.
 * Return how many there are. */
static int64_t nearest_points(const double *apart, int64_t count, int64_t one, int64_t most,
                              int64_t *nearest) {
  int64_t found = 0;
  for (int64_t other = 0; other < count; other++) {
    if (other == one || (found == most && apart[other] >= apart[nearest[most - 1]])) continue;
    int64_t index = least_of(found, most - 1);
    for (; index > 0 && apart[nearest[index - 1]] > apart[other]; index--)
      nearest[index] = nearest[index - 1];
    nearest[index] = other;
    found = least_of(found + 1, most);
  }
  return found;
}

/* Average chaining distance along the set-based nearest path (Tang et al., definitions 2 to 5). */
static double set_based_length(const double *apart, int64_t points, const int64_t *nearest,
                               const int64_t *weight, int64_t one, int64_t neighbours, double *gap) {
  const int64_t first = least_of(weight[one] - 1, neighbours);
  int64_t count = 0, rows = first;
  while (rows < neighbours) rows += weight[nearest[count++]];
  /* Of the last point only so many rows are neighbours as there is room for. */
  const int64_t spare = rows - neighbours;
  /* Distance of every neighbour from the path so far; negative for those on it. */
  for (int64_t i = 0; i < count; i++) gap[i] = apart[one * points + nearest[i]];
  int64_t step = first;
  double total = 0.0;
  for (int64_t round = 0; round < count; round++) {
    int64_t closest = -1;
    for (int64_t i = 0; i < count; i++)
      if (gap[i] >= 0.0 && (closest < 0 || gap[i] < gap[closest])) closest = i;
    total += (double)(neighbours - step) * gap[closest];
    /* The other rows of the point follow at distance 0. */
    step += weight[nearest[closest]] - (closest == count - 1 ? spare : 0);
    gap[closest] = -1.0;
    const double *from = apart + nearest[closest] * points;
    for (int64_t i = 0; i < count; i++) gap[i] = least_float(gap[i], from[nearest[i]]);
  }
  return 2.0 * total / (double)(neighbours * (neighbours + 1));
}

/* Average chaining distance of a point: a weighted mean of the steps of its chain. */
static double chain_length(const double *apart, int64_t points, const int64_t *nearest,
                           const int64_t *weight, int64_t one, int64_t neighbours, int64_t chain,
                           double *gap) {
  if (chain == CHAIN_SBN)
    return set_based_length(apart, points, nearest, weight, one, neighbours, gap);
  int64_t before = one, index = 0;
  double total = 0.0;
  for (int64_t step = weight[one] - 1; step < neighbours; index++) {
    const int64_t point = nearest[index];
    if (chain == CHAIN_PAPER) {
      total += (double)(step + 1) * apart[before * points + point];
    } else {
      double shortest = apart[one * points + point];
      for (int64_t earlier = 0; earlier < index; earlier++)
        shortest = least_float(shortest, apart[nearest[earlier] * points + point]);
      total += (double)(neighbours - step) * shortest;
    }
    /* The other rows of the point follow at distance 0. */
    step += weight[point];
    before = point;
  }
  return 2.0 * total / (double)(neighbours * (neighbours + 1));
}

/* Score one of the points of a class. */
static double point_score(const Class *room, int64_t one, const int64_t *nearest, int64_t neighbours) {
  const int64_t *weight = room->weight;
  const double *length = room->length;
  /* The neighbourhood: equal rows first, then whole points until it is full. */
  int64_t left = neighbours;
  const int64_t equals = least_of(weight[one] - 1, left);
  double around = 0.0;
  around += (double)equals * length[one];
  left -= equals;
  for (int64_t index = 0; left > 0; index++) {
    const int64_t other = nearest[index], taken = least_of(weight[other], left);
    around += (double)taken * length[other];
    left -= taken;
  }
  return ratio((double)neighbours * length[one], around);
}

/* Score the rows of one class, in their order by key. */
static void class_scores(const Space *space, Class *room, int64_t count, int64_t neighbours,
                         int64_t chain, double *scores) {
  const int64_t most = least_of(neighbours, count);
  distances(space, room->points, count, room->apart);
  for (int64_t point = 0; point < count; point++) {
    int64_t *nearest = room->nearest + point * most;
    nearest_points(room->apart + point * count, count, point, most, nearest);
    room->length[point] = chain_length(room->apart, count, nearest, room->weight, point, neighbours,
                                       chain, room->gap);
  }
  int64_t place = 0;
  for (int64_t point = 0; point < count; point++) {
    const double score = point_score(room, point, room->nearest + point * most, neighbours);
    for (int64_t i = 0; i < room->weight[point]; i++) scores[room->order[place++]] = score;
  }
}

static KernelStatus score_classes(KernelCall *call) {
  const Space space = take_space(call);
  const Codes2 codes = take_Codes2(call);
  const Ints keys = take_Ints(call), bounds = take_Ints(call);
  const int64_t neighbours = take_int(call), chain = take_int(call);
  const Floats scores = take_Floats(call);
  int64_t largest = 0;
  for (int64_t index = 0; index + 1 < bounds.length; index++)
    largest = most_of(largest, bounds.at[index + 1] - bounds.at[index]);
  Class room = {0};
  room.order = room_for(largest, sizeof(int64_t));
  room.spare = room_for(largest, sizeof(int64_t));
  room.weight = room_for(largest, sizeof(int64_t));
  room.points = (Codes2){room_for(largest, sizeof(int32_t) * (size_t)most_of(codes.rows, 1)),
                         codes.rows, largest};
  KernelStatus status = KERNEL_NO_MEMORY;
  if (room.order && room.spare && room.weight && room.points.at) status = KERNEL_DONE;
  for (int64_t index = 0; index + 1 < bounds.length && status == KERNEL_DONE; index++) {
    const int64_t begin = bounds.at[index], size = bounds.at[index + 1] - begin;
    stable_order(keys.at + begin, size, room.order, room.spare);
    const int64_t count = collapse_rows(codes, keys.at + begin, begin, size, &room);
    if (count <= 1) {
      /* All rows are equal: every chain has length 0, and 0/0 counts as 1. */
      for (int64_t row = begin; row < begin + size; row++) scores.at[row] = 1.0;
    } else if (room_for_points(&room, count, least_of(neighbours, count))) {
      class_scores(&space, &room, count, least_of(neighbours, size - 1), chain, scores.at + begin);
    } else {
      status = KERNEL_NO_MEMORY;
    }
  }
  free(room.order);
  free(room.spare);
  free(room.weight);
  free(room.points.at);
  free_points(&room);
  return status;
}
