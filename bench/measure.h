#pragma once

// Samples, medians and the rows of the table that the benchmarks print.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

double micros_between(Clock::time_point begin, Clock::time_point end);

// Microseconds that `call` takes.
template <class Call>
double time_us(const Call& call) {
  const auto begin = Clock::now();
  call();
  return micros_between(begin, Clock::now());
}

class Samples {
 public:
  void add(double value) { values_.push_back(value); }
  double median() const;
  // Below which that part of them lies: 0.99 for all but the worst.
  double at(double fraction) const;
  // How far the middle half lies apart, as a part of the median: the machine's noise.
  double spread() const;

 private:
  std::vector<double> values_;
};

struct Goal {
  enum class Sense : unsigned char { at_most, at_least };
  Sense sense = Sense::at_most;
  double value = 0;
};
inline Goal at_most(double value) {
  return {Goal::Sense::at_most, value};
}
inline Goal at_least(double value) {
  return {Goal::Sense::at_least, value};
}

struct Row {
  std::string number;  // of the table of goals
  std::string name;
  double ours = 0;
  double limit = 0;
  std::string unit;
  Goal goal;  // for ours / limit
  double spread = 0;
};

Row row_of(std::string number, std::string name, const Samples& ours, const Samples& limit,
           std::string unit, Goal goal);

void print(const Row& row);
// A goal that is no ratio: 3 syncs, 16 MB.
void print_absolute(std::string_view number, std::string_view name, double ours,
                    std::string_view unit, Goal goal);

// Ends the program with a message when something that is not measured goes wrong.
[[noreturn]] void give_up(std::string_view reason);
inline void require(bool condition, std::string_view reason) {
  if (!condition) {
    give_up(reason);
  }
}

}  // namespace bench
