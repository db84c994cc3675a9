/* The kernels of anonloom_distance that Python calls. */
#include "search.h"

static const KernelEntry ENTRIES[] = {
    {"compare_tile", COMPARE_TILE, compare_tile},
    {"of_pairs", OF_PAIRS, of_pairs},
    {"write_points", WRITE_POINTS, write_points},
};

KERNEL_MODULE(ENTRIES)
