// Rendered Markdown: no line is wider than the screen, and no sequence moves the cursor.

#include "cli/markdown/markdown.h"

#include <cstddef>
#include <cstdint>

#include "base/terminal_text.h"
#include "cli/markdown/style.h"
#include "fuzzing.h"

using reprise::fuzz::require;

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const std::size_t width = data[0] % 100U + 2U;
  const auto text = reprise::fuzz::text_of(data + 1, size - 1);
  for (const auto& line : reprise::cli::app::markdown_lines(text, width)) {
    require(reprise::cli::app::width_of(line) <= width, "a line is too wide");
    const auto words = reprise::cli::app::text_of(line);
    require(reprise::terminal_line(words) == words, "a line is not safe");
  }
  return 0;
}
