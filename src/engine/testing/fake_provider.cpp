#include "engine/testing/fake_provider.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "engine/reply.h"
#include "reprise/provider.h"

namespace reprise {
namespace {

bool is_word(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](char c) {
    return is_ascii_alnum(c) || c == '_' || c == '-';
  });
}

struct Checker {
  std::string problem;
  std::vector<std::string> open;
  std::set<std::string> ids;

  void complain(std::size_t place, std::string_view what) {
    if (problem.empty()) {
      problem = cat("message ", place, ": ", what);
    }
  }

  void check_call(std::size_t place, const ToolUseBlock& call, bool assistant) {
    if (!assistant) {
      complain(place, "a tool call of the user");
    }
    if (!is_word(call.id) || !is_word(call.name) || !is_object(call.input)) {
      complain(place, "a malformed tool call");
    }
    if (!ids.insert(call.id).second) {
      complain(place, "a duplicate tool call id");
    }
    open.push_back(call.id);
  }

  // Results come first and answer every open call.
  void check_results(std::size_t place, const Message& message) {
    auto block = message.blocks.begin();
    for (; block != message.blocks.end(); ++block) {
      const auto* result = std::get_if<ToolResultBlock>(&*block);
      if (result == nullptr) {
        break;
      }
      if (std::erase(open, result->tool_use_id) != 1) {
        complain(place, "a tool result without a call");
      }
      if (result->text.empty() || result->blob) {
        complain(place, "an empty tool result");
      }
    }
    if (std::any_of(block, message.blocks.end(), [](const Block& other) {
          return std::holds_alternative<ToolResultBlock>(other);
        })) {
      complain(place, "a tool result after other blocks");
    }
    if (!open.empty()) {
      complain(place, "a tool call without its result");
    }
  }

  void check_block(std::size_t place, const Block& block, bool assistant) {
    if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
      if (trimmed(text->text).empty()) {
        complain(place, "an empty text");
      }
    } else if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      check_call(place, *call, assistant);
    } else if (const auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      if (assistant || image->blob || image->url.empty()) {
        complain(place, "a bad image");
      }
    } else if (!assistant && !std::holds_alternative<ToolResultBlock>(block)) {
      complain(place, "thinking of the user");
    }
  }
};

}  // namespace

std::string refusal_of(const std::vector<Message>& messages,
                       const std::vector<std::string>& open_calls) {
  Checker checker{.problem = {}, .open = open_calls, .ids = {}};
  std::string before(role::kAssistant);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages.at(i);
    const bool assistant = message.role == role::kAssistant;
    if (!assistant && message.role != role::kUser) {
      checker.complain(i, "an invalid role");
    }
    if (message.role == before) {
      checker.complain(i, "the same role twice, or no user first");
    }
    before = message.role;
    checker.ids.clear();  // some servers restart their numbering in each answer
    if (message.blocks.empty()) {
      checker.complain(i, "an empty message");
    }
    if (assistant && std::ranges::any_of(message.blocks, [](const Block& block) {
          return std::holds_alternative<ToolResultBlock>(block);
        })) {
      checker.complain(i, "a tool result of the assistant");
    }
    checker.check_results(i, assistant ? Message{} : message);
    for (const Block& block : message.blocks) {
      checker.check_block(i, block, assistant);
    }
  }
  if (!checker.open.empty()) {
    checker.complain(messages.size(), "a tool call without its result");
  }
  // Except for an answer that paused while the provider's own tools run.
  const bool is_paused = !messages.empty() && !messages.back().blocks.empty() &&
                         std::holds_alternative<UnknownBlock>(messages.back().blocks.back());
  if (!messages.empty() && messages.back().role != role::kUser && !is_paused) {
    checker.complain(messages.size(), "the last message is not the user's");
  }
  return checker.problem;
}

Script& Script::text(std::string_view text) {
  steps.emplace_back([text = std::string(text)](const StreamSink& sink) { sink(TextDelta{text}); });
  return *this;
}

Script& Script::thinking(std::string_view text, std::string_view signature) {
  steps.emplace_back(
      [text = std::string(text)](const StreamSink& sink) { sink(ThinkingDelta{text}); });
  if (!signature.empty()) {
    steps.emplace_back([signature = std::string(signature)](const StreamSink& sink) {
      sink(ThinkingSignature{signature});
    });
  }
  return *this;
}

Script& Script::call(std::string_view id, std::string_view name, std::string_view input) {
  steps.emplace_back([id = std::string(id), name = std::string(name)](const StreamSink& sink) {
    sink(ToolUseBegin{id, name});
  });
  const std::size_t half = input.size() / 2;
  for (const auto piece : {input.substr(0, half), input.substr(half)}) {
    steps.emplace_back(
        [piece = std::string(piece)](const StreamSink& sink) { sink(ToolInputDelta{piece}); });
  }
  return *this;
}

Script& Script::raw(std::string_view json) {
  steps.emplace_back([json = *RawJson::parse(std::string(json))](const StreamSink& sink) {
    sink(RawBlock{json});
  });
  return *this;
}

Script& Script::started(std::string_view response_id, std::string_view model) {
  steps.emplace_back([id = std::string(response_id), model = std::string(model)](
                         const StreamSink& sink) { sink(ReplyStarted{id, model}); });
  return *this;
}

Script& Script::usage(std::int64_t input, std::int64_t output, std::string_view request_id) {
  Usage usage;
  usage.input = {input};
  usage.output = {output};
  usage.request_id = request_id;
  steps.emplace_back([usage](const StreamSink& sink) { sink(UsageReport{usage}); });
  return *this;
}

Script& Script::ended(StopReason reason, std::string_view word) {
  steps.emplace_back([reason, word = std::string(word)](const StreamSink& sink) {
    sink(ReplyEnded{reason, word});
  });
  return *this;
}

Script& Script::members(std::string_view json, bool of_call) {
  steps.emplace_back([json = *RawJson::parse(std::string(json)), of_call](const StreamSink& sink) {
    sink(BlockMembers{json, of_call});
  });
  return *this;
}

Script& Script::refuses(Refusal why, std::string message) {
  refusal = why;
  return fails(Code::invalid_argument, std::move(message));
}

Script& Script::retrying(Error why, std::chrono::milliseconds pause) {
  steps.emplace_back(
      [why = std::move(why), pause](const StreamSink& sink) { sink(Retrying{why, pause}); });
  return *this;
}

Script& Script::fails(Code code, std::string message) {
  error = Error{code, std::move(message)};
  return *this;
}

Script& Script::then(std::function<void()> action) {
  steps.emplace_back([action = std::move(action)](const StreamSink&) { action(); });
  return *this;
}

Script& FakeProvider::add() {
  return scripts.emplace_back();
}

Result<> FakeProvider::receive(Request& request) {
  SeenRequest seen_now{.model = request.model,
                       .system = request.system,
                       .previous_response_id = request.previous_response_id,
                       .store_response = request.store_response,
                       .tools = request.tools,
                       .messages = {},
                       .refusal = {}};
  for (int pass = 0; pass < (reads_twice ? 2 : 1); ++pass) {
    REPRISE_TRY(request.messages.rewind());
    std::vector<Message> messages;
    for (;;) {
      REPRISE_ASSIGN(auto message, request.messages.next());
      if (!message) {
        break;
      }
      messages.push_back(*std::move(message));
    }
    if (pass == 1 && messages != seen_now.messages) {
      return fail(Code::invalid_argument, "rewound messages differ");
    }
    seen_now.messages = std::move(messages);
  }
  if (request.previous_response_id.empty()) {
    seen_now.refusal = refusal_of(seen_now.messages);
  }
  seen_now.options = request.options;
  seen_now.conversation = request.conversation;
  seen_now.grows = request.grows;
  seen_now.form = request.form;
  seen.push_back(seen_now);
  if (!seen_now.refusal.empty()) {
    return fail(Code::invalid_argument, seen_now.refusal);
  }
  return {};
}

Result<> FakeProvider::stream(Request& request, const StreamSink& sink, std::stop_token stop) {
  REPRISE_TRY(receive(request));
  if (scripts.empty()) {
    return fail(Code::io, "no script");
  }
  const Script script = scripts.front();
  request.refusal = script.refusal;
  if (scripts.size() > 1) {
    scripts.pop_front();
  }
  for (const auto& step : script.steps) {
    if (stop.stop_requested()) {
      return fail(Code::cancelled, "stopped");
    }
    step(sink);
  }
  if (stop.stop_requested()) {
    return fail(Code::cancelled, "stopped");
  }
  return script.error ? Result<>(std::unexpected(*script.error)) : Result<>();
}

Result<std::string> FakeProvider::dry_run(Request& request) {
  REPRISE_TRY(receive(request));
  return cat("POST ", request.model, " ", seen.back().messages.size());
}

}  // namespace reprise
