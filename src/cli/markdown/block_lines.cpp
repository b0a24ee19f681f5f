#include "cli/markdown/block_lines.h"

#include <utility>

#include "cli/markdown/style.h"

namespace reprise::cli::app {
namespace {

constexpr std::size_t kDepthMax = 16;
constexpr std::size_t kRoomMin = 10;

void append_line(Line& line, const Line& more) {
  for (const Span& span : more) {
    append(line, span.text, span.style);
  }
}

}  // namespace

// Containers beyond the depth limit or the available width are counted, but not indented.
void BlockLines::push(Container container) {
  const bool has_room = room() >= width_of(container.rest) + kRoomMin;
  if (too_deep_ == 0 && has_room && containers_.size() < kDepthMax) {
    containers_.push_back(std::move(container));
  } else {
    ++too_deep_;
  }
}

void BlockLines::pop() {
  if (too_deep_ > 0) {
    --too_deep_;
  } else {
    containers_.pop_back();
  }
}

std::size_t BlockLines::room() const {
  std::size_t taken = 0;
  for (const Container& container : containers_) {
    taken += width_of(container.rest);
  }
  return width_ - taken;
}

void BlockLines::add_gap() {
  if (!std::exchange(gap_pending_, false)) {
    return;
  }
  Line line;
  for (const Container& container : containers_) {
    append_line(line, container.rest);
  }
  done_.push_back(std::move(line));
}

void BlockLines::add(const std::vector<Line>& lines) {
  for (const Line& line : lines) {
    Line whole;
    for (Container& container : containers_) {
      append_line(whole, container.mark.empty() ? container.rest : container.mark);
      container.mark.clear();
    }
    append_line(whole, line);
    done_.push_back(std::move(whole));
  }
  gap_pending_ = true;
}

}  // namespace reprise::cli::app
