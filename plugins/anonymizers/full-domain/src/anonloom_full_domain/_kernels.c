/* The kernels of anonloom_full_domain that Python calls. */
#include "box_kernel.h"
#include "refused_rows.h"

static const KernelEntry ENTRIES[] = {
    {"group_points", GROUP_POINTS, group_points},
    {"choose_classes", CHOOSE_CLASSES, choose_classes},
};

KERNEL_MODULE(ENTRIES)
