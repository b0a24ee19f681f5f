// echo: the built-in model, for use without a key and a network. It answers with the last user
// message, word by word; asked to continue an interrupted answer, it sends the missing part.

#include <chrono>
#include <string>

#include "base/json_write.h"
#include "provider/request_parts.h"
#include "provider/retry.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

// The usual estimate without a tokenizer: four bytes per token.
TokenCount tokens_in(std::int64_t bytes) {
  return {(bytes + 3) / 4};
}

// The text of a user message or of tool results; "" for others.
std::string words_of(const Message& message) {
  std::string out = plain_text(message);
  for (const Block& block : message.blocks) {
    const auto* result = std::get_if<ToolResultBlock>(&block);
    if (result != nullptr && !result->text.empty()) {
      out += out.empty() ? "" : "\n\n";
      out += result->text;
    }
  }
  return out;
}

// The next word with the preceding blanks.
std::string_view next_word(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const auto begin = text.find_first_not_of(kBlanks);
  return text.substr(0, text.find_first_of(kBlanks, begin));
}

struct ParsedRequest {
  std::string question = {};
  std::int64_t bytes = 0;
};

// The part that an interrupted answer lacks; "" if it was not an echo.
std::string_view missing_part(std::string_view question, std::string_view incomplete_answer) {
  return !incomplete_answer.empty() && question.starts_with(incomplete_answer)
             ? question.substr(incomplete_answer.size())
             : std::string_view();
}

Result<ParsedRequest> read_request(Request& request) {
  REPRISE_TRY(request.messages.rewind());
  ParsedRequest out{.bytes = static_cast<std::int64_t>(request.system.size())};
  std::string incomplete_answer;
  while (true) {
    REPRISE_ASSIGN(const std::optional<Message> message, request.messages.next());
    if (!message) {
      return out;
    }
    std::string words = words_of(*message);
    out.bytes += static_cast<std::int64_t>(words.size());
    if (message->role == role::kAssistant) {
      incomplete_answer = message->state == MessageState::incomplete ? words : "";
    } else if (const auto missing = missing_part(out.question, incomplete_answer);
               !missing.empty()) {
      out.question = std::string(missing);
      incomplete_answer.clear();
    } else {
      out.question = std::move(words);
    }
  }
}

class Echo final : public Provider {
 public:
  explicit Echo(std::chrono::milliseconds delay) : delay_(delay) {}

  std::string_view name() const override { return "echo"; }

  Result<> stream(Request& request, const StreamSink& sink, std::stop_token stop) override {
    REPRISE_ASSIGN(const ParsedRequest parsed, read_request(request));
    const std::string id = provider::request_id_of("", "");
    sink(ReplyStarted{"", request.model.empty() ? name() : std::string_view(request.model)});
    std::string_view remaining = parsed.question.empty() ? std::string_view("(nothing to repeat)")
                                                         : std::string_view(parsed.question);
    std::int64_t bytes = 0;
    while (!remaining.empty()) {
      if (stop.stop_requested() ||
          (bytes > 0 && delay_.count() > 0 && !provider::sleep_for(delay_, stop))) {
        return fail(Code::cancelled, "stopped");
      }
      const std::string_view word = request.stream ? next_word(remaining) : remaining;
      sink(TextDelta{word});
      bytes += static_cast<std::int64_t>(word.size());
      remaining.remove_prefix(word.size());
    }
    sink(UsageReport{{.input = tokens_in(parsed.bytes),
                      .output = tokens_in(bytes),
                      .reasoning = {},
                      .cached = {},
                      .cost = std::nullopt,
                      .price_source = {},
                      .request_id = id,
                      .extra = {}}});
    sink(ReplyEnded{StopReason::end});
    return {};
  }

  Result<std::vector<ModelInfo>> models(std::chrono::milliseconds /*timeout*/,
                                        std::stop_token /*stop*/) override {
    return std::vector{ModelInfo{.id = "echo", .name = {}, .ends_on = {}}};
  }

  Result<std::string> dry_run(Request& request) override {
    REPRISE_ASSIGN(const ParsedRequest parsed, read_request(request));
    return "echo: nothing is sent; it would answer " + json::quoted(parsed.question) + "\n";
  }

 private:
  std::chrono::milliseconds delay_;
};

}  // namespace

std::unique_ptr<Provider> make_echo_provider(std::chrono::milliseconds delay) {
  return std::make_unique<Echo>(delay);
}

}  // namespace reprise
