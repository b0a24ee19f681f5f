#include "fake_provider/answer.h"

#include <algorithm>
#include <charconv>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/text.h"
#include "base/utf8.h"

namespace reprise::fake {
namespace {

constexpr std::string_view kTail = " ✓ żółć 漢字 🙂";
constexpr std::int64_t kWordsMax = 10'000'000;
constexpr std::size_t kQuestionCharacters = 60;

// The number after "word:", or `otherwise`.
std::int64_t number_after(std::string_view text, std::string_view word, std::int64_t otherwise) {
  const auto at = text.find(word);
  if (at == std::string_view::npos) {
    return otherwise;
  }
  std::int64_t out = otherwise;
  const char* first = text.data() + at + word.size();
  (void)std::from_chars(first, text.data() + text.size(), out);  // unchanged if it is not a number
  return out;
}

std::string_view name_at(std::string_view text) {
  const auto ends = std::ranges::find_if_not(
      text, [](char c) { return is_ascii_alnum(c) || c == '_' || c == '-'; });
  return text.substr(0, static_cast<std::size_t>(ends - text.begin()));
}

std::vector<Call> scripted_calls(const Turn& turn) {
  constexpr std::string_view kWord = "call:";
  std::vector<Call> out;
  const std::string_view text = turn.question;
  for (auto at = text.find(kWord); at != std::string_view::npos; at = text.find(kWord, at + 1)) {
    const std::string_view name = name_at(text.substr(at + kWord.size()));
    const std::string_view rest = trimmed(text.substr(at + kWord.size() + name.size()));
    json::Scanner scanner(rest);
    std::string_view input;
    if (!rest.starts_with('{') || !scanner.raw(input)) {
      input = "{}";
    }
    if (std::ranges::find(turn.tools, name) != turn.tools.end()) {
      out.push_back({"", std::string(name), std::string(input)});
    }
  }
  return out;
}

std::string many_words(std::int64_t count) {
  std::string out;
  for (std::int64_t i = 1; i <= std::min(count, kWordsMax); ++i) {
    out += cat(i == 1 ? "" : " ", i % 10 == 0 ? "wörd" : "word", i);
  }
  return out;
}

// The question's first line, shortened to whole characters.
std::string short_question(std::string_view question) {
  const std::string_view line = question.substr(0, question.find('\n'));
  std::size_t at = 0;
  for (std::size_t count = 0; at < line.size() && count < kQuestionCharacters; ++count) {
    at += utf8::decode(line.substr(at)).bytes;
  }
  return std::string(line.substr(0, at));
}

std::string final_text(const Turn& turn) {
  if (const auto words = number_after(turn.question, "long:", 0); words > 0) {
    return many_words(words);
  }
  std::string out = cat(turn.goes_on ? "continued " : "answer ", turn.messages);
  if (!turn.results.empty()) {
    out += cat(" after ", turn.results.size(), " results (");
    for (const std::string& result : turn.results) {
      out += cat(&result == turn.results.data() ? "" : "; ", fingerprint(result));
    }
    out += ')';
  }
  return cat(out, " to: ", short_question(turn.question), kTail);
}

bool contains(std::string_view text, std::string_view word) {
  return text.find(word) != std::string_view::npos;
}

}  // namespace

Answer answer_to(const Turn& turn) {
  Answer out;
  out.model = turn.model;
  out.with_usage = turn.with_usage;
  if (turn.thinks || contains(turn.question, "think")) {
    out.thinking =
        cat("thinking about ", turn.messages, ": ", short_question(turn.question), kTail);
  }
  out.found = turn.searches;
  if (turn.pauses < number_after(turn.question, "pause:", 0)) {
    out.search = cat("srvtoolu_", turn.messages, "_", turn.pauses);
    return out;
  }
  if (turn.rounds < number_after(turn.question, "rounds:", 1)) {
    out.calls = scripted_calls(turn);
  }
  if (out.calls.empty()) {
    out.text = final_text(turn);
  } else if (contains(turn.question, "preface")) {
    out.text = cat("let me look", kTail);
  }
  return out;
}

std::string hex_of(std::uint64_t value) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out(16, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit, value >>= 4U) {
    *digit = kDigits[value & 0xFU];
  }
  return out;
}

std::string fingerprint(std::string_view bytes) {
  return cat(bytes.size(), " bytes ", hex_of(fnv1a(bytes)));
}

std::vector<std::string> pieces(std::string_view text, std::size_t characters) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    for (std::size_t count = 0; at < text.size() && count < characters; ++count) {
      at += utf8::decode(text.substr(at)).bytes;
    }
    out.emplace_back(text.substr(start, at - start));
  }
  return out;
}

}  // namespace reprise::fake
