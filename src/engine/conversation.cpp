#include "reprise/conversation.h"

#include <algorithm>
#include <memory>
#include <stop_token>

#include "base/one_at_a_time.h"
#include "base/text.h"
#include "engine/blobs.h"
#include "engine/history.h"
#include "engine/message_of.h"
#include "engine/record.h"
#include "engine/request_plan.h"
#include "engine/request_view.h"
#include "engine/turn.h"
#include "model/texts.h"

namespace reprise {
namespace {

bool has_content(const Block& block) {
  if (const auto* text = std::get_if<TextBlock>(&block); text != nullptr) {
    return !trimmed(text->text).empty();
  }
  return true;
}

Result<> check(const ConversationOptions& options) {
  using std::chrono::milliseconds;
  REPRISE_TRY(model::check_text("model", options.model));
  REPRISE_TRY(model::check_text("system", options.system.value_or("")));
  const std::pair<std::string_view, bool> faults[] = {
      {"max_tokens must be at least 1", options.max_tokens.value_or(1) < 1},
      {"budget must not be negative", options.budget && options.budget->value < 0},
      {"temperature must be a number from 0 on",
       options.temperature && !(*options.temperature >= 0)},
      {"tool_rounds_max must not be negative", options.tool_rounds_max < 0},
      {"busy_timeout must not be negative", options.busy_timeout < milliseconds(0)},
      {"answer_lease must be positive", options.answer_lease <= milliseconds(0)},
  };
  for (const auto& [message, applies] : faults) {
    if (applies) {
      return fail(Code::invalid_argument, std::string(message));
    }
  }
  return {};
}

Result<> check_input(const std::vector<Block>& blocks) {
  const auto is_not_input = [](const Block& block) {
    return std::holds_alternative<ToolUseBlock>(block) ||
           std::holds_alternative<ToolResultBlock>(block) ||
           std::holds_alternative<ThinkingBlock>(block);
  };
  if (std::ranges::any_of(blocks, is_not_input)) {
    return fail(Code::invalid_argument, "a question can contain only text and images");
  }
  if (std::ranges::none_of(blocks, has_content)) {
    return fail(Code::invalid_argument, "the question is empty");
  }
  return model::check(message_of(role::kUser, blocks));
}

std::vector<Block> with_stored_images(Record& record, std::vector<Block> blocks) {
  const BlobSink record_blob = [&record](const BlobHash& hash, std::string_view bytes) {
    record.record_blob(hash, bytes);
  };
  for (Block& block : blocks) {
    if (auto* image = std::get_if<ImageBlock>(&block); image != nullptr) {
      block = stored_image(record.store(), std::move(*image), record_blob);
    }
  }
  return blocks;
}

// The scope of a turn, during which the record reports to the observer.
class TurnScope {
 public:
  TurnScope(Record& record, TurnObserver& observer, bool refresh) : record_(record) {
    record.start_turn(observer, refresh);
  }
  ~TurnScope() { record_.end_turn(); }
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

 private:
  Record& record_;
};

ConversationOptions with_model(ConversationOptions options, const Session& session) {
  if (options.model.empty()) {
    options.model = session.info.model;
  }
  return options;
}

constexpr std::int64_t kMessageTokens = 4;
constexpr std::int64_t kImageTokens = 1000;

struct CharacterCounts {
  std::int64_t ascii = 0;
  std::int64_t others = 0;
  std::int64_t images = 0;

  void add(std::string_view text) {
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      ascii += byte < 0x80U ? 1 : 0;
      others += byte >= 0xC0U ? 1 : 0;
    }
  }
};

}  // namespace

class Conversation::Impl {
 public:
  Impl(Provider& provider, Store* store, Session session, ConversationOptions options)
      : provider_(provider),
        options_(with_model(std::move(options), session)),
        record_(store, std::move(session), options_, provider.name()) {}

  Result<Outcome> ask(std::vector<Block> blocks, TurnObserver& observer, std::stop_token stop) {
    REPRISE_TRY(check_input(blocks));
    const TurnScope scope(record_, observer, false);
    REPRISE_TRY(check_prompt());
    RecordEntry entry{.begin_answer = true};
    entry.messages.push_back(question(with_stored_images(record_, std::move(blocks))));
    std::vector<Block> question = entry.messages.front().blocks;
    REPRISE_TRY(record_.begin(std::move(entry), stop));
    return turn(observer, std::move(stop), {}, std::move(question));
  }

  Result<Outcome> continue_turn(TurnObserver& observer, std::stop_token stop) {
    const TurnScope scope(record_, observer, true);
    REPRISE_TRY(record_.begin({.begin_answer = true}, stop));
    auto end = find_end(record_.slice());
    if (!end || end->kind == RecordEnd::Kind::nothing || end->kind == RecordEnd::Kind::answered) {
      record_.add({.end_answer = true});
      if (!end) {
        return std::unexpected(end.error());
      }
      return fail(Code::invalid_argument,
                  "there is nothing to continue: the last answer is complete");
    }
    TurnStart start{.incomplete = std::move(end->incomplete)};
    if (record_.rewriting() != nullptr && !record_.has_pending()) {
      start.replace_from = end->from;
    }
    return turn(observer, std::move(stop), std::move(start), {});
  }

  Result<Outcome> retry(TurnObserver& observer, std::stop_token stop) {
    const TurnScope scope(record_, observer, true);
    REPRISE_TRY(record_.begin({.begin_answer = true}, stop));
    auto from = retry_from();
    if (!from) {
      record_.add({.end_answer = true});
      return std::unexpected(from.error());
    }
    TurnStart start;
    if (*from < record_.session().info.head) {
      record_.rewind_to(*from);
      start.replace_from = *from;
    }
    return turn(observer, std::move(stop), std::move(start), blocks_before(*from));
  }

  Result<std::string> dry_run(std::vector<Block> blocks) {
    REPRISE_TRY(check_input(blocks));
    REPRISE_TRY(check_prompt());
    HistorySlice slice = record_.slice();
    std::vector<Message> memory(slice.memory.begin(), slice.memory.end());
    memory.push_back(question(std::move(blocks)));
    slice.memory = memory;
    RequestPlan plan = plan_request(
        record_, {.options = options_,
                  .provider = provider_,
                  .slice = std::move(slice),
                  .lesson = read_lesson(options_.server_notes, maker_at(provider_, options_.model),
                                        options_.clock.now())});
    if (plan.fault && plan.fault->code != Code::not_found) {  // not_found: not created yet
      return std::unexpected(*std::move(plan.fault));
    }
    RequestView view(provider_, std::move(plan.view));
    auto request = make_request(options_, plan, view);
    return provider_.dry_run(request);
  }

  const Session& session() const { return record_.session(); }
  Result<std::vector<Message>> unsaved_messages() const { return record_.unsaved_messages(); }
  Result<> store_unsaved() { return record_.store_pending(); }
  Result<> store_session() { return record_.store_session(); }
  bool is_session_stored() const { return record_.is_session_stored(); }

  // Runs a call, unless another one is running.
  template <class Call>
  auto alone(const Call& call) -> decltype(call()) {
    return one_at_a_time_.run([&]() -> decltype(call()) {
      REPRISE_TRY(check(options_));
      return call();
    });
  }

 private:
  // If the history cannot be read, the turn reports it, and continues without it.
  Result<> check_prompt() {
    auto fits = check_prompt_fits(record_, {.options = options_, .provider = provider_});
    return fits || fits.error().code == Code::invalid_argument ? std::move(fits) : Result<>();
  }

  Message question(std::vector<Block> blocks) {
    Message user_message = message_of(role::kUser, std::move(blocks), options_.clock.now());
    user_message.author = options_.author;
    return user_message;
  }

  // `question` is empty when an answer is continued.
  Result<Outcome> turn(TurnObserver& observer, std::stop_token stop, TurnStart start,
                       std::vector<Block> question) {
    const auto recorder = begin_recording(start, std::move(question));
    Turn turn(provider_, record_, options_, observer, recorder.get());
    auto outcome = turn.run(std::move(start), std::move(stop));
    if (recorder != nullptr && !record_.check_lost()) {
      end_recording(*recorder, outcome);
    }
    return outcome;
  }

  // Null if no other program expects files of a turn.
  std::unique_ptr<TurnRecorder> begin_recording(const TurnStart& start,
                                                std::vector<Block> question) {
    Store* const store = record_.store();
    TurnRecording* const recording =
        store == nullptr ? nullptr : store->capabilities().turn_recording;
    if (recording == nullptr) {
      return nullptr;
    }
    auto recorder = recording->record_turn(record_.session().info.id,
                                           {.question = std::move(question),
                                            .provider = std::string(provider_.name()),
                                            .model = options_.model,
                                            .replaces = start.replace_from});
    if (!recorder) {
      record_.warn(cat("the turn's artefacts are not saved: ", recorder.error().message));
      return nullptr;
    }
    return *std::move(recorder);
  }

  void end_recording(TurnRecorder& recorder, const Result<Outcome>& outcome) {
    if (!outcome) {
      recorder.on_failure(outcome.error());
    } else if (const auto& error = outcome->error; error) {
      recorder.on_failure(*error);
    }
    if (const auto failure = recorder.finish(); failure) {
      record_.warn(cat("some of the turn's artefacts are not saved: ", failure->message));
    }
  }

  // The blocks of the message before `seq`; empty if it cannot be read.
  std::vector<Block> blocks_before(Seq seq) const {
    if (record_.store() == nullptr) {
      return {};
    }
    auto messages =
        read_all(*record_.store(), record_.session().info.id, {.from = {seq.value - 1}, .to = seq});
    return messages && !messages->empty() ? std::move(messages->front().blocks)
                                          : std::vector<Block>();
  }

  // The messages after the last question are replaced.
  Result<Seq> retry_from() {
    if (record_.rewriting() == nullptr) {
      return fail(Code::unsupported, "this store cannot replace an answer: ask again instead");
    }
    if (auto stored = record_.store_pending(); !stored) {
      return fail_with_context("cannot replace an answer before everything is saved",
                               std::move(stored).error());
    }
    REPRISE_ASSIGN(const auto question, find_last_question(record_.slice()));
    if (!question || !question->seq) {
      return fail(Code::invalid_argument, "there is no question to ask again");
    }
    return question->seq->next();
  }

  Provider& provider_;
  ConversationOptions options_;
  Record record_;
  OneAtATime one_at_a_time_{"conversation"};
};

Conversation::Conversation(Provider& provider, Store* store, Session session,
                           ConversationOptions options)
    : impl_(std::make_unique<Impl>(provider, store, std::move(session), std::move(options))) {}

Conversation::~Conversation() = default;

Result<Outcome> Conversation::ask(std::vector<Block> blocks, TurnObserver& observer,
                                  std::stop_token stop) {
  return impl_->alone([&] { return impl_->ask(std::move(blocks), observer, std::move(stop)); });
}

Result<Outcome> Conversation::ask(std::string_view text, TurnObserver& observer,
                                  std::stop_token stop) {
  return ask({TextBlock{std::string(text), {}}}, observer, std::move(stop));
}

Result<Outcome> Conversation::continue_turn(TurnObserver& observer, std::stop_token stop) {
  return impl_->alone([&] { return impl_->continue_turn(observer, std::move(stop)); });
}

Result<Outcome> Conversation::retry(TurnObserver& observer, std::stop_token stop) {
  return impl_->alone([&] { return impl_->retry(observer, std::move(stop)); });
}

Result<std::string> Conversation::dry_run(std::vector<Block> blocks) {
  return impl_->alone([&] { return impl_->dry_run(std::move(blocks)); });
}

const Session& Conversation::session() const {
  return impl_->session();
}

Result<std::vector<Message>> Conversation::unsaved_messages() const {
  return impl_->alone([this] { return impl_->unsaved_messages(); });
}

Result<> Conversation::store_unsaved() {
  return impl_->alone([this] { return impl_->store_unsaved(); });
}

Result<> Conversation::store_session() {
  return impl_->store_session();
}

bool Conversation::is_session_stored() const {
  return impl_->is_session_stored();
}

TokenCount estimate_tokens(const Message& message) {
  CharacterCounts counts;
  for (const Block& block : message.blocks) {
    for_each_text(block, [&counts](std::string_view text) { counts.add(text); });
    counts.images += std::holds_alternative<ImageBlock>(block) ? 1 : 0;
  }
  return {kMessageTokens + counts.images * kImageTokens + counts.others + (counts.ascii + 3) / 4};
}

}  // namespace reprise
