/* The kernels of anonloom_rayden that Python calls. */
#include "scores.h"
#include "tree.h"

static const KernelEntry ENTRIES[] = {
    {"grow_nodes", GROW_NODES, grow_nodes},
    {"score_classes", SCORE_CLASSES, score_classes},
};

KERNEL_MODULE(ENTRIES)
