#include "engine/request_plan.h"

#include <algorithm>
#include <limits>

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
constexpr std::int64_t kSampleMessagesMin = 4;  // however large: the last answer is among them
constexpr std::int64_t kFirstMessages = 8;      // where older formats store the prompt
constexpr std::size_t kNewMessagesMax = 1000;   // after the answer that is continued
constexpr std::int64_t kMessageBytes = 64;      // overhead per message

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
  std::optional<RequestStart> start;  // of that request
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
      sample.start = start_of(message);
    }
    const bool is_enough = stored >= static_cast<std::int64_t>(kSampleMessages) ||
                           (stored_bytes >= kSampleBytes && stored >= kSampleMessagesMin);
    return is_enough ? Flow::stop : Flow::proceed;
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
  std::optional<Message> question;  // the one at `start`, or a summary
  bool is_complete = true;
  TokenCount tokens;
  TokenCount since_summary;  // with the newest summary; 0 if there is none
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
    if (is_possible_start(message)) {
      limit.start = position;
      limit.question = message;
      limit.tokens = tokens;
    }
    if (limit.since_summary.value == 0 && is_summary(message)) {
      limit.since_summary = tokens;
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

  Result<RequestSize> measure() {
    REPRISE_ASSIGN(const Sample sample, sample_history(plan_.view.slice, plan_.view.target));
    REPRISE_TRY(begin_at_recorded_start(sample));
    REPRISE_TRY(choose_prompt(sample));
    REPRISE_ASSIGN(const BudgetLimit sent, limit_to_budget(plan_.view.slice, budget_or_all()));
    return RequestSize{.history = sent.tokens, .rest = rest(), .since_summary = sent.since_summary};
  }

  Result<std::optional<TokenCount>> shorter(TokenCount wanted) {
    REPRISE_ASSIGN(const Sample sample, sample_history(plan_.view.slice, plan_.view.target));
    REPRISE_TRY(begin_at_recorded_start(sample));
    const HistorySlice& slice = plan_.view.slice;
    REPRISE_ASSIGN(const BudgetLimit sent, limit_to_budget(slice, budget_or_all()));
    // Large turns may leave nothing between that and the last turn.
    for (const TokenCount tokens : {wanted, TokenCount{0}}) {
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
  TokenCount budget_or_all() const {
    return budget().value_or(TokenCount{std::numeric_limits<std::int64_t>::max()});
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
    REPRISE_TRY(begin_at_recorded_start(sample));
    REPRISE_TRY(keep_to_known_limit());
    const auto budget = plan_.cut_to ? plan_.cut_to : this->budget();
    return budget ? apply_budget(*budget) : Result<>();
  }

  // A longer request would be refused.
  Result<> keep_to_known_limit() {
    const TokenCount limit = options_.lesson.limit;
    if (limit.value == 0 || options_.budget) {
      return {};
    }
    const TokenCount others = rest();
    const TokenCount room{std::max<std::int64_t>(0, limit.value - others.value)};
    REPRISE_ASSIGN(const BudgetLimit sent,
                   limit_to_budget(plan_.view.slice, std::min(room, budget_or_all())));
    if (!sent.is_complete) {
      const TokenCount wanted = history_within(limit, others);
      const bool is_summary_enough = sent.since_summary.value > 0 && sent.since_summary <= wanted;
      plan_.cut_to = std::min(is_summary_enough ? sent.since_summary : wanted, budget_or_all());
    }
    return {};
  }

  // What a request has beside the history.
  TokenCount rest() const {
    std::vector<Block> texts = {TextBlock{plan_.system, {}}, TextBlock{plan_.view.prompt, {}}};
    if (options_.options.tools != nullptr) {
      for (const ToolSpec& tool : options_.options.tools->specs()) {
        texts.emplace_back(TextBlock{cat(tool.name, tool.description, tool.parameters.text()), {}});
      }
    }
    return estimate_tokens(message_of(role::kSystem, std::move(texts)));
  }

  // Starts at the noted question, if the model is the same and the record is unchanged there.
  Result<> begin_at_recorded_start(const Sample& sample) {
    HistorySlice& slice = plan_.view.slice;
    const std::optional<RequestStart>& start = sample.start;
    if (!start || start->provider != options_.provider.name() ||
        start->model != options_.options.model || slice.store == nullptr ||
        start->seq <= slice.from || start->seq >= slice.to) {
      return {};
    }
    bool is_same = false;
    const auto sink = [&](Message&& message) {  // NOLINT(*-rvalue-reference-param-not-moved)
      is_same = is_possible_start(message) && message.created_at == start->question_at;
      return Flow::stop;
    };
    const ReadRange range{.from = start->seq, .to = start->seq.next()};
    REPRISE_TRY(slice.store->read(slice.session, range, sink));
    if (is_same) {
      slice.from = start->seq;
      plan_.start = start;
      REPRISE_ASSIGN(const Sample sent, sample_history(slice, plan_.view.target));
      plan_.view.bytes_estimate = sent.bytes_estimate;
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
    plan_.form =
        options_.form.value_or(form_union(sample.form.value_or(usual), options_.lesson.form));
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
    if (options_.budget || plan_.cut_to) {
      plan_.start = start_at(*limit.start, *limit.question);
    }
    plan_.view.bytes_estimate = limit.tokens.value * 4;
    plan_.notes.push_back(cat("request: about ", limit.tokens.value,
                              " tokens of history sent, older "
                              "turns left out to stay within the budget of ",
                              budget.value));
    return {};
  }

  // nullopt while the question is not stored.
  std::optional<RequestStart> start_at(const HistoryPosition& position,
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

RequestSize measure_request(const Record& record, PlanOptions options) {
  return Planner(record, std::move(options)).measure().value_or(RequestSize());
}

std::optional<TokenCount> shorter_budget(const Record& record, PlanOptions options,
                                         TokenCount wanted) {
  return Planner(record, std::move(options)).shorter(wanted).value_or(std::nullopt);
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
