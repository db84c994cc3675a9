/* The C of candidates.py: which cuts of a class along an axis come into question. */
#include "shared/losses.h"

enum {
  PARTS = 8,
  MOST_CHILDREN = 16,
  MOST_CUTS = 2 * (PARTS - 1) + MOST_CHILDREN + 1,
  MOST_SEGMENTS = 64,
};

typedef struct {
  Ints tree;
  Codes ancestors;
  Ints sorted;
} Ways;

#define WAYS "(tree i64[axes], ancestors i32[*], sorted i64[axes])"

static Ways take_ways(KernelCall *call) {
  Ways ways;
  ways.tree = take_Ints(call);
  ways.ancestors = take_Codes(call);
  ways.sorted = take_Ints(call);
  return ways;
}

typedef struct {
  Bools varied;
  Codes value;
  Ints reach;
  Bools edge;
  Ints part, of_code, segment;
  Ints2 cut;
  Floats2 lost;
  Ints3 ends;
  Words seen;
  Codes member;
} Scratch;

#define SCRATCH                                                                          \
  "(varied bool[axes]!, value i32[most]!, reach i64[most]!, edge bool[most]!, "          \
  "part i64[most]!, of_code i64[widest]!, segment i64[most]!, cut i64[4, 31]!, "         \
  "lost f64[2, 31]!, ends i64[2, 3, 65]!, seen u64[widest]!, member i32[most]!)"

static Scratch take_scratch(KernelCall *call) {
  Scratch scratch;
  scratch.varied = take_Bools(call);
  scratch.value = take_Codes(call);
  scratch.reach = take_Ints(call);
  scratch.edge = take_Bools(call);
  scratch.part = take_Ints(call);
  scratch.of_code = take_Ints(call);
  scratch.segment = take_Ints(call);
  scratch.cut = take_Ints2(call);
  scratch.lost = take_Floats2(call);
  scratch.ends = take_Ints3(call);
  scratch.seen = take_Words(call);
  scratch.member = take_Codes(call);
  return scratch;
}

/* Smallest and largest code. */
static void ends_of(const int32_t *codes, int64_t count, int64_t *low, int64_t *high) {
  int32_t least = codes[0], most = codes[0];
  for (int64_t i = 0; i < count; i++) {
    least = codes[i] < least ? codes[i] : least;
    most = codes[i] > most ? codes[i] : most;
  }
  *low = least;
  *high = most;
}

/* Write down the occurring codes in ascending order with their rows; return how many. `order` is
 * NULL where codes are few. */
static int64_t tally(const int32_t *codes, const int64_t *weights, const int64_t *order,
                     int64_t count, Scratch *scratch) {
  int32_t *value = scratch->value.at;
  int64_t *reach = scratch->reach.at;
  int64_t found = 0, rows = 0;
  if (order != NULL) {
    for (int64_t place = 0; place < count; place++) {
      const int64_t i = order[place];
      if (!found || value[found - 1] != codes[i]) value[found++] = codes[i];
      rows += weights[i];
      reach[found - 1] = rows;
    }
    return found;
  }
  int64_t *of_code = scratch->of_code.at;
  int64_t low, high;
  ends_of(codes, count, &low, &high);
  for (int64_t code = low; code <= high; code++) of_code[code] = 0;
  for (int64_t i = 0; i < count; i++) of_code[codes[i]] += weights[i];
  for (int64_t code = low; code <= high; code++) {
    if (of_code[code]) {
      rows += of_code[code];
      value[found] = (int32_t)code;
      reach[found] = rows;
      found++;
    }
  }
  return found;
}

/* Write down the cuts on both sides of the values at which each part of the rows ends. Where values
 * and missing ones mix, also the cut between them. */
static int64_t cut_parts(int64_t values, int64_t known, int64_t parts, int64_t cuts, Scratch *scratch) {
  const int64_t *reach = scratch->reach.at;
  int64_t *firsts = row_of(scratch->cut, 0), *lasts = row_of(scratch->cut, 1);
  const int64_t rows = reach[values - 1];
  int64_t behind = -1, middle = 0;
  for (int64_t part = 1; part < parts; part++) {
    while (reach[middle] * parts < rows * part) middle++;
    const int64_t end = least_of(middle + 1, values - 1);
    for (int64_t last = most_of(middle - 1, behind + 1); last < end; last++) {
      firsts[cuts] = 0;
      lasts[cuts++] = last;
      behind = last;
    }
  }
  if (behind < known - 1 && known - 1 < values - 1) {
    firsts[cuts] = 0;
    lasts[cuts++] = known - 1;
  }
  return cuts;
}

/* Write down the first and last values of the cuts in question; return how many they are. */
static int64_t find_cuts(int64_t axis, int64_t values, const Losses *losses, const Ways *ways,
                         Scratch *scratch) {
  const int32_t *value = scratch->value.at;
  const int64_t *reach = scratch->reach.at;
  const int mixed = value[values - 1] == losses->missing.at[axis];
  const int64_t known = mixed ? values - 1 : values;
  int64_t cuts = 0, parts = PARTS;
  if (ways->tree.at[axis] >= 0) {
    const int64_t size = losses->size.at[axis];
    const int32_t *above = ways->ancestors.at + ways->tree.at[axis];
    while (above[value[0]] != above[value[known - 1]]) above += size;
    /* One level below the lowest common node: its children. A single value has none, and its own
     * level is the lowest. */
    if (known > 1) above -= size;
    int64_t children = 1;
    for (int64_t i = 1; i < known; i++) children += above[value[i - 1]] != above[value[i]];
    const int64_t rows = reach[values - 1];
    const int64_t least = children <= MOST_CHILDREN ? 0 : (rows + MOST_CHILDREN - 1) / MOST_CHILDREN;
    int64_t first = 0;
    for (int64_t i = 0; i < (known > 1 ? known : 0); i++) {
      if (i + 1 == known || above[value[i]] != above[value[i + 1]]) {
        const int64_t inside = reach[i] - (first ? reach[first - 1] : 0);
        if (inside >= least) {
          cell(scratch->cut, 0, cuts) = first;
          cell(scratch->cut, 1, cuts) = i;
          cuts++;
        }
        first = i + 1;
      }
    }
    parts = children <= MOST_CHILDREN ? 2 : PARTS;
  }
  return cut_parts(values, known, parts, cuts, scratch);
}

/* Number the segments between the ends of the cuts, tell the fragments'; return how many. */
static int64_t number_segments(const int32_t *codes, int64_t values, const int64_t *order,
                               int64_t count, int64_t cuts, Scratch *scratch) {
  const int32_t *value = scratch->value.at;
  int64_t *part = scratch->part.at, *segment = scratch->segment.at;
  uint8_t *edge = scratch->edge.at;
  for (int64_t i = 0; i < values; i++) edge[i] = 0;
  for (int64_t cut = 0; cut < cuts; cut++) {
    const int64_t first = cell(scratch->cut, 0, cut), last = cell(scratch->cut, 1, cut);
    edge[last] = 1;
    if (first) edge[first - 1] = 1;
  }
  int64_t segments = 0;
  for (int64_t i = 0; i < values; i++) {
    part[i] = segments;
    segments += edge[i] && i + 1 < values;
  }
  for (int64_t cut = 0; cut < cuts; cut++) {
    cell(scratch->cut, 2, cut) = part[cell(scratch->cut, 0, cut)];
    cell(scratch->cut, 3, cut) = part[cell(scratch->cut, 1, cut)];
  }
  if (order != NULL) {
    int64_t index = 0;
    for (int64_t place = 0; place < count; place++) {
      const int64_t i = order[place];
      index += value[index] != codes[i];
      segment[i] = part[index];
    }
  } else {
    int64_t *of_code = scratch->of_code.at;
    for (int64_t i = 0; i < values; i++) of_code[value[i]] = part[i];
    for (int64_t i = 0; i < count; i++) segment[i] = of_code[codes[i]];
  }
  return segments + 1;
}
