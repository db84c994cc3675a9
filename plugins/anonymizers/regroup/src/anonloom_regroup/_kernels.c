/* The kernels of anonloom_regroup that Python calls. */
#include "dissolution.h"

static const KernelEntry ENTRIES[] = {
    {"link_rows", LINK_ROWS, link_rows}, {"weigh_all", WEIGH_ALL, weigh_all},
    {"sweep", SWEEP, sweep},             {"take_back", TAKE_BACK, take_back},
    {"dissolve_all", DISSOLVE_ALL, dissolve_all},
};

KERNEL_MODULE(ENTRIES)
