/* The kernels of anonloom_k_member that Python calls. */
#include "greedy.h"

static const KernelEntry ENTRIES[] = {
    {"cluster_each", CLUSTER_EACH, cluster_each},
};

KERNEL_MODULE(ENTRIES)
