/* The C of hierarchy_levels.py: into which parts a hierarchy divides the codes. */
#ifndef ANONLOOM_HIERARCHY_LEVELS_H
#define ANONLOOM_HIERARCHY_LEVELS_H

#include "kernel.h"

typedef struct {
  Ints depth, start, size;
  Ints2 cells;
  Codes digits;
} Levels;

#define LEVELS                                                                              \
  "(depth i64[axes], start i64[axes], size i64[axes], cells i64[axes, levels], digits i32[*])"

static inline Levels take_levels(KernelCall *call) {
  Levels levels;
  levels.depth = take_Ints(call);
  levels.start = take_Ints(call);
  levels.size = take_Ints(call);
  levels.cells = take_Ints2(call);
  levels.digits = take_Codes(call);
  return levels;
}

#endif
