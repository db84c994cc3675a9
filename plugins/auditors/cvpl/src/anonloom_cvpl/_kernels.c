/* The kernels of anonloom_cvpl that Python calls. */
#include "evidence.h"

static const KernelEntry ENTRIES[] = {
    {"count_reaching", COUNT_REACHING, count_reaching},
};

KERNEL_MODULE(ENTRIES)
