#include "measure.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ratio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bench {
namespace {

double quantile(std::vector<double> values, double fraction) {
  if (values.empty()) {
    return 0;
  }
  std::ranges::sort(values);
  const double position = fraction * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (values[above] - values[below]) * (position - static_cast<double>(below));
}

bool is_met(double value, Goal goal) {
  return goal.sense == Goal::Sense::at_most ? value <= goal.value : value >= goal.value;
}

const char* sign(Goal goal) {
  return goal.sense == Goal::Sense::at_most ? "<=" : ">=";
}

}  // namespace

double micros_between(Clock::time_point begin, Clock::time_point end) {
  return std::chrono::duration<double, std::micro>(end - begin).count();
}

double Samples::median() const {
  return at(0.5);
}

double Samples::at(double fraction) const {
  return quantile(values_, fraction);
}

double Samples::spread() const {
  const double middle = median();
  return middle > 0 ? (quantile(values_, 0.75) - quantile(values_, 0.25)) / middle : 0;
}

// NOLINTNEXTLINE(readability-function-size): a table's row has so many columns.
Row row_of(std::string number, std::string name, const Samples& ours, const Samples& limit,
           std::string unit, Goal goal) {
  return {.number = std::move(number),
          .name = std::move(name),
          .ours = ours.median(),
          .limit = limit.median(),
          .unit = std::move(unit),
          .goal = goal,
          .spread = std::max(ours.spread(), limit.spread())};
}

void print(const Row& row) {
  const double ratio = row.limit > 0 ? row.ours / row.limit : 0;
  std::printf("| %-3s | %-44s | %10.2f | %10.2f | %-6s | %6.2f | %s %-4.4g | %-3s | %4.0f%% |\n",
              row.number.c_str(), row.name.c_str(), row.ours, row.limit, row.unit.c_str(), ratio,
              sign(row.goal), row.goal.value, is_met(ratio, row.goal) ? "yes" : "NO",
              row.spread * 100);
  (void)std::fflush(stdout);  // a lost line of a benchmark shows itself
}

void print_absolute(std::string_view number, std::string_view name, double ours,
                    std::string_view unit, Goal goal) {
  std::printf("| %-3.*s | %-44.*s | %10.2f | %10s | %-6.*s | %6s | %s %-4.4g | %-3s |       |\n",
              static_cast<int>(number.size()), number.data(), static_cast<int>(name.size()),
              name.data(), ours, "", static_cast<int>(unit.size()), unit.data(), "", sign(goal),
              goal.value, is_met(ours, goal) ? "yes" : "NO");
  (void)std::fflush(stdout);  // as above
}

void give_up(std::string_view reason) {
  (void)std::fprintf(stderr, "bench: %.*s\n", static_cast<int>(reason.size()), reason.data());
  std::exit(1);  // NOLINT(concurrency-mt-unsafe): nothing that is measured goes on
}

}  // namespace bench
