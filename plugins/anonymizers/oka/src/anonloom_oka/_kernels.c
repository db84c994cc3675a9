/* The kernels of anonloom_oka that Python calls. */
#include "one_pass.h"

static const KernelEntry ENTRIES[] = {
    {"cluster_each", CLUSTER_EACH, cluster_each},
};

KERNEL_MODULE(ENTRIES)
