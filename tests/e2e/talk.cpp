#include "e2e/talk.h"

#include "base/json_scan.h"
#include "reprise/provider.h"

namespace reprise::e2e {
namespace {

// Assembles the reply from events.
class Gatherer {
 public:
  explicit Gatherer(Reply& reply) : reply_(reply) {}

  void operator()(const TextDelta& event) { last<TextBlock>().text += event.text; }
  void operator()(const ThinkingDelta& event) { last<ThinkingBlock>().text += event.text; }
  void operator()(const ThinkingSignature& event) {
    last<ThinkingBlock>().signature += event.signature;
  }
  void operator()(const ToolUseBegin& event) {
    end_call();
    ToolUseBlock call;
    call.id = event.id;
    call.name = event.name;
    reply_.blocks.emplace_back(std::move(call));
    in_call_ = true;
  }
  void operator()(const ToolInputDelta& event) { input_ += event.json; }
  void operator()(const RawBlock& event) {
    end_call();
    std::string type;
    json::Scanner scanner(json::find_member(event.json.text(), "type"));
    (void)scanner.string(type);  // "" if it has none
    reply_.blocks.emplace_back(UnknownBlock{type, event.json});
  }
  void operator()(const BlockMembers& /*event*/) {}
  void operator()(const ReplyStarted& event) {
    reply_.response_id = event.response_id;
    reply_.model = event.model;
  }
  void operator()(const UsageReport& event) { reply_.usage = event.usage; }
  void operator()(const ReplyEnded& event) { reply_.ended = event.reason; }
  void operator()(const Retrying& event) { reply_.retries.push_back(event); }
  void operator()(const ParameterLeftOut& /*event*/) {}  // only for display
  void operator()(const KeyMasked& /*event*/) {}

  void end_call() {
    if (!std::exchange(in_call_, false)) {
      return;
    }
    auto parsed = RawJson::parse(input_.empty() ? "{}" : input_);
    std::get<ToolUseBlock>(reply_.blocks.back()).input =
        parsed ? *std::move(parsed) : RawJson::string(input_);
    input_.clear();
  }

 private:
  template <class Kind>
  Kind& last() {
    end_call();
    if (reply_.blocks.empty() || !std::holds_alternative<Kind>(reply_.blocks.back())) {
      reply_.blocks.emplace_back(Kind{});
    }
    return std::get<Kind>(reply_.blocks.back());
  }

  Reply& reply_;
  bool in_call_ = false;
  std::string input_;
};

template <class Kind>
std::string joined(const std::vector<Block>& blocks) {
  std::string out;
  for (const Block& block : blocks) {
    if (const auto* found = std::get_if<Kind>(&block); found != nullptr) {
      out += found->text;
    }
  }
  return out;
}

}  // namespace

Result<std::optional<Message>> ListedMessages::next() {
  if (at_ == messages_.size()) {
    return std::optional<Message>();
  }
  return messages_[at_++];
}

Result<> ListedMessages::rewind() {
  at_ = 0;
  return {};
}

std::int64_t ListedMessages::bytes_estimate() const {
  std::int64_t out = 0;
  for (const Message& message : messages_) {
    out += static_cast<std::int64_t>(blocks_to_json(message.blocks).size());
  }
  return out;
}

std::string Reply::text() const {
  return joined<TextBlock>(blocks);
}

std::string Reply::thinking() const {
  return joined<ThinkingBlock>(blocks);
}

std::vector<ToolUseBlock> Reply::calls() const {
  std::vector<ToolUseBlock> out;
  for (const Block& block : blocks) {
    if (const auto* call = std::get_if<ToolUseBlock>(&block); call != nullptr) {
      out.push_back(*call);
    }
  }
  return out;
}

Reply conversation(Provider& provider, const Ask& ask, std::stop_token stop) {
  ListedMessages messages(ask.messages);
  Request request{.model = ask.model,
                  .system = ask.system,
                  .tools = ask.tools,
                  .previous_response_id = ask.previous_response_id,
                  .stream = ask.stream,
                  .messages = messages};
  Reply out;
  Gatherer gatherer(out);
  const auto sink = [&](const StreamEvent& event) {
    std::visit(gatherer, event);
    ask.watch(event);
  };
  out.result = provider.stream(request, sink, std::move(stop));
  gatherer.end_call();
  return out;
}

Message user(std::string_view text) {
  return message(role::kUser, {TextBlock{std::string(text), {}}});
}

Message message(std::string_view role, std::vector<Block> blocks) {
  Message out;
  out.role = role;
  out.blocks = std::move(blocks);
  return out;
}

}  // namespace reprise::e2e
