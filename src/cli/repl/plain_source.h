#pragma once

// Lines as they come from a pipe, a file or a terminal without an editor.

#include <functional>
#include <memory>
#include <string_view>

#include "cli/repl/line_source.h"

namespace reprise::cli {

struct PlainSourceOptions {
  int input_fd = 0;
  // Shows the prompt; empty when nobody sees it.
  std::function<void(std::string_view prompt)> show = {};
};

// A final line without a line end counts. Lines are joined after a backslash and inside a fence,
// as in the editor.
std::unique_ptr<LineSource> make_plain_source(PlainSourceOptions options);

}  // namespace reprise::cli
