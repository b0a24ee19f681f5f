#include "engine/turn.h"

#include <algorithm>
#include <stop_token>
#include <type_traits>

#include "base/text.h"
#include "engine/message_of.h"
#include "engine/partial_saver.h"
#include "engine/record.h"
#include "engine/reply.h"
#include "engine/request_plan.h"
#include "engine/request_view.h"

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

bool is_reasoning(const Block& block) {
  const auto* const unknown = std::get_if<UnknownBlock>(&block);
  return std::holds_alternative<ThinkingBlock>(block) ||
         (unknown != nullptr &&
          (unknown->type.contains("reasoning") || unknown->type.contains("thinking")));
}

bool is_empty_answer(const Message& answer) {
  return answer.state == MessageState::complete &&
         std::ranges::all_of(answer.blocks, [](const Block& block) {
           const auto* const text = std::get_if<TextBlock>(&block);
           return text != nullptr ? trimmed(text->text).empty() : is_reasoning(block);
         });
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
    if (streamed && !reply.ended()) {
      streamed = fail(Code::io, "the provider ended the answer without marking it complete");
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
      return outcome(answer, std::nullopt);
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
// request is repeated with all messages.
Result<> Turn::request_reply(Reply& reply) {
  for (;;) {
    auto instruction = continue_instruction(start_);
    const bool by_response_id = std::exchange(by_response_id_, true) && !rejects_response_ids_ &&
                                !budget_ && !omits_images_ && !instruction;
    const PlanOptions plan_options{.options = options_,
                                   .provider = provider_,
                                   .by_response_id = by_response_id,
                                   .last = std::move(instruction),
                                   .budget = budget_};
    RequestPlan plan = plan_request(record_, plan_options);
    const bool continued = !plan.previous_response_id.empty();
    const auto reduced_start = plan.reduced_start;
    auto streamed = stream(std::move(plan), reply);
    if (streamed || reply.has_content()) {
      if (reduced_start && streamed) {
        record_.record_request_start(*reduced_start);
        budget_.reset();
      }
      return streamed;
    }
    if (reduce_request(streamed.error(), plan_options)) {
      continue;
    }
    if (streamed.error().code == Code::too_long) {
      return fail(Code::too_long, cat(streamed.error().message, kReduceAdvice));
    }
    if (!continued || !stops_continuing(streamed.error())) {
      return streamed;
    }
  }
}

// Whether the request, which continued from a response id, is repeated without it.
bool Turn::stops_continuing(const Error& refusal) {
  if (refusal.code == Code::invalid_argument && record_.has_all_messages()) {
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

// If the request is too long for the model, or the model rejects images, it is repeated once with
// less. Messages stored by the provider are sent again, since only sent messages can be left out.
bool Turn::reduce_request(const Error& refusal, const PlanOptions& plan_options) {
  const bool has_messages = record_.has_all_messages();
  if (refusal.code == Code::too_long && !budget_ && has_messages) {
    budget_ = half_of_history(record_, plan_options);
    if (budget_) {
      observer_.on_warning(
          cat("the request is too long for the model; trying again without the oldest turns, with "
              "about ",
              budget_->value, " tokens of history at most"));
    }
    return budget_.has_value();
  }
  if (refusal.code == Code::unsupported && !omits_images_ && images_ + pdfs_ > 0 && has_messages) {
    omits_images_ = true;
    const std::string_view omitted = pdfs_ == 0     ? "images"
                                     : images_ == 0 ? "PDFs"
                                                    : "images and PDFs";
    observer_.on_warning(
        cat(refusal.message, "; trying again without the ", omitted, " of the conversation"));
    return true;
  }
  return false;
}

Result<> Turn::stream(RequestPlan plan, Reply& reply) {
  if (plan.fault) {
    record_.warn(cat("the stored history cannot be read: ", plan.fault->message));
  }
  plan.view.omits_images = omits_images_;
  plan.view.models.insert(plan.view.models.end(), models_.begin(), models_.end());
  RequestView view(provider_, std::move(plan.view));
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
  images_ = view.images();
  pdfs_ = view.pdfs();
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
  if (reason == StopReason::refused) {
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
