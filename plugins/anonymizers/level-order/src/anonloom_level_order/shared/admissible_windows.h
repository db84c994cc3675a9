/* The C of admissible_windows.py: which windows of an order may become classes. */
#ifndef ANONLOOM_ADMISSIBLE_WINDOWS_H
#define ANONLOOM_ADMISSIBLE_WINDOWS_H

#include "kernel.h"

typedef struct {
  int64_t least, most;
  Bools by_size;
  Ints column;
  Bools2 admitted;
  Ints starts, stops;
} Windows;

#define WINDOWS                                                                  \
  "(least int, most int, by_size bool[sizes], column i64[sizes], admitted bool[*, *], " \
  "starts i64[long], stops i64[long])"

static inline Windows take_windows(KernelCall *call) {
  Windows windows;
  windows.least = take_int(call);
  windows.most = take_int(call);
  windows.by_size = take_Bools(call);
  windows.column = take_Ints(call);
  windows.admitted = take_Bools2(call);
  windows.starts = take_Ints(call);
  windows.stops = take_Ints(call);
  return windows;
}

#endif
