/* The kernels of anonloom_fellegi_sunter that Python calls. */
#include "patterns.h"

static const KernelEntry ENTRIES[] = {
    {"best_of_runs", BEST_OF_RUNS, best_of_runs},
    {"count_runs", COUNT_RUNS, count_runs},
};

KERNEL_MODULE(ENTRIES)
