#pragma once

// What an answer cites, in the members that providers add to a text: `citations` of Anthropic and
// Perplexity, `annotations` of OpenAI and OpenRouter, `search_results` of Perplexity.

#include <string>
#include <vector>

#include "reprise/message.h"

namespace reprise {

// Untrusted: sanitize both for the place where they are shown. One of them may be "".
struct CitedSource {
  std::string title;
  std::string url;
};

// Each once, in the order of the text.
std::vector<CitedSource> cited_sources(const Message& message);

// "Title: URL", one line, sanitized for terminals.
std::string source_line(const CitedSource& source);

}  // namespace reprise
