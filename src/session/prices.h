#pragma once

// What requests cost, for those whose provider does not say.

#include <span>

#include "reprise/message.h"

namespace reprise {

// US dollars for a million tokens.
struct Price {
  std::string model;
  double input = 0;
  double output = 0;
  double cached = 0;         // input read from the cache
  double cache_written = 0;  // input written to it
  // Requests with more input cost more, for all of their tokens. 0: all cost the same.
  std::int64_t long_above = 0;
  double long_input = 1;  // times the price
  double long_output = 1;
};

// The standard prices of the providers' own pages, without tiers and discounts.
struct PriceList {
  std::string_view as_of;
  std::span<const std::string_view> sources;
  std::span<const Price> prices;
};
const PriceList& usual_prices();

// "MODEL INPUT OUTPUT [CACHED [CACHE_WRITTEN]]", in dollars for a million tokens; what is left out
// costs as input does. invalid_argument for anything else.
Result<Price> parse_price(std::string_view text);

class Prices {
 public:
  // `own` go before the usual ones.
  explicit Prices(std::vector<Price> own) : own_(std::move(own)) {}
  // Of a model, by its name with or without what comes before a slash, the date of a version, and
  // "[1m]". Null: none is known.
  const Price* find(std::string_view model) const;
  // What the provider said, else what the price of the model makes. nullopt: neither is known.
  std::optional<Money> cost(const Usage& usage, std::string_view model) const;

 private:
  std::vector<Price> own_;
};

}  // namespace reprise
