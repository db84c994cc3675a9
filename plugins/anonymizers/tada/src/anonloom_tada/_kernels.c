/* The kernels of anonloom_tada that Python calls. */
#include "split_scores.h"

static const KernelEntry ENTRIES[] = {
    {"score_splits", SCORE_SPLITS, score_splits},
    {"divide", DIVIDE, divide},
};

KERNEL_MODULE(ENTRIES)
