/* The kernels of anonloom_linkage that Python calls. */
#include "top2_search.h"
#include "vectors.h"

static const KernelEntry ENTRIES[] = {
    {"add_stretches", ADD_STRETCHES, add_stretches},
    {"keep_best", KEEP_BEST, keep_best},
    {"merge_rows", MERGE_ROWS, merge_rows},
};

KERNEL_MODULE(ENTRIES)
