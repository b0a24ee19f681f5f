#pragma once

// The numbers that a flag or a setting accepts.

#include <limits>
#include <string>

namespace reprise {

struct NumberRange {
  double min = -std::numeric_limits<double>::infinity();
  double max = std::numeric_limits<double>::infinity();

  bool holds(double number) const { return number >= min && number <= max; }
};

enum class NumberKind : unsigned char { whole, any };

// "a whole number from 1 to 1000", "a number of 0 or more", "a number"
std::string number_words(NumberKind kind, const NumberRange& range);

}  // namespace reprise
