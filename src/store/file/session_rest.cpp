#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "reprise/capabilities.h"
#include "reprise/error.h"
#include "reprise/json.h"
#include "reprise/message.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/types.h"
#include "store/file/rest.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store {
namespace {

struct InfoText {
  std::string_view name;
  std::string SessionInfo::* field;
};
constexpr std::array<InfoText, 5> kInfoTexts = {{{"title", &SessionInfo::title},
                                                 {"mode", &SessionInfo::mode},
                                                 {"provider", &SessionInfo::provider},
                                                 {"model", &SessionInfo::model},
                                                 {"working_dir", &SessionInfo::working_dir}}};

void write_info(json::ObjectWriter& object, const SessionInfo& info, const SessionInfo& native) {
  for (const auto& [name, field] : kInfoTexts) {
    if (info.*field != native.*field) {
      object.field(name, info.*field);
    }
  }
  if (info.state != native.state) {
    object.field("state", to_string(info.state));
  }
  if (info.created_at != native.created_at) {
    object.field("created_at", format_time(info.created_at));
  }
  if (info.updated_at != native.updated_at) {
    object.field("updated_at", format_time(info.updated_at));
  }
  if (info.closed_at != native.closed_at) {
    object.field("closed_at", info.closed_at ? format_time(*info.closed_at) : "");
  }
  if (info.forked_from != native.forked_from && info.forked_from) {
    object.field("forked_from", info.forked_from->session.str())
        .field("forked_at", info.forked_from->at.value);
  }
}

void write_session(json::ObjectWriter& object, const Session& session, const Session& native) {
  write_info(object, session.info, native.info);
  if (session.system_prompt != native.system_prompt) {
    object.field("system_prompt", session.system_prompt);
  }
  if (session.config != native.config) {
    object.raw("config", session.config.text());
  }
  if (session.usage != native.usage) {
    object.raw("usage", usage_to_json(session.usage));
  }
  if (session.response_chain != native.response_chain) {
    object.raw("response_chain", chain_to_json(session.response_chain));
  }
  if (session.prompt_history != native.prompt_history) {
    object.raw("prompt_history", strings_to_json(session.prompt_history));
  }
  if (session.extra != native.extra) {
    object.raw("extra", extra_to_json(session.extra));
  }
}

// [["ID",first,head],…], the newest last.
void write_operations(json::ObjectWriter& object, const StoredSession& stored) {
  if (stored.operations.empty()) {
    return;
  }
  std::vector<std::pair<Appended, const OperationId*>> newest;
  newest.reserve(stored.operations.size());
  for (const auto& [id, done] : stored.operations) {
    newest.emplace_back(done, &id);
  }
  const auto by_place = [](const auto& one) { return std::pair(one.first.head, one.first.first); };
  std::ranges::stable_sort(newest, {}, by_place);
  if (newest.size() > kOperationsMax) {
    newest.erase(newest.begin(), newest.end() - kOperationsMax);
  }
  std::string out;
  json::ArrayWriter array(out);
  for (const auto& [done, id] : newest) {
    array.item();
    out += '[';
    json::append_string(out, id->str());
    out.append(",").append(std::to_string(done.first.value));
    out.append(",").append(std::to_string(done.head.value)).append("]");
  }
  array.close();
  object.raw("operations", out);
}

void write_kept(json::ObjectWriter& object, const StoredSession& stored) {
  write_operations(object, stored);
  if (stored.partial) {
    const Partial& running = *stored.partial;
    object.raw("answering", answer_to_json({running.answer, running.owner, running.provider,
                                            running.model, running.started_at}));
  }
  if (!stored.replaced.empty()) {
    std::string out;
    json::ArrayWriter array(out);
    for (const SharedMessage& message : stored.replaced) {
      array.item();
      out += message_to_json(*message);
    }
    array.close();
    object.raw("replaced", out);
  }
  if (stored.session.info.state == SessionState::trashed) {
    object.field("state_before_trash", to_string(stored.state_before_trash));
  }
}

// Reads the members of a rest into a session.
class RestReader {
 public:
  RestReader(json::Scanner& scanner, StoredSession& stored)
      : scanner_(scanner), stored_(stored), session_(stored.session) {}

  // false: the value cannot be read.
  bool member(std::string_view name) {
    for (const auto& [text, field] : kInfoTexts) {
      if (text == name) {
        return scanner_.string(session_.info.*field);
      }
    }
    if (name == "system_prompt") {
      return scanner_.string(session_.system_prompt);
    }
    if (name == "operations") {
      return scanner_.array([this] { return operation(); });
    }
    if (name == "replaced") {
      return scanner_.array([this] { return replaced(); });
    }
    if (name == "forked_at") {
      return scanner_.integer(forked_at_.value);
    }
    std::string_view raw;
    return scanner_.raw(raw) && (raw.starts_with('"') ? short_text(name, raw) : value(name, raw));
  }

  void finish() {
    if (forked_from_) {
      session_.info.forked_from = ForkOrigin{*forked_from_, forked_at_};
    }
  }

 private:
  bool short_text(std::string_view name, std::string_view raw) {
    const std::string_view text = raw.substr(1, raw.size() - 2);
    SessionInfo& info = session_.info;
    const auto state = [text](SessionState& out) {
      const auto parsed = parse_session_state(text);
      out = parsed.value_or(out);
      return parsed.has_value();
    };
    const auto time = [text](auto& out) {
      const auto parsed = parse_time(text);
      if (parsed) {
        out = *parsed;
      }
      return parsed.has_value();
    };
    if (name == "state") {
      return state(info.state);
    }
    if (name == "state_before_trash") {
      return state(stored_.state_before_trash);
    }
    if (name == "created_at") {
      return time(info.created_at);
    }
    if (name == "updated_at") {
      return time(info.updated_at);
    }
    if (name == "closed_at") {
      info.closed_at.reset();
      return text.empty() || time(info.closed_at);
    }
    if (name == "forked_from") {
      const auto id = SessionId::parse(text);
      forked_from_ = id ? std::optional(*id) : std::nullopt;
      return id.has_value();
    }
    return true;
  }

  bool value(std::string_view name, std::string_view raw) {
    if (name == "config") {
      session_.config = json::take(raw);
    } else if (name == "response_chain") {
      session_.response_chain = chain_from_json(raw);
    } else if (name == "prompt_history") {
      session_.prompt_history = strings_from_json(raw);
    } else if (name == "extra") {
      session_.extra = extra_from_json(raw);
    } else if (name == "usage") {
      auto usage = usage_from_json(raw);
      if (!usage) {
        return false;
      }
      session_.usage = *std::move(usage);
    } else if (name == "answering") {
      auto running = answer_from_json(raw);
      if (!running) {
        return false;
      }
      session_.info.answering = running->owner;
      stored_.partial = *std::move(running);
    }
    return true;
  }

  bool operation() {
    std::string id;
    Appended done{.first = {}, .head = {}, .repeated = true};
    int at = 0;
    const bool whole = scanner_.array([&] {
      switch (at++) {
        case 0:
          return scanner_.string(id);
        case 1:
          return scanner_.integer(done.first.value);
        case 2:
          return scanner_.integer(done.head.value);
        default:
          return false;
      }
    });
    auto operation = OperationId::parse(id);
    if (!whole || at != 3 || !operation) {
      return false;
    }
    stored_.operations.emplace(*std::move(operation), done);
    return true;
  }

  bool replaced() {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    auto message = message_from_json(raw);
    if (!message) {
      return false;
    }
    if (const std::optional<Usage>& usage = message->usage; usage && !usage->request_id.empty()) {
      stored_.counted_requests.insert(usage->request_id);
    }
    stored_.replaced.push_back(std::make_shared<const Message>(*std::move(message)));
    return true;
  }

  json::Scanner& scanner_;
  StoredSession& stored_;
  Session& session_;
  std::optional<SessionId> forked_from_;
  Seq forked_at_;
};

}  // namespace

std::string session_rest(const StoredSession& stored, const Session& native) {
  std::string out;
  json::ObjectWriter object(out);
  write_session(object, stored.session, native);
  write_kept(object, stored);
  object.close();
  return out == "{}" ? "" : out;
}

Result<> add_session_rest(StoredSession& native, std::string_view rest) {
  json::Scanner scanner(rest);
  RestReader reader(scanner, native);
  if (!scanner.object([&reader](std::string_view name) { return reader.member(name); }) ||
      !scanner.end()) {
    return std::unexpected(scanner.fault());
  }
  reader.finish();
  return {};
}

}  // namespace reprise::store
