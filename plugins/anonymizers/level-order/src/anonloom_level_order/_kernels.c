/* The kernels of anonloom_level_order that Python calls. */
#include "recut.h"
#include "search.h"

static const KernelEntry ENTRIES[] = {
    {"look_ahead", LOOK_AHEAD, look_ahead},
    {"recut_groups", RECUT_GROUPS, recut_groups},
};

KERNEL_MODULE(ENTRIES)
