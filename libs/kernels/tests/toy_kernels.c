/* Kernels for the tests of the binding: one of everything that a signature can say. */
#include "sorting.h"

/* Add every row of a matrix up, into `total`; return how many elements there are, and their sum. */
static KernelStatus sum_rows(KernelCall *call) {
  const Codes2 codes = take_Codes2(call);
  const Ints total = take_Ints(call);
  const double scale = take_float(call);
  const int negative = take_bool(call);
  double sum = 0.0;
  for (int64_t i = 0; i < codes.rows; i++) {
    total.at[i] = 0;
    for (int64_t j = 0; j < codes.columns; j++) total.at[i] += cell(codes, i, j);
    sum += (double)total.at[i] * scale;
  }
  give_int(call, codes.rows * codes.columns);
  give_float(call, negative ? -sum : sum);
  return KERNEL_DONE;
}

static KernelStatus every_type(KernelCall *call) {
  const Bools truth = take_Bools(call);
  const Bytes small = take_Bytes(call);
  const Words large = take_Words(call);
  const Singles single = take_Singles(call);
  const Floats3 cube = take_Floats3(call);
  const int64_t factor = take_int(call);
  for (int64_t i = 0; i < truth.length; i++) truth.at[i] = small.at[i] > 1;
  large.at[0] += (uint64_t)factor;
  single.at[0] *= 0.5f;
  cell3(cube, 1, 2, 3) = -1.0;
  give_int(call, truth.length);
  return KERNEL_DONE;
}

static KernelStatus pairs(KernelCall *call) {
  const int64_t a = take_int(call), b = take_int(call);
  give_int(call, floor_quotient(a, b));
  give_int(call, floor_remainder(a, b));
  give_int(call, least_of(a, b));
  give_int(call, most_of(a, b));
  return KERNEL_DONE;
}

static KernelStatus rounded(KernelCall *call) {
  give_float(call, round12(take_float(call)));
  return KERNEL_DONE;
}

static KernelStatus chosen(KernelCall *call) {
  const double a = take_float(call), b = take_float(call);
  give_float(call, least_float(a, b));
  give_float(call, most_float(a, b));
  return KERNEL_DONE;
}

static KernelStatus no_room(KernelCall *call) {
  void *room = room_for(take_int(call), 8);
  const KernelStatus status = room == NULL ? KERNEL_NO_MEMORY : KERNEL_DONE;
  free(room);
  return status;
}

static KernelStatus sorted(KernelCall *call) {
  const Ints numbers = take_Ints(call);
  sort_ints(numbers.at, numbers.length);
  return KERNEL_DONE;
}

static KernelStatus order_of(KernelCall *call) {
  const Floats numbers = take_Floats(call);
  const Ints key = take_Ints(call), order = take_Ints(call), spare = take_Ints(call);
  for (int64_t i = 0; i < numbers.length; i++) key.at[i] = float_key(numbers.at[i]);
  stable_order(key.at, numbers.length, order.at, spare.at);
  return KERNEL_DONE;
}

static KernelStatus nothing(KernelCall *call) {
  (void)call;
  return KERNEL_DONE;
}

static const KernelEntry ENTRIES[] = {
    {"sum_rows",
     "(codes i32[rows, columns], total i64[rows]!), scale float, negative bool -> int, float", sum_rows},
    {"every_type",
     "truth bool[n]!, small u8[n], large u64[1]!, single f32[m+1]!, cube f64[2, 3, *]!, factor int -> int",
     every_type},
    {"pairs", "a int, b int -> int, int, int, int", pairs},
    {"rounded", "x float -> float", rounded},
    {"chosen", "a float, b float -> float, float", chosen},
    {"no_room", "count int", no_room},
    {"sorted", "numbers i64[n]!", sorted},
    {"order_of", "numbers f64[n], key i64[n]!, order i64[n]!, spare i64[n]!", order_of},
    {"wrong_word", "codes i16[n]", nothing},
    {"no_end", "codes i32[n", nothing},
    {"no_result", "a int -> bool", nothing},
    {"four_sides", "codes i32[a, b, c, d]", nothing},
};

KERNEL_MODULE(ENTRIES)
