#pragma once

// Computes the cost of requests for which the provider does not report it.

#include <span>

#include "reprise/message.h"

namespace reprise {

// US dollars per million tokens.
struct Price {
  std::string model;
  double input = 0;
  double output = 0;
  double cached = 0;         // input read from the cache
  double cache_written = 0;  // input written to it
  // Requests with more input tokens have a higher price for all tokens. 0: no such limit.
  std::int64_t long_above = 0;
  double long_input = 1;  // factors above that limit
  double long_output = 1;
};

// The standard prices published by the providers, without tiers and discounts, and that of the
// built-in model: nothing.
struct PriceList {
  std::string_view as_of;
  std::span<const std::string_view> sources;
  std::span<const Price> prices;
};
const PriceList& standard_prices();

// "MODEL INPUT OUTPUT [CACHED [CACHE_WRITTEN]]", in dollars per million tokens; omitted prices are
// the same as for input. invalid_argument for anything else.
Result<Price> parse_price(std::string_view text);

class Prices {
 public:
  // `own` prices have precedence over the default ones.
  explicit Prices(std::vector<Price> own) : own_(std::move(own)) {}
  // The price of a model, ignoring a prefix up to a slash, the date of a version, and "[1m]". Null
  // if unknown.
  const Price* find(std::string_view model) const;
  // The cost reported by the provider, else computed from the model's price. nullopt if unknown.
  std::optional<Money> cost(const Usage& usage, std::string_view model) const;

 private:
  std::vector<Price> own_;
};

}  // namespace reprise
