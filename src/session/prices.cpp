#include "session/prices.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/text.h"
#include "reprise/error.h"
#include "reprise/types.h"

namespace reprise {
namespace {

constexpr std::int64_t kGptLong = 272'000;
constexpr std::int64_t kHaikuLong = 100'000;
constexpr std::string_view kOneMillion = "[1m]";

constexpr auto kSources =
    std::to_array<std::string_view>({"https://platform.claude.com/docs/en/about-claude/pricing",
                                     "https://developers.openai.com/api/docs/pricing"});

const std::vector<Price>& price_table() {
  static const std::vector<Price> table = {
      {"claude-fable-5-1", 10, 50, 0.25, 12.5},
      {"claude-opus-5-5", 4, 20, 0.2, 5},
      {"claude-opus-5", 5, 25, 0.5, 6.25},
      {"claude-opus-4-8", 5, 25, 0.5, 6.25},
      {"claude-opus-4-7", 5, 25, 0.5, 6.25},
      {"claude-opus-4-6", 5, 25, 0.5, 6.25},
      {"claude-opus-4-5", 5, 25, 0.5, 6.25},
      {"claude-opus-4-1", 15, 75, 1.5, 18.75},
      {"claude-sonnet-5-5", 2, 10, 0.1, 2.5},
      {"claude-sonnet-5", 2, 10, 0.2, 2.5},
      {"claude-sonnet-4-6", 3, 15, 0.3, 3.75},
      {"claude-sonnet-4-5", 3, 15, 0.3, 3.75},
      {"claude-haiku-5-5", 0.1, 0.5, 0.01, 0.125, kHaikuLong, 5, 5},
      {"claude-haiku-4-5", 1, 5, 0.1, 1.25},
      {"gpt-6.1-sol", 2, 10, 0.1, 2.5, kGptLong, 2, 1.5},
      {"gpt-6.1-terra", 1, 5, 0.05, 1.25, kGptLong, 2, 1.5},
      {"gpt-6-sol", 2, 10, 0.2, 2.5, kGptLong, 2, 1.5},
      {"gpt-6-luna", 0.1, 0.5, 0.01, 0.125, kGptLong, 2, 1.5},
      {"echo"},  // built in
  };
  return table;
}

// Removes a trailing "-20261018" or "-2026-10-18".
std::string_view without_date(std::string_view model) {
  std::size_t digits = 0;
  std::size_t at = model.size();
  while (at > 0 && (is_ascii_digit(model[at - 1]) || model[at - 1] == '-') && digits < 8) {
    digits += is_ascii_digit(model[--at]) ? 1U : 0U;
  }
  const bool is_date = digits == 8 && at > 0 && model[at - 1] == '-' && model[at] == '2';
  return is_date ? model.substr(0, at - 1) : model;
}

const Price* find_in(std::span<const Price> prices, std::string_view model) {
  const auto found = std::ranges::find(prices, model, &Price::model);
  return found == prices.end() ? nullptr : &*found;
}

std::optional<double> parse_dollars(std::string_view text) {
  const auto value = parse_number<double>(text);
  return value && *value >= 0 && *value < 1e6 ? value : std::nullopt;
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!(text = trimmed(text)).empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

}  // namespace

const PriceList& standard_prices() {
  static const PriceList list = {
      .as_of = "2026-10-27", .sources = kSources, .prices = price_table()};
  return list;
}

Result<Price> parse_price(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  std::vector<double> numbers;
  for (std::size_t at = 1; at < words.size(); ++at) {
    if (const auto number = parse_dollars(words[at])) {
      numbers.push_back(*number);
    }
  }
  if (words.size() < 3 || words.size() > 5 || numbers.size() != words.size() - 1) {
    return fail(Code::invalid_argument,
                cat("'", text,
                    "' is not a price; write 'MODEL INPUT OUTPUT CACHED', in dollars for a "
                    "million tokens"));
  }
  numbers.resize(4, numbers.front());
  return Price{std::string(words[0]), numbers[0], numbers[1], numbers[2],
               words.size() > 4 ? numbers[3] : numbers[0]};
}

const Price* Prices::find(std::string_view model) const {
  if (model.ends_with(kOneMillion)) {
    model.remove_suffix(kOneMillion.size());
  }
  const std::string_view name = model.substr(model.rfind('/') + 1);
  for (const std::string_view alias : {model, name, without_date(name)}) {
    for (const std::span<const Price> prices :
         {std::span<const Price>(own_), standard_prices().prices}) {
      if (const Price* const price = find_in(prices, alias); price != nullptr) {
        return price;
      }
    }
  }
  return nullptr;
}

std::optional<Money> Prices::cost(const Usage& usage, std::string_view model) const {
  if (usage.cost) {
    return usage.cost;
  }
  const Price* const price = find(model);
  if (price == nullptr) {
    return std::nullopt;
  }
  const auto tokens = [](TokenCount count) { return static_cast<double>(count.value); };
  const bool is_long = price->long_above > 0 && usage.input.value > price->long_above;
  const double uncached =
      std::max(0.0, tokens(usage.input) - tokens(usage.cached) - tokens(usage.cache_written));
  const double input = uncached * price->input + tokens(usage.cached) * price->cached +
                       tokens(usage.cache_written) * price->cache_written;
  const double output = tokens(usage.output) * price->output;
  // Dollars per million tokens are thousands of nanodollars per token.
  const double nanos = 1000 * (input * (is_long ? price->long_input : 1) +
                               output * (is_long ? price->long_output : 1));
  if (!(std::abs(nanos) < 9e18)) {
    return std::nullopt;
  }
  return Money{std::llround(nanos)};
}

}  // namespace reprise
