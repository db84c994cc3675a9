/* The kernels of anonloom_mondrian that Python calls. */
#include "cut_scores.h"

static const KernelEntry ENTRIES[] = {
    {"score_cuts", SCORE_CUTS, score_cuts},
};

KERNEL_MODULE(ENTRIES)
