#include "store/usage_sum.h"

#include "reprise/message.h"

namespace reprise::store {
namespace {

void add(std::int64_t& sum, std::int64_t one) {
  if (__builtin_add_overflow(sum, one, &sum)) {
    sum = one > 0 ? std::numeric_limits<std::int64_t>::max()
                  : std::numeric_limits<std::int64_t>::min();
  }
}

}  // namespace

void add_usage(Usage& sum, const Usage& one) {
  add(sum.input.value, one.input.value);
  add(sum.output.value, one.output.value);
  add(sum.reasoning.value, one.reasoning.value);
  add(sum.cached.value, one.cached.value);
  add(sum.cache_written.value, one.cache_written.value);
  if (!one.cost) {
    return;
  }
  if (!sum.cost) {
    sum.cost = Money{};
    sum.price_source = one.price_source;
  } else if (sum.price_source != one.price_source) {
    sum.price_source = "mixed";
  }
  add(sum.cost->nanos, one.cost->nanos);
}

void count_usage(Usage& sum, CountedRequests& counted, const Message& message) {
  if (message.usage) {
    count_usage(sum, counted, *message.usage);
  }
}

void count_usage(Usage& sum, CountedRequests& counted, const Usage& usage) {
  if (usage.request_id.empty() || counted.insert(usage.request_id).second) {
    add_usage(sum, usage);
  }
}

}  // namespace reprise::store
