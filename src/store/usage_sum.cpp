#include "store/usage_sum.h"

#include <limits>
#include <optional>
#include <utility>

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

std::optional<Usage> usage_beyond(const Usage& total, const Usage& sum) {
  const auto beyond = [](std::int64_t all, std::int64_t part) {
    return all <= part ? 0 : part <= 0 ? all : all - part;
  };
  Usage rest{.input = {beyond(total.input.value, sum.input.value)},
             .output = {beyond(total.output.value, sum.output.value)},
             .reasoning = {beyond(total.reasoning.value, sum.reasoning.value)},
             .cached = {beyond(total.cached.value, sum.cached.value)},
             .cache_written = {beyond(total.cache_written.value, sum.cache_written.value)}};
  const std::int64_t cost =
      beyond(total.cost.value_or(Money{}).nanos, sum.cost.value_or(Money{}).nanos);
  if (cost > 0) {
    rest.cost = Money{cost};
    rest.price_source = total.price_source;
  }
  return rest == Usage{} ? std::nullopt : std::optional(std::move(rest));
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
