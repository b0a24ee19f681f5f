#include "source/words.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "base/text.h"
#include "source/values.h"

namespace reprise::source {
namespace {

// Elements that programs put before or after the words, each at the beginning of a line.
constexpr std::string_view kElements[] = {"ide_opened_file",     "ide_selection",
                                          "ide_diagnostics",     "system-reminder",
                                          "environment_details", "editor_context"};

// The IDE extension of Codex puts the open files before the words.
constexpr std::string_view kIdeContext = "# Context from my IDE setup";
constexpr std::string_view kRequest = "## My request for Codex:";

// Gemini CLI and Qwen Code append the files that the words name.
constexpr std::string_view kFilesBegin = "--- Content from referenced files ---";
constexpr std::string_view kFilesEnd = "--- End of content ---";

// opencode appends what it has read: the call, then the contents.
constexpr std::string_view kReadTool = "Called the Read tool";
constexpr std::string_view kFile = "<file>";

struct TextPart {
  std::string_view text;
  bool is_program = false;
};

bool begins_line(std::string_view text, std::size_t at) {
  return at == 0 || text[at - 1] == '\n';
}

// The first element that begins a line: its beginning and its end; npos if there is none.
std::pair<std::size_t, std::size_t> find_element(std::string_view text) {
  std::pair<std::size_t, std::size_t> first = {std::string_view::npos, 0};
  for (const std::string_view name : kElements) {
    const std::string open = cat("<", name, ">");
    const std::size_t at = text.find(open);
    if (at < first.first && begins_line(text, at)) {
      const std::string close = cat("</", name, ">");
      const std::size_t end = text.find(close, at);
      first = {at, end == std::string_view::npos ? text.size() : end + close.size()};
    }
  }
  return first;
}

// The pieces of a text, in order, with all of its bytes.
std::vector<TextPart> parts_of_text(std::string_view text) {
  std::vector<TextPart> pieces;
  const auto add = [&pieces](std::string_view piece, bool is_program) {
    const bool is_blank = trimmed(piece).empty();
    const bool is_after_blank = !pieces.empty() && trimmed(pieces.back().text).empty();
    if (!pieces.empty() && (is_blank || is_after_blank || pieces.back().is_program == is_program)) {
      pieces.back().text = {pieces.back().text.data(), pieces.back().text.size() + piece.size()};
      pieces.back().is_program = is_blank ? pieces.back().is_program : is_program;
    } else if (!piece.empty()) {
      pieces.push_back({piece, is_program && !is_blank});
    }
  };
  const std::size_t start = text.find_first_not_of(" \n\r\t");
  if (start != std::string_view::npos && text.substr(start).starts_with(kIdeContext)) {
    const std::size_t request = text.find(kRequest);
    const std::size_t line = request == std::string_view::npos ? request : text.find('\n', request);
    const std::size_t end = line == std::string_view::npos ? text.size() : line + 1;
    add(text.substr(0, end), true);
    text.remove_prefix(end);
  }
  if (trimmed(text).starts_with(kReadTool)) {
    add(text, true);
    return pieces;
  }
  std::string_view files;
  if (const std::size_t at = text.find(kFilesBegin);
      at != std::string_view::npos && begins_line(text, at)) {
    files = text.substr(at);
    text = text.substr(0, at);
  }
  while (!text.empty()) {
    const auto [begin, end] = find_element(text);
    if (begin == std::string_view::npos) {
      add(text, false);
      break;
    }
    add(text.substr(0, begin), false);
    add(text.substr(begin, end - begin), true);
    text.remove_prefix(end);
  }
  add(files, true);
  return pieces;
}

}  // namespace

std::string words_of_person(std::string_view text) {
  std::string words;
  for (const TextPart& piece : parts_of_text(text)) {
    if (!piece.is_program) {
      words += piece.text;
    }
  }
  return trimmed(words).empty() ? "" : words;
}

std::string first_words(JsonView content) {
  std::string words = words_of_person(content.text());
  content.each([&](JsonView block) {
    if (words.empty() && block["type"].text() == "text") {
      words = words_of_person(block["text"].text());
    }
  });
  return words;
}

std::string first_words(Message question) {
  mark_program_texts(question);
  for (const Block& block : question.blocks) {
    const auto* const text = std::get_if<TextBlock>(&block);
    if (text != nullptr && text->extra.empty() && !is_injected(question)) {
      return text->text;
    }
  }
  return "";
}

void mark_program_texts(Message& message) {
  if (message.role != role::kUser || is_injected(message)) {
    return;
  }
  std::vector<Block> blocks;
  bool is_persons = false;
  bool is_in_files = false;
  bool is_after_call = false;
  for (Block& block : message.blocks) {
    auto* const text = std::get_if<TextBlock>(&block);
    if (text == nullptr) {
      is_persons = is_persons || !std::holds_alternative<ToolResultBlock>(block);
      blocks.push_back(std::move(block));
      continue;
    }
    const std::string whole = std::move(text->text);
    const std::string_view begin = trimmed(whole);
    const bool is_all = is_in_files || (is_after_call && begin.starts_with(kFile));
    is_in_files = (is_in_files || begin.starts_with(kFilesBegin)) && !whole.contains(kFilesEnd);
    is_after_call = begin.starts_with(kReadTool);
    std::vector<TextPart> pieces =
        is_all ? std::vector<TextPart>{{whole, true}} : parts_of_text(whole);
    if (pieces.empty()) {
      pieces.push_back({whole, false});
    }
    for (const TextPart& piece : pieces) {
      TextBlock part{std::string(piece.text), std::exchange(text->extra, {})};
      const bool is_marked =
          std::ranges::find(part.extra, kInjectedField, &ExtraField::name) != part.extra.end();
      if (piece.is_program && !is_marked) {
        mark_injected(part);
      }
      is_persons = is_persons || !(piece.is_program || is_marked);
      blocks.emplace_back(std::move(part));
    }
  }
  message.blocks = std::move(blocks);
  if (!is_persons && !message.blocks.empty()) {
    mark_injected(message);
  }
}

void complete_title(
    SessionInfo& info, const Tree& tree,
    const std::function<Result<Message>(std::span<const std::uint32_t> nodes)>& message) {
  constexpr std::size_t kMessagesMax = 8;
  const auto leaf = tree.leaf();
  if (!leaf || !info.title.empty()) {
    return;
  }
  const Branch branch = tree.branch(*leaf);
  std::string of_program;
  std::string of_model;
  for (std::size_t i = 0; i < std::min(branch.size(), kMessagesMax) && of_model.empty(); ++i) {
    const auto built = message(branch.message(i));
    if (!built) {
      break;  // reading it reports the error
    }
    std::string& words = is_injected(*built) ? of_program : of_model;
    words = words.empty() ? plain_text(*built) : words;
  }
  info.title = title_of(of_model.empty() ? of_program : of_model);
}

std::string title_by_tool(std::string_view stored) {
  constexpr std::string_view kPlaceholders[] = {
      "New chat", "New conversation", "New session", "Untitled session", "Untitled", "CLI session"};
  constexpr std::string_view kFork = " (fork #";
  for (const std::string_view prefix : {"New session - ", "Child session - "}) {
    const std::string_view time = stored.substr(0, stored.find(kFork));
    if (time.starts_with(prefix) && parse_time(time.substr(prefix.size()))) {
      return "";
    }
  }
  std::string title = title_of(stored);
  const auto is_it = [&](std::string_view name) { return ascii_lower(title) == ascii_lower(name); };
  return std::ranges::any_of(kPlaceholders, is_it) ? "" : title;
}

}  // namespace reprise::source
