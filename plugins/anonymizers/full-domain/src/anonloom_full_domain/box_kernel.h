/* The C of box_kernel.py: which weighted points lie in one box of a node. */
#include "shared/kernel.h"

/* The golden ratio of 2^64: products with it differ most in their highest bits. */
#define SPREAD UINT64_C(0x9E3779B97F4A7C15)

typedef struct {
  Codes cells;
  Floats losses;
  Ints starts;
  Words factors;
  int exact;
} NodeRecoding;

#define NODE_RECODING \
  "(cells i32[cells], losses f64[cells], starts i64[axes], factors u64[axes], exact bool)"

static NodeRecoding take_node_recoding(KernelCall *call) {
  NodeRecoding node;
  node.cells = take_Codes(call);
  node.losses = take_Floats(call);
  node.starts = take_Ints(call);
  node.factors = take_Words(call);
  node.exact = take_bool(call);
  return node;
}

/* Whether a point lies in a box, and the number of that box. */
static inline int box_number(const int32_t *own, const NodeRecoding *node, uint64_t *number) {
  const int64_t axes = node->starts.length;
  uint64_t sum = 0;
  for (int64_t axis = 0; axis < axes; axis++) {
    const int32_t cell = node->cells.at[node->starts.at[axis] + own[axis]];
    if (cell < 0) return 0;
    sum += (uint64_t)cell * node->factors.at[axis];
  }
  *number = sum;
  return 1;
}

/* What a row of the point loses. */
static double point_loss(const int32_t *own, const NodeRecoding *node) {
  double loss = 0.0;
  for (int64_t axis = 0; axis < node->starts.length; axis++)
    loss += node->losses.at[node->starts.at[axis] + own[axis]];
  return loss;
}

/* Whether two points lie in one box. */
static int alike(const int32_t *one, const int32_t *other, const NodeRecoding *node) {
  for (int64_t axis = 0; axis < node->starts.length; axis++) {
    const int32_t *cells = node->cells.at + node->starts.at[axis];
    if (cells[one[axis]] != cells[other[axis]]) return 0;
  }
  return 1;
}

#define GROUP_POINTS                                                                     \
  "codes i32[*, axes], points i64[asked], weights i64[asked], " NODE_RECODING ", "       \
  "slots i32[*]!, numbers u64[asked]!, of_point i64[asked]!, first i64[asked]!, "        \
  "size i64[asked]!, lost f64[asked]! -> int"

static KernelStatus group_points(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints points = take_Ints(call), weights = take_Ints(call);
  const NodeRecoding node = take_node_recoding(call);
  const Codes slots = take_Codes(call);
  const Words numbers = take_Words(call);
  const Ints of_point = take_Ints(call), first = take_Ints(call), size = take_Ints(call);
  const Floats lost = take_Floats(call);

  int bits = 0;
  while (((int64_t)1 << bits) < slots.length) bits++;
  const int64_t mask = slots.length - 1;
  int32_t boxes = 0;
  for (int64_t slot = 0; slot < slots.length; slot++) slots.at[slot] = -1;
  for (int64_t index = 0; index < points.length; index++) {
    const int64_t point = points.at[index];
    const int32_t *own = row_of(codes, point);
    uint64_t number;
    of_point.at[index] = -1;
    if (!box_number(own, &node, &number)) continue;
    int64_t slot = (int64_t)((number * SPREAD) >> (64 - bits));
    int32_t box = slots.at[slot];
    while (box >= 0 && !(numbers.at[box] == number &&
                         (node.exact || alike(own, row_of(codes, first.at[box]), &node)))) {
      slot = (slot + 1) & mask;
      box = slots.at[slot];
    }
    if (box < 0) {
      box = slots.at[slot] = boxes++;
      numbers.at[box] = number;
      first.at[box] = point;
      size.at[box] = 0;
      lost.at[box] = point_loss(own, &node);
    }
    size.at[box] += weights.at[index];
    of_point.at[index] = box;
  }
  give_int(call, boxes);
  return KERNEL_DONE;
}
