#include "engine/turn.h"

#include <algorithm>
#include <stop_token>
#include <type_traits>

#include "base/text.h"
#include "engine/maker.h"
#include "engine/message_of.h"
#include "engine/partial_saver.h"
#include "engine/record.h"
#include "engine/reply.h"
#include "engine/request_plan.h"
#include "engine/request_view.h"
#include "engine/schema_check.h"

namespace reprise {
namespace {

// "waiting 4 s: server is busy (429), attempt 2 of 5"
std::string waiting_line(const Retrying& retry) {
  const auto tenths = (retry.pause.count() + 50) / 100;
  const bool is_whole = tenths >= 100 || tenths % 10 == 0;
  const std::string seconds =
      is_whole ? cat((tenths + 5) / 10) : cat(tenths / 10, ".", tenths % 10);
  return cat("waiting ", seconds, " s: ", retry.reason.empty() ? retry.error.message : retry.reason,
             retry.attempts_max == 0
                 ? ""
                 : cat(", attempt ", retry.next_attempt, " of ", retry.attempts_max));
}

constexpr std::string_view kContinuePrompt =
    "Your answer was cut off. Go on exactly where it stopped; repeat nothing and explain nothing.";

constexpr std::string_view kReduceAdvice =
    "; send less with --budget, or take back turns with /rewind";

// Sent with the request that continues an answer; not stored.
std::optional<Message> continue_instruction(const TurnStart& start) {
  for (const Message& message : start.incomplete) {
    if (!trimmed(plain_text(message)).empty()) {
      return message_of(role::kUser, {TextBlock{std::string(kContinuePrompt), {}}});
    }
  }
  return std::nullopt;  // nothing to continue: ask the question again
}

Partials* partials_of(Store* store) {
  return store == nullptr ? nullptr : store->capabilities().partials;
}

std::vector<ToolUseBlock> calls_of(const Message& answer) {
  std::vector<ToolUseBlock> calls;
  if (answer.state == MessageState::complete) {
    for (const ToolUseBlock* const call : tool_calls(answer)) {
      calls.push_back(*call);
    }
  }
  return calls;
}

bool is_empty_answer(const Message& answer) {
  return answer.state == MessageState::complete &&
         std::ranges::all_of(answer.blocks, [](const Block& block) {
           const auto* const text = std::get_if<TextBlock>(&block);
           return text != nullptr ? trimmed(text->text).empty() : is_reasoning(block);
         });
}

// A schema that the server ignored. Nothing is wrong with the stored answer.
std::optional<Error> schema_fault(const RawJson& schema, const Message& answer) {
  if (schema.is_null() || answer.state != MessageState::complete || is_refused_answer(answer)) {
    return std::nullopt;
  }
  std::string text;  // a document may be in several blocks
  for (const Block& block : answer.blocks) {
    if (const auto* const part = std::get_if<TextBlock>(&block); part != nullptr) {
      text += part->text;
    }
  }
  const std::string why = schema_mismatch(text, schema);
  return why.empty() ? std::nullopt
                     : std::optional(Error{Code::invalid_argument,
                                           cat("the answer does not match the schema: ", why)});
}

// An end that is not known to be a good one is none.
Result<> check_end(const Provider& provider, const Reply& reply) {
  if (!reply.ended()) {
    return fail(Code::io, "the provider ended the answer without marking it complete");
  }
  if (reply.reason() != StopReason::other) {
    return {};
  }
  const std::string_view host = provider.host().empty() ? provider.name() : provider.host();
  const std::string_view word = reply.word();
  return fail(Code::io, cat(host, " ended the answer early",
                            word.empty() ? "" : cat(": its reason is '", word, "'")));
}

// Whether the length of a request may be what a refusal means that does not say what it means.
bool is_near(const RequestSize& size, TokenCount limit) {
  return limit.value > 0 && size.all().value > limit.value / 2;
}

TokenCount limit_in(const std::vector<ModelInfo>& models, std::string_view model) {
  const auto found = std::ranges::find(models, model, &ModelInfo::id);
  return {found == models.end() ? 0 : found->context_tokens};
}

void record_event(TurnRecorder& recorder, const StreamEvent& event) {
  const auto record = [&recorder](const auto& piece) {
    using Kind = std::decay_t<decltype(piece)>;
    if constexpr (std::is_same_v<Kind, TextDelta>) {
      recorder.on_text(piece.text);
    } else if constexpr (std::is_same_v<Kind, ThinkingDelta>) {
      recorder.on_thinking(piece.text);
    } else if constexpr (std::is_same_v<Kind, RawBlock>) {
      recorder.on_raw(piece.json);
    } else if constexpr (std::is_same_v<Kind, UsageReport>) {
      recorder.on_usage(piece.usage);
    }
  };
  std::visit(record, event);
}

}  // namespace

Turn::Turn(Provider& provider, Record& record, const ConversationOptions& options,
           TurnObserver& observer, TurnRecorder* recorder)
    : provider_(provider),
      record_(record),
      options_(options),
      observer_(observer),
      recorder_(recorder) {}

Result<Outcome> Turn::run(TurnStart start, std::stop_token stop) {
  start_ = std::move(start);
  std::stop_source source;
  stop_ = source.get_token();
  const auto end = [&source] { source.request_stop(); };
  const std::stop_callback stopped(std::move(stop), end);
  const std::stop_callback lost(record_.lost(), end);
  try {
    return run_rounds();
  } catch (...) {
    abandon();
    throw;  // rethrow a callback's exception to the caller
  }
}

// Whether to repeat the request after an answer that paused. One that paused too often is
// incomplete.
bool Turn::repeats_after_pause(Message& answer, int& pauses) {
  if (pauses++ < kPausesMax) {
    return true;
  }
  answer.state = MessageState::incomplete;
  observer_.on_warning(
      cat("the answer paused more than ", kPausesMax, " times and can be continued"));
  return false;
}

// A model that calls tools although there are none is told so once.
int Turn::rounds_max() const {
  const bool has_tools = options_.tools != nullptr && !options_.tools->empty();
  return has_tools ? options_.tool_rounds_max : std::min(options_.tool_rounds_max, 1);
}

Result<Outcome> Turn::run_rounds() {
  int pauses = 0;
  for (int round = 0;; ++round) {
    Reply& reply = reply_.emplace();
    auto streamed = request_reply(reply);
    if (record_.check_lost()) {
      return lost(reply);
    }
    if (streamed) {
      streamed = check_end(provider_, reply);
    }
    if (!streamed && !reply.has_content()) {
      return end_without_reply(streamed.error());
    }
    unstored_ = finished(reply, !streamed);
    announce(reply.reason(), *unstored_);
    const auto calls = streamed ? calls_of(*unstored_) : std::vector<ToolUseBlock>();
    const bool continues_paused = reply.reason() == StopReason::paused && calls.empty() &&
                                  repeats_after_pause(*unstored_, pauses);
    const bool has_next_round = continues_paused || (!calls.empty() && round <= rounds_max());
    const Message& answer = store_answer(has_next_round);
    REPRISE_TRY(record_.check_lease());
    if (!streamed) {
      return outcome(answer, streamed.error());
    }
    if (!has_next_round) {
      return outcome(answer, schema_fault(options_.request.schema, answer));
    }
    if (continues_paused) {
      --round;  // rounds of the provider's own tools do not count
    } else {
      run_calls(calls, round == rounds_max());
    }
    REPRISE_TRY(record_.check_lease());
    if (stop_.stop_requested()) {
      record_.add({.end_answer = true});
      return outcome(answer, Error{Code::cancelled, "stopped while tools were running"});
    }
  }
}

// Streams one reply. If the provider has dropped the conversation, or rejects continuing it, the
// request is repeated with all messages; if it rejects the request, in another form.
Result<> Turn::request_reply(Reply& reply) {
  for (;;) {
    auto instruction = continue_instruction(start_);
    const bool by_response_id = std::exchange(by_response_id_, true) && !rejects_response_ids_ &&
                                !budget_ && !ladder_.has_changed() && !instruction;
    PlanOptions plan_options{.options = options_,
                             .provider = provider_,
                             .by_response_id = by_response_id,
                             .last = std::move(instruction),
                             .budget = budget_,
                             .form = has_form_ ? std::optional(ladder_.form()) : std::nullopt,
                             .lesson = lesson()};
    RequestPlan plan = plan_request(record_, plan_options);
    if (!std::exchange(has_form_, true)) {
      ladder_.begin(plan.form, lesson().form);
    }
    const bool continued = !plan.previous_response_id.empty();
    start_at_ = plan.start;
    if (plan.cut_to && !budget_) {
      budget_ = plan_options.budget = plan.cut_to;
      observer_.on_warning(cat("the oldest turns are left out: ", options_.model,
                               " has refused requests of more than about ", lesson().limit.value,
                               " tokens"));
    }
    auto streamed = stream(std::move(plan), reply);
    if (streamed || reply.has_content()) {
      on_accepted(streamed.has_value());
      return streamed;
    }
    if (continued && stops_continuing(streamed.error())) {
      continue;
    }
    ladder_.on_refused(streamed.error());
    if (climb(streamed.error(), plan_options)) {
      continue;
    }
    return std::unexpected(first_refusal(streamed.error()));
  }
}

const Lesson& Turn::lesson() {
  if (!lesson_) {
    lesson_ = read_lesson(options_.server_notes, maker_at(provider_, options_.model),
                          options_.clock.now());
  }
  return *lesson_;
}

// Says and remembers what helped.
void Turn::on_accepted(bool is_whole) {
  if (is_whole) {
    remember();
    if (start_at_) {
      budget_.reset();  // the next request starts where this one did
    }
  }
  if (const std::string line = ladder_.take_line(); is_whole && !line.empty()) {
    observer_.on_warning(line);
  }
}

// What helped is noted for other sessions; other processes may have noted something, too.
void Turn::remember() {
  const Taught taught = ladder_.taught();
  if (options_.server_notes == nullptr || taught.is_nothing()) {
    return;
  }
  const Maker target = maker_at(provider_, options_.model);
  const Time now = options_.clock.now();
  Lesson lesson = read_lesson(options_.server_notes, target, now);
  if (taught.forgets_form || taught.form != RequestForm()) {
    lesson.form = taught.forgets_form ? taught.form : form_union(lesson.form, taught.form);
    lesson.form_at = now;
  }
  if (taught.limit.value > 0) {
    lesson.limit = taught.limit;
    lesson.limit_at = now;
  }
  if (const auto noted = write_lesson(*options_.server_notes, target, lesson); !noted) {
    observer_.on_note(cat("what the server requires is not remembered: ", noted.error().message));
  }
  lesson_ = lesson;
}

// What is shown if nothing helped: the first refusal, unless something else failed in the end.
Error Turn::first_refusal(Error last) const {
  const std::optional<Error> first = refusal_ ? ladder_.first_refusal() : std::nullopt;
  Error error = first.value_or(std::move(last));
  if (error.code == Code::too_long) {
    error.message += kReduceAdvice;
  }
  return error;
}

// Whether the request, which continued from a response id, is repeated without it.
bool Turn::stops_continuing(const Error& refusal) {
  const bool is_form = refusal.code == Code::invalid_argument || (refusal_ && !refusal_->is_length);
  if (is_form && record_.has_all_messages()) {
    ladder_.on_refused(refusal);
    rejects_response_ids_ = true;
    observer_.on_note(cat(refusal.message,
                          ": sending the whole conversation instead of continuing from the last "
                          "response; store = false always does so"));
    return true;
  }
  if (refusal.code != Code::expired) {
    return false;
  }
  by_response_id_ = false;
  if (record_.has_all_messages()) {
    observer_.on_note("the provider no longer has the conversation; sending it again");
  } else {
    observer_.on_warning("Conversation expired. Starting fresh.");
    record_.start_new_session();
  }
  return true;
}

// Changes a rejected request, so that it is sent again: its form, and if that has been tried or it
// is too long, the part of the history. Messages stored by the provider are sent again, since only
// sent messages can be left out. False if there is nothing left to change.
bool Turn::climb(const Error& refusal, const PlanOptions& plan_options) {
  // A provider without details has told only what the code says.
  if (!refusal_ && refusal.code == Code::too_long) {
    refusal_ = Refusal{.is_length = true};
  } else if (!refusal_ && refusal.code == Code::unsupported && sent_.images + sent_.pdfs > 0) {
    refusal_ = Refusal{.hint = {.omits_media = true}};
  }
  if (!refusal_ || !record_.has_all_messages() || stop_.stop_requested()) {
    return false;
  }
  const RequestSize size = measure_request(record_, plan_options);
  const bool is_long = refusal_->is_length || is_near(size, known_limit(size));
  if (is_long && make_shorter(*refusal_, plan_options, size)) {
    return true;
  }
  if (refusal_->is_only_length) {
    return false;
  }
  return ladder_.change_form(*refusal_, sent_) ||
         (!is_long && cut_history(*refusal_, plan_options, size));
}

bool Turn::make_shorter(const Refusal& refusal, const PlanOptions& plan_options,
                        const RequestSize& size) {
  return cut_history(refusal, plan_options, size) || ladder_.omit_media(sent_) ||
         ladder_.shorten_answers(refusal);
}

bool Turn::cut_history(const Refusal& refusal, const PlanOptions& plan_options,
                       const RequestSize& size) {
  const auto wanted = ladder_.cut_history(refusal, size, known_limit(size));
  const auto budget = wanted ? shorter_budget(record_, plan_options, *wanted) : std::nullopt;
  if (budget) {
    budget_ = budget;
    ladder_.on_cut(budget->value == 0 ? "without the earlier turns"
                                      : cat("without the oldest turns, with about ", budget->value,
                                            " tokens of history at most"));
  }
  return budget.has_value();
}

// What earlier refusals taught, else what the server's list of models says. It is asked for only
// if the request is large enough for its length to matter.
TokenCount Turn::known_limit(const RequestSize& size) {
  constexpr std::int64_t kLargeMin = 1000;
  constexpr std::chrono::seconds kTimeout{2};
  if (lesson().limit.value > 0 || size.all().value < kLargeMin) {
    return lesson().limit;
  }
  if (!listed_limit_) {
    const auto models = provider_.models(kTimeout, stop_);  // an error means that it is unknown
    listed_limit_ = models ? limit_in(*models, options_.model) : TokenCount();
  }
  return *listed_limit_;
}

Result<> Turn::stream(RequestPlan plan, Reply& reply) {
  if (plan.fault) {
    record_.warn(cat("the stored history cannot be read: ", plan.fault->message));
  }
  RequestView view(provider_, std::move(plan.view));
  const bool has_prompt = !plan.system.empty();
  recent_ = std::move(plan.recent);
  Request request = make_request(options_, plan, view);
  PartialSaver saver(partials_of(record_.store()), record_.session().info.id, record_.answer(),
                     [this] { record_.on_refused(); });
  const auto sink = [&](const StreamEvent& event) {
    if (record_.check_lost()) {
      return;  // the stream is being stopped
    }
    reply.on(event);
    saver.on(event);
    if (recorder_ != nullptr) {
      record_event(*recorder_, event);
    }
    on_event(event);
  };
  auto streamed = provider_.stream(request, sink, stop_);
  sent_ = view.sent();
  sent_.has_prompt = has_prompt;
  refusal_ = request.refusal;
  if (const auto failure = saver.stop(); failure && !record_.check_lost()) {
    record_.warn(cat("the running answer is not being saved: ", failure->message));
  }
  for (const std::string& note : plan.notes) {
    observer_.on_note(note);
  }
  for (const std::string& line : view.repairs().lines()) {
    observer_.on_note(line);
  }
  if (const std::optional<Error>& fault = view.fault(); fault) {
    record_.warn(cat("a part of the history cannot be read: ", fault->message));
  }
  return streamed;
}

void Turn::on_event(const StreamEvent& event) {
  if (const auto* text = std::get_if<TextDelta>(&event); text != nullptr) {
    observer_.on_text(text->text);
  } else if (const auto* thinking = std::get_if<ThinkingDelta>(&event); thinking != nullptr) {
    observer_.on_thinking(thinking->text);
  } else if (const auto* retry = std::get_if<Retrying>(&event); retry != nullptr) {
    observer_.on_note(retry->error.message);
    observer_.on_warning(waiting_line(*retry));
  } else if (const auto* left_out = std::get_if<ParameterLeftOut>(&event); left_out != nullptr) {
    observer_.on_warning(cat(left_out->parameter, " is left out: ", left_out->error.message));
  } else if (std::holds_alternative<KeyMasked>(event)) {
    observer_.on_warning("the answer repeats the key of the request, which is replaced by ***");
  }
}

// A callback threw: stores what has arrived as an incomplete answer. No other callback is called;
// Record::end_turn() ends the running answer.
void Turn::abandon() {
  record_.mute();
  if (!unstored_ && reply_ && reply_->has_content()) {
    unstored_ = finished(*reply_, true);
  }
  if (unstored_) {
    (void)add_answer(false);  // the record keeps what cannot be stored
  }
}

void Turn::announce(std::optional<StopReason> reason, const Message& answer) {
  if (is_refused_answer(answer)) {
    observer_.on_warning(
        "the model refused to answer; later questions leave this turn out, and /rewind takes it "
        "away");
  } else if (reason == StopReason::refused) {
    observer_.on_warning("the model refused to answer");
  } else if (reason == StopReason::max_tokens) {
    observer_.on_warning("the answer reached the token limit and can be continued");
  } else if (reason != StopReason::paused && is_empty_answer(answer)) {
    observer_.on_warning("the model's answer is empty");
  }
  if (answer.usage) {
    observer_.on_usage(*answer.usage);
  }
}

}  // namespace reprise
