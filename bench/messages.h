#pragma once

// The messages that are written and read, and checks of the stores' results.

#include <cstddef>

#include "measure.h"
#include "reprise/message.h"

namespace bench {

// Ordinary prose with a few characters to escape; always the same.
std::string text_of(std::size_t bytes);

// A message with such a text and the current time.
reprise::Message message_of(std::string_view role, std::size_t bytes);

// Ends the program with the error.
template <class T>
T must(reprise::Result<T> result) {
  require(result.has_value(), result ? "" : result.error().message);
  return *std::move(result);
}

}  // namespace bench
