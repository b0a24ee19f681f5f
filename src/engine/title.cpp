#include <algorithm>
#include <stop_token>

#include "base/terminal_text.h"
#include "base/text.h"
#include "base/utf8.h"
#include "engine/message_of.h"
#include "reprise/conversation.h"

namespace reprise {
namespace {

constexpr std::size_t kTitleCharactersMax = 50;
constexpr std::size_t kModelTitleBytesMax = 80;
constexpr std::size_t kExcerptBytesMax = 2000;

bool has_words(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return is_ascii_alnum(c) || static_cast<unsigned char>(c) >= 0x80U; });
}

std::string excerpt(std::string_view text) {
  const std::string_view head = text.substr(0, kExcerptBytesMax);
  return std::string(head.substr(0, utf8::valid_prefix(head)));
}

std::string_view without_quotes(std::string_view title) {
  for (const char quote : {'"', '\'', '*', '`'}) {
    if (title.size() >= 2 && title.front() == quote && title.back() == quote) {
      title = trimmed(title.substr(1, title.size() - 2));
    }
  }
  return title;
}

Result<std::string> acceptable_title(std::string_view answer) {
  const std::string_view title = without_quotes(trimmed(answer));
  if (!has_words(title)) {
    return fail(Code::invalid_argument, "the model returned an empty title");
  }
  if (title.find_first_of("\r\n") != std::string_view::npos) {
    return fail(Code::invalid_argument, "the model returned a title of several lines");
  }
  if (title.size() > kModelTitleBytesMax) {
    return fail(Code::invalid_argument, "the model returned a title that is too long");
  }
  return clean_line(title);
}

// The first characters of the line, without a part of a word unless the word is longer than half of
// them.
std::string_view shortened(std::string_view line) {
  const std::string_view prefix = grapheme_prefix(line, kTitleCharactersMax);
  const std::size_t blank = prefix.rfind(' ');
  const bool ends_in_word = prefix.size() < line.size() && line[prefix.size()] != ' ';
  const bool is_long_enough = blank != std::string_view::npos && blank >= prefix.size() / 2;
  return trimmed(ends_in_word && is_long_enough ? prefix.substr(0, blank) : prefix);
}

}  // namespace

std::string title_from_prompt(std::string_view prompt) {
  const std::string clean = utf8::sanitize(prompt);
  std::string_view remaining = clean;
  while (!remaining.empty()) {
    const auto line_end = remaining.find_first_of("\r\n");
    const std::string line = clean_line(remaining.substr(0, line_end));
    if (has_words(line)) {
      return std::string(shortened(line));
    }
    remaining.remove_prefix(line_end == std::string_view::npos ? remaining.size() : line_end + 1);
  }
  return "";
}

Result<std::string> ask_for_title(Provider& provider, std::string_view model,
                                  std::string_view first_prompt, std::string_view first_answer,
                                  std::stop_token stop) {
  Message question =
      message_of(role::kUser, {TextBlock{cat("Give this conversation a title of five words or "
                                             "less. Answer with the title alone.\n\n",
                                             "Person: ", excerpt(utf8::sanitize(first_prompt)),
                                             "\n\nAnswer: ", excerpt(utf8::sanitize(first_answer))),
                                         {}}});
  FixedMessages messages({std::move(question)});
  Request request{.model = std::string(model),
                  .system = "You name conversations.",
                  .temperature = std::nullopt,
                  .max_tokens = std::nullopt,
                  .tools = {},
                  .previous_response_id = {},
                  .stream = true,
                  .messages = messages};
  std::string answer;
  const auto collect = [&answer](const StreamEvent& event) {
    if (const auto* delta = std::get_if<TextDelta>(&event); delta != nullptr) {
      answer += delta->text;
    }
  };
  REPRISE_TRY(provider.stream(request, collect, std::move(stop)));
  return acceptable_title(answer);
}

}  // namespace reprise
