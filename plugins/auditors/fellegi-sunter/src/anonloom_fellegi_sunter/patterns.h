/* The C of patterns.py: which columns agree in a pair, for all pairs of all blocks. */
#include "shared/lanes.h"

/* Candidates of a tile. */
enum { TILE = 512 };

typedef struct {
  Ints records, candidates, start, stop, low, high;
} Work;

#define WORK                                                                          \
  "(records i64[*], candidates i64[*], start i64[runs], stop i64[runs], low i64[runs], " \
  "high i64[runs])"

static Work take_work(KernelCall *call) {
  Work work;
  work.records = take_Ints(call);
  work.candidates = take_Ints(call);
  work.start = take_Ints(call);
  work.stop = take_Ints(call);
  work.low = take_Ints(call);
  work.high = take_Ints(call);
  return work;
}

typedef struct {
  Codes2 values, cells;
  Codes base;
  Ints owner, owned;
} Sheet;

#define SHEET                                                                                  \
  "(values i32[records, columns], cells i32[rows, columns], base i32[rows], owner i64[records], " \
  "owned i64[rows])"

static Sheet take_sheet(KernelCall *call) {
  Sheet sheet;
  sheet.values = take_Codes2(call);
  sheet.cells = take_Codes2(call);
  sheet.base = take_Codes(call);
  sheet.owner = take_Ints(call);
  sheet.owned = take_Ints(call);
  return sheet;
}

typedef struct {
  Ints column, start;
  Codes first, last;
} Stretches;

#define STRETCHES "(column i64[layers], start i64[layers], first i32[places], last i32[places])"

static Stretches take_stretches(KernelCall *call) {
  Stretches stretches;
  stretches.column = take_Ints(call);
  stretches.start = take_Ints(call);
  stretches.first = take_Codes(call);
  stretches.last = take_Codes(call);
  return stretches;
}

/* The candidates that records are compared with. */
typedef struct {
  Codes2 firsts, lasts;
  int64_t size;
  int32_t bases[TILE], pattern[TILE], score[TILE];
  int64_t owner[TILE];
} Tile;

#define TILES "(firsts i32[layers, 512]!, lasts i32[layers, 512]!)"

static void take_tile(KernelCall *call, Tile *tile) {
  tile->firsts = take_Codes2(call);
  tile->lasts = take_Codes2(call);
}

/* Copy the stretches of some candidates side by side. */
static void fill(const int64_t *among, const Sheet *sheet, const Stretches *stretches, Tile *tile) {
  const int64_t layers = stretches->column.length;
  for (int64_t j = 0; j < tile->size; j++) {
    const int64_t row = among[j];
    const int32_t *cells = row_of(sheet->cells, row);
    tile->bases[j] = sheet->base.at[row];
    tile->owner[j] = sheet->owned.at[row];
    for (int64_t layer = 0; layer < layers; layer++) {
      const int64_t index = stretches->start.at[layer] + cells[stretches->column.at[layer]];
      cell(tile->firsts, layer, j) = stretches->first.at[index];
      cell(tile->lasts, layer, j) = stretches->last.at[index];
    }
  }
}

/* Add a column's bit to the patterns of the candidates whose stretch a value lies in. */
FOR_ALL_WIDTHS
static void add_bit(int32_t value, int32_t bit, const int32_t *firsts, const int32_t *lasts,
                    int64_t size, int32_t *pattern) {
  for (int64_t j = 0; j < size; j++)
    pattern[j] |= bit & -((firsts[j] <= value) & (value <= lasts[j]));
}

/* Write the pattern of one record with every candidate of a tile. */
static void compare(const int32_t *values, Ints column, Tile *tile) {
  memcpy(tile->pattern, tile->bases, (size_t)tile->size * sizeof(int32_t));
  for (int64_t layer = 0; layer < column.length; layer++) {
    const int64_t of = column.at[layer];
    add_bit(values[of], (int32_t)1 << of, row_of(tile->firsts, layer), row_of(tile->lasts, layer),
            tile->size, tile->pattern);
  }
}

/* Patterns are counted in so many places by turns if they are at most so few: neighbours often have
 * the same one, and adding to what was just written makes a processor wait. */
enum { PLACES = 4, FEW = 1024 };

/* Count the patterns of a tile with those candidates that have another owner. */
static void count_tile(const Tile *tile, int64_t owner, int64_t *const count[PLACES]) {
  int64_t j = 0;
  for (; j + PLACES <= tile->size; j += PLACES)
    for (int64_t k = 0; k < PLACES; k++)
      count[k][tile->pattern[j + k]] += tile->owner[j + k] != owner;
  for (; j < tile->size; j++) count[0][tile->pattern[j]] += tile->owner[j] != owner;
}

#define COUNT_RUNS WORK ", " SHEET ", " STRETCHES ", counts i64[*]!, " TILES

/* Count the patterns of some runs. */
static KernelStatus count_runs(KernelCall *call) {
  const Work work = take_work(call);
  const Sheet sheet = take_sheet(call);
  const Stretches stretches = take_stretches(call);
  const Ints counts = take_Ints(call);
  Tile tile;
  take_tile(call, &tile);
  int64_t spare[PLACES - 1][FEW], *count[PLACES];
  const int few = counts.length <= FEW;
  count[0] = counts.at;
  for (int64_t k = 1; k < PLACES; k++) count[k] = few ? spare[k - 1] : counts.at;
  memset(spare, 0, sizeof spare);
  for (int64_t run = 0; run < work.start.length; run++) {
    for (int64_t low = work.low.at[run]; low < work.high.at[run]; low += TILE) {
      tile.size = least_of(work.high.at[run] - low, TILE);
      fill(work.candidates.at + low, &sheet, &stretches, &tile);
      for (int64_t index = work.start.at[run]; index < work.stop.at[run]; index++) {
        const int64_t record = work.records.at[index], owner = sheet.owner.at[record];
        compare(row_of(sheet.values, record), stretches.column, &tile);
        count_tile(&tile, owner, count);
      }
    }
  }
  for (int64_t k = 1; k < PLACES && few; k++)
    for (int64_t pattern = 0; pattern < counts.length; pattern++)
      counts.at[pattern] += count[k][pattern];
  return KERNEL_DONE;
}

/* Write the rank of every candidate, -1 for those of the same owner; return the highest. */
FOR_ALL_WIDTHS
static int32_t rank_all(const int32_t *rank_of, int64_t owner, Tile *tile) {
  int32_t most = -1;
  for (int64_t j = 0; j < tile->size; j++) {
    const int32_t rank = rank_of[tile->pattern[j]];
    const int32_t score = tile->owner[j] == owner ? -1 : rank;
    tile->score[j] = score;
    most = score > most ? score : most;
  }
  return most;
}

typedef struct {
  Codes rank;
  Ints ties, row, right;
} Best;

#define BEST_OF_RUNS                                                                       \
  WORK ", " SHEET ", " STRETCHES ", rank_of i32[*], truth i64[rows], "                     \
  "(rank i32[records]!, ties i64[records]!, row i64[records]!, right i64[records]!), " TILES

/* Find the best candidates of the records of some runs. */
static KernelStatus best_of_runs(KernelCall *call) {
  const Work work = take_work(call);
  const Sheet sheet = take_sheet(call);
  const Stretches stretches = take_stretches(call);
  const Codes rank_of = take_Codes(call);
  const Ints truth = take_Ints(call);
  Best best;
  best.rank = take_Codes(call);
  best.ties = take_Ints(call);
  best.row = take_Ints(call);
  best.right = take_Ints(call);
  Tile tile;
  take_tile(call, &tile);
  for (int64_t run = 0; run < work.start.length; run++) {
    for (int64_t low = work.low.at[run]; low < work.high.at[run]; low += TILE) {
      const int64_t *among = work.candidates.at + low;
      tile.size = least_of(work.high.at[run] - low, TILE);
      fill(among, &sheet, &stretches, &tile);
      for (int64_t index = work.start.at[run]; index < work.stop.at[run]; index++) {
        const int64_t record = work.records.at[index];
        compare(row_of(sheet.values, record), stretches.column, &tile);
        const int32_t most = rank_all(rank_of.at, sheet.owner.at[record], &tile);
        if (most < 0 || most < best.rank.at[record]) continue;
        if (most > best.rank.at[record]) {
          best.rank.at[record] = most;
          best.row.at[record] = INT64_MAX;
          best.ties.at[record] = best.right.at[record] = 0;
        }
        for (int64_t j = 0; j < tile.size; j++) {
          if (tile.score[j] != most) continue;
          best.ties.at[record]++;
          best.right.at[record] += truth.at[among[j]] == record;
          best.row.at[record] = least_of(best.row.at[record], among[j]);
        }
      }
    }
  }
  return KERNEL_DONE;
}
