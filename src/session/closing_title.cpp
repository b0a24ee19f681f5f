#include "session/closing_title.h"

#include <optional>
#include <string>
#include <thread>

#include "provider/retry.h"
#include "reprise/conversation.h"
#include "reprise/sessions.h"

namespace reprise {
namespace {

// A stop token that is stopped after a timeout, or together with another one.
class TimeLimit {
 public:
  TimeLimit(std::chrono::milliseconds limit, std::stop_token other)
      : on_stop_(std::move(other), Stop{source_}),
        timer_([this, limit](const std::stop_token& stop) {
          (void)provider::sleep_for(limit, stop);  // ends on timeout or stop
          source_.request_stop();
        }) {}

  std::stop_token token() const { return source_.get_token(); }

 private:
  struct Stop {
    std::stop_source source;
    void operator()() { source.request_stop(); }
  };

  std::stop_source source_;
  std::stop_callback<Stop> on_stop_;
  std::jthread timer_;  // last: it uses source_
};

}  // namespace

std::optional<std::string> closing_title(const ClosingTitle& closing) {
  std::string from_prompt = title_from_prompt(closing.first_prompt);
  const bool is_default =
      closing.title.empty() || closing.title == kInterruptedTitle || closing.title == from_prompt;
  if (closing.first_prompt.empty() || !is_default) {
    return std::nullopt;
  }
  if (closing.interrupted) {
    return closing.title.empty() ? std::optional(std::string(kInterruptedTitle)) : std::nullopt;
  }
  if (closing.answered && closing.ask) {
    if (auto generated = closing.ask(); generated && !generated->empty()) {
      return *std::move(generated);
    }
  }
  if (from_prompt.empty() || closing.title == from_prompt) {
    return std::nullopt;
  }
  return from_prompt;
}

Result<std::optional<std::string>> choose_closing_title(Store& store, const SessionId& id,
                                                        Provider& provider,
                                                        const ClosingTitleOptions& options) {
  REPRISE_ASSIGN(const Session session, get(store, id));
  Exchange first = options.first_exchange;
  if (store.capabilities().messages) {
    REPRISE_ASSIGN(first, first_exchange(store, id));
  }
  ClosingTitle closing{.title = session.info.title,
                       .first_prompt = first.question,
                       .answered = !first.answer.empty(),
                       .interrupted = options.interrupted};
  const ProviderKind* const kind = find_provider_kind(provider.name());
  if (options.ask && (kind == nullptr || kind->has_server())) {
    closing.ask = [&] {
      if (options.on_asking) {
        options.on_asking();
      }
      const TimeLimit limit(options.wait_max, options.stop);
      return ask_for_title(provider, options.model, first.question, first.answer, limit.token());
    };
  }
  return closing_title(closing);
}

bool discard_if_empty(Store& store, const SessionId& id, Clock& clock) {
  Trash* const trash = store.capabilities().trash;
  const auto session = get(store, id);
  if (trash == nullptr || !session || session->info.head.value > 0 ||
      !session->response_chain.empty() || !session->info.title.empty()) {
    return false;
  }
  if (Todos* const list = store.capabilities().todos; list != nullptr) {
    const auto todos = list->todos(id);
    if (!todos || !todos->empty()) {
      return false;
    }
  }
  if (!trash->trash(id, clock.now())) {
    return false;
  }
  // Nothing can be added in the trash, but another process may have added something just before.
  const auto trashed = get(store, id);
  if (!trashed || trashed->info.head.value > 0 || !trashed->response_chain.empty()) {
    (void)trash->restore(id);
    return false;
  }
  return trash->purge(id).has_value();
}

}  // namespace reprise
