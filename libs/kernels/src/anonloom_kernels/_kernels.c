/* The kernels of anonloom_kernels that Python calls. */
#include "level_order_key.h"
#include "optimal_cuts.h"

static const KernelEntry ENTRIES[] = {
    {"order_blocks", ORDER_BLOCKS, order_blocks},
    {"divide_all", DIVIDE_ALL, divide_all},
    {"walk_back", WALK_BACK, walk_back},
};

KERNEL_MODULE(ENTRIES)
