#include "engine/request_plan.h"

#include <algorithm>

#include "base/text.h"
#include "engine/blobs.h"
#include "engine/maker.h"
#include "engine/message_of.h"
#include "engine/record.h"
#include "engine/request_view.h"
#include "engine/session_notes.h"

namespace reprise {
namespace {

constexpr std::size_t kSampleMessages = 32;  // of the newest, for the size and a stored prompt
constexpr std::int64_t kSampleBytes = 256 << 10;
constexpr std::int64_t kFirstMessages = 8;     // where older formats store the prompt
constexpr std::size_t kNewMessagesMax = 1000;  // after the answer that is continued
constexpr std::int64_t kMessageBytes = 64;     // overhead per message

std::vector<std::string> call_ids(const Message& message) {
  std::vector<std::string> ids;
  for (const ToolUseBlock* const call : tool_calls(message)) {
    ids.push_back(call->id);
  }
  return ids;
}

std::int64_t stored_count(const HistorySlice& slice) {
  return slice.store == nullptr ? 0 : std::max<std::int64_t>(0, slice.to.value - slice.from.value);
}

struct Sample {
  std::int64_t bytes_estimate = 0;
  std::optional<std::string> prompt;  // the latest stored system message
  std::optional<Time> question;       // when the last one was asked
  std::optional<RequestForm> form;    // that the target accepted last
  std::vector<Usage> usages;
};

// Estimates the total size from the newest messages, and looks for a prompt, the last question and
// the last answer of the target among them.
Result<Sample> sample_history(const HistorySlice& slice, const Maker& target) {
  Sample sample;
  std::int64_t stored = 0;
  std::int64_t stored_bytes = 0;
  std::int64_t memory_bytes = 0;
  const auto sink = [&](const Message& message, const HistoryPosition& position) {
    const auto bytes = text_bytes(message) + kMessageBytes;
    (position.in_memory ? memory_bytes : stored_bytes) += bytes;
    stored += position.in_memory ? 0 : 1;
    if (message.role == role::kSystem && !sample.prompt) {
      sample.prompt = plain_text(message);
    }
    if (message.usage) {
      sample.usages.push_back(*message.usage);
    }
    if (is_question(message) && !sample.question) {
      sample.question = message.created_at;
    }
    if (const auto maker = sample.form ? std::nullopt : maker_of(message);
        maker && is_same(*maker, target)) {
      sample.form = form_of(message);
    }
    return stored >= static_cast<std::int64_t>(kSampleMessages) || stored_bytes >= kSampleBytes
               ? Flow::stop
               : Flow::proceed;
  };
  REPRISE_TRY(read_backwards(slice, sink));
  sample.bytes_estimate = memory_bytes;
  if (stored > 0) {
    sample.bytes_estimate += stored_bytes / stored * stored_count(slice);
  }
  return sample;
}

Result<std::optional<std::string>> first_prompt(const HistorySlice& slice) {
  std::optional<std::string> prompt;
  if (slice.store == nullptr || slice.from >= slice.to) {
    return prompt;
  }
  const ReadRange range{.from = slice.from,
                        .to = std::min(slice.to, slice.from.next(kFirstMessages))};
  const auto sink = [&prompt](Message&& message) {  // NOLINT(*-rvalue-reference-param-not-moved)
    if (message.role == role::kSystem) {
      prompt = plain_text(message);
    }
    return Flow::proceed;
  };
  REPRISE_TRY(slice.store->read(slice.session, range, sink));
  return prompt;
}

HistoryPosition after(HistoryPosition position) {
  ++position.index;
  if (position.seq) {
    position.seq = position.seq->next();
  }
  return position;
}

struct Continuation {
  std::string response_id;
  HistoryPosition answer;
  std::vector<std::string> open_calls;
};

// Finds the last answer, if the provider still has it and all later messages can be sent to it. One
// that was refused is not continued.
// Takes time independent of the length of the record.
Result<std::optional<Continuation>> find_continuation(const HistorySlice& slice,
                                                      const Provider& provider) {
  std::optional<Continuation> found;
  std::size_t newer = 0;
  bool is_refused = false;  // the turn that is read
  const auto sink = [&](const Message& message, const HistoryPosition& position) {
    is_refused = (is_refused || is_refused_answer(message)) && !is_question(message);
    if (is_refused) {
      return ++newer < kNewMessagesMax ? Flow::proceed : Flow::stop;
    }
    if (message.role == role::kUser || message.role == role::kTool) {
      return ++newer < kNewMessagesMax ? Flow::proceed : Flow::stop;
    }
    if (message.role == role::kAssistant && message.state == MessageState::complete &&
        message.provider == provider.name() && !message.response_id.empty()) {
      found = Continuation{message.response_id, position, call_ids(message)};
    }
    return Flow::stop;
  };
  REPRISE_TRY(read_backwards(slice, sink));
  return found;
}

// Drops everything before the position.
void begin_at(HistorySlice& slice, const HistoryPosition& position) {
  if (position.in_memory) {
    slice.from = slice.to;
    slice.memory = slice.memory.subspan(position.index);
  } else {
    slice.from = position.seq.value_or(slice.from);
  }
}

// The newest whole turns within the budget, at least the last one.
struct BudgetLimit {
  std::optional<HistoryPosition> start;
  std::optional<Message> question;  // the question at `start`
  bool is_complete = true;
  TokenCount tokens;
};

Result<BudgetLimit> limit_to_budget(const HistorySlice& slice, TokenCount budget) {
  BudgetLimit limit;
  TokenCount tokens;
  std::optional<Message> next;  // if it is a question
  const auto sink = [&](const Message& message, const HistoryPosition& position) {
    if (next && is_abandoned(message, *next, slice.refused)) {
      return Flow::proceed;
    }
    next = is_question(message) ? std::optional(message) : std::nullopt;
    tokens += estimate_tokens(message) + blob_tokens(message);
    if (tokens > budget && limit.start) {
      limit.is_complete = false;
      return Flow::stop;
    }
    if (is_plain_question(message)) {
      limit.start = position;
      limit.question = message;
      limit.tokens = tokens;
    }
    return Flow::proceed;
  };
  REPRISE_TRY(read_backwards(slice, sink));
  return limit;
}

class Planner {
 public:
  Planner(const Record& record, PlanOptions options)
      : record_(record),
        options_(std::move(options)),
        plan_{.view = {.slice = options_.slice ? *options_.slice : record.slice()}} {
    plan_.view.slice.last = options_.last;
    plan_.view.target = maker_at(options_.provider, options_.options.model);
    plan_.grows = !options_.last;
    plan_.conversation = record.session().info.id.str();
  }

  Result<> check_prompt() {
    const auto& budget = options_.options.budget;
    if (!budget) {
      return {};
    }
    REPRISE_ASSIGN(const Sample sample, sample_history(plan_.view.slice, plan_.view.target));
    REPRISE_TRY(choose_prompt(sample));
    if (plan_.system.empty()) {
      return {};
    }
    const TokenCount prompt =
        estimate_tokens(message_of(role::kSystem, {TextBlock{std::move(plan_.system), {}}}));
    if (prompt > *budget) {
      return fail(Code::invalid_argument, cat("the system prompt alone takes about ", prompt.value,
                                              " tokens, more than the budget of ", budget->value,
                                              "; shorten it or raise the budget"));
    }
    return {};
  }

  Result<std::optional<TokenCount>> part(double part) {
    REPRISE_TRY(begin_at_recorded_start());
    const HistorySlice& slice = plan_.view.slice;
    const TokenCount all{std::numeric_limits<std::int64_t>::max()};
    REPRISE_ASSIGN(const BudgetLimit sent, limit_to_budget(slice, budget().value_or(all)));
    // Large turns may leave nothing between a part and the last turn.
    for (const double some : {part, 0.0}) {
      const TokenCount tokens{
          static_cast<std::int64_t>(static_cast<double>(sent.tokens.value) * some)};
      REPRISE_ASSIGN(const BudgetLimit reduced, limit_to_budget(slice, tokens));
      if (reduced.start && reduced.tokens < sent.tokens) {
        return std::optional(tokens);
      }
    }
    return std::optional<TokenCount>();
  }

  RequestPlan plan() {
    if (const auto done = build(); !done) {
      plan_.fault = done.error();
      plan_.view.slice.from = plan_.view.slice.to;
      plan_.system = configured_prompt().value_or("");
    }
    return std::move(plan_);
  }

 private:
  std::optional<std::string> configured_prompt() const {
    if (options_.options.system) {
      return options_.options.system;
    }
    const std::string& prompt = record_.session().system_prompt;
    return prompt.empty() ? std::nullopt : std::optional(prompt);
  }

  std::optional<TokenCount> budget() const {
    return options_.budget ? options_.budget : options_.options.budget;
  }

  Result<> build() {
    REPRISE_ASSIGN(Sample sample, sample_history(plan_.view.slice, plan_.view.target));
    plan_.recent = std::move(sample.usages);
    plan_.view.bytes_estimate = sample.bytes_estimate;
    plan_.view.question = sample.question;
    REPRISE_TRY(choose_prompt(sample));
    choose_form(sample);
    // Messages that are stored nowhere else cannot be sent.
    plan_.store_response = record_.is_by_response();
    const bool by_id = options_.provider.continues_responses() ||
                       (options_.provider.stores_responses() && plan_.store_response);
    if (options_.by_response_id && by_id) {
      REPRISE_ASSIGN(const bool continued, continue_from_response());
      if (continued) {
        return {};
      }
    }
    REPRISE_TRY(begin_at_recorded_start());
    const auto budget = this->budget();
    return budget ? apply_budget(*budget) : Result<>();
  }

  // Starts at the noted question, if the model is the same and the record is unchanged there.
  Result<> begin_at_recorded_start() {
    HistorySlice& slice = plan_.view.slice;
    const auto start = request_start(record_.session().extra);
    if (!start || start->provider != options_.provider.name() ||
        start->model != options_.options.model || slice.store == nullptr ||
        start->seq <= slice.from || start->seq >= slice.to) {
      return {};
    }
    bool is_same = false;
    const auto sink = [&](Message&& message) {  // NOLINT(*-rvalue-reference-param-not-moved)
      is_same = is_plain_question(message) && message.created_at == start->question_at;
      return Flow::stop;
    };
    const ReadRange range{.from = start->seq, .to = start->seq.next()};
    REPRISE_TRY(slice.store->read(slice.session, range, sink));
    if (is_same) {
      slice.from = start->seq;
      REPRISE_ASSIGN(const Sample sample, sample_history(slice, plan_.view.target));
      plan_.view.bytes_estimate = sample.bytes_estimate;
      plan_.notes.push_back(cat("request: starts at message ", start->seq.value,
                                ", because the model rejected a longer one"));
    }
    return {};
  }

  Result<> choose_prompt(const Sample& sample) {
    auto prompt = configured_prompt();
    if (!prompt) {
      prompt = sample.prompt;
    }
    if (!prompt) {
      REPRISE_ASSIGN(prompt, first_prompt(plan_.view.slice));
    }
    plan_.system = prompt.value_or("");
    if (trimmed(plan_.system).empty()) {
      plan_.system.clear();  // servers reject it
    }
    return {};
  }

  void choose_form(const Sample& sample) {
    const RequestForm usual = options_.provider.usual_form();
    plan_.form = options_.form.value_or(sample.form.value_or(usual));
    plan_.view.form = plan_.form;
    if (plan_.form.prompt_in_question) {
      plan_.view.prompt = std::exchange(plan_.system, {});
    }
  }

  Result<bool> continue_from_response() {
    HistorySlice& slice = plan_.view.slice;
    REPRISE_ASSIGN(auto found, find_continuation(slice, options_.provider));
    if (found) {
      begin_at(slice, after(found->answer));
      plan_.previous_response_id = std::move(found->response_id);
      plan_.view.open_calls = std::move(found->open_calls);
      plan_.view.bytes_estimate = 0;
      return true;
    }
    const auto& chain = record_.session().response_chain;
    if (!record_.is_by_response() || chain.empty() ||
        chain.back().provider != options_.provider.name()) {
      return false;
    }
    plan_.previous_response_id = chain.back().response_id;
    drop_known(chain.back().response_id);
    return true;
  }

  // Messages of this run up to that answer are known to the provider, too.
  void drop_known(std::string_view response_id) {
    std::span<const Message>& memory = plan_.view.slice.memory;
    for (std::size_t i = memory.size(); i > 0; --i) {
      if (memory[i - 1].response_id == response_id) {
        memory = memory.subspan(i);
        return;
      }
    }
  }

  Result<> apply_budget(TokenCount budget) {
    HistorySlice& slice = plan_.view.slice;
    REPRISE_ASSIGN(const BudgetLimit limit, limit_to_budget(slice, budget));
    if (limit.is_complete || !limit.start || !limit.question) {
      return {};
    }
    begin_at(slice, *limit.start);
    plan_.grows = false;
    if (options_.budget) {
      plan_.reduced_start = start_of(*limit.start, *limit.question);
    }
    plan_.view.bytes_estimate = limit.tokens.value * 4;
    plan_.notes.push_back(cat("request: about ", limit.tokens.value,
                              " tokens of history sent, older "
                              "turns left out to stay within the budget of ",
                              budget.value));
    return {};
  }

  // nullopt while the question is not stored.
  std::optional<RequestStart> start_of(const HistoryPosition& position,
                                       const Message& question) const {
    if (!position.seq) {
      return std::nullopt;
    }
    return RequestStart{.seq = *position.seq,
                        .question_at = question.created_at,
                        .provider = std::string(options_.provider.name()),
                        .model = options_.options.model};
  }

  const Record& record_;
  PlanOptions options_;
  RequestPlan plan_;
};

}  // namespace

RequestPlan plan_request(const Record& record, PlanOptions options) {
  return Planner(record, std::move(options)).plan();
}

std::optional<TokenCount> part_of_history(const Record& record, PlanOptions options, double part) {
  return Planner(record, std::move(options)).part(part).value_or(std::nullopt);
}

Result<> check_prompt_fits(const Record& record, PlanOptions options) {
  return Planner(record, std::move(options)).check_prompt();
}

Request make_request(const ConversationOptions& options, RequestPlan& plan, RequestView& view) {
  return {.model = options.model,
          .system = std::move(plan.system),
          .temperature = options.temperature,
          .max_tokens = options.max_tokens,
          .tools = options.tools != nullptr ? options.tools->specs() : std::vector<ToolSpec>(),
          .previous_response_id = std::move(plan.previous_response_id),
          .store_response = plan.store_response,
          .stream = options.stream,
          .options = options.request,
          .conversation = std::move(plan.conversation),
          .grows = plan.grows,
          .form = plan.form,
          .given = options.given,
          .messages = view};
}

}  // namespace reprise
