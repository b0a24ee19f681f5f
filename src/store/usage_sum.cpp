#include "store/usage_sum.h"

#include <optional>
#include <utility>

#include "reprise/message.h"

namespace reprise::store {
void add_usage(Usage& sum, const Usage& usage) {
  sum.input += usage.input;
  sum.output += usage.output;
  sum.reasoning += usage.reasoning;
  sum.cached += usage.cached;
  sum.cache_written += usage.cache_written;
  if (!usage.cost) {
    return;
  }
  if (!sum.cost) {
    sum.cost = Money{};
    sum.price_source = usage.price_source;
  } else if (sum.price_source != usage.price_source) {
    sum.price_source = "mixed";
  }
  *sum.cost += *usage.cost;
}

std::optional<Usage> usage_beyond(const Usage& total, const Usage& sum) {
  const auto difference = [](std::int64_t amount, std::int64_t part) {
    return amount <= part ? 0 : part <= 0 ? amount : amount - part;
  };
  Usage remainder{
      .input = {difference(total.input.value, sum.input.value)},
      .output = {difference(total.output.value, sum.output.value)},
      .reasoning = {difference(total.reasoning.value, sum.reasoning.value)},
      .cached = {difference(total.cached.value, sum.cached.value)},
      .cache_written = {difference(total.cache_written.value, sum.cache_written.value)}};
  const std::int64_t cost =
      difference(total.cost.value_or(Money{}).nanos, sum.cost.value_or(Money{}).nanos);
  if (cost > 0) {
    remainder.cost = Money{cost};
    remainder.price_source = total.price_source;
  }
  return remainder == Usage{} ? std::nullopt : std::optional(std::move(remainder));
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
