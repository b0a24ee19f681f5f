#include "store/sessions/session_members.h"

// Some members that the original program expects are not stored by Reprise: they follow from the
// title and the messages.

#include <algorithm>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/terminal_text.h"
#include "base/text.h"
#include "model/known_time.h"
#include "store/document/document_format.h"
#include "store/document/sidecar.h"
#include "store/sessions/layout.h"  // IWYU pragma: keep
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/sessions/signature.h"
#include "store/sessions/spelling.h"
#include "store/stored_session.h"

namespace reprise::store::sessions {
namespace {

// The times for programs that require them: an unknown one is replaced by another.
Time written_created(const SessionInfo& info) {
  return known_time({info.created_at, info.updated_at, info.closed_at.value_or(kUnknownTime)});
}
Time written_updated(const SessionInfo& info) {
  return known_time({info.updated_at, info.closed_at.value_or(kUnknownTime), info.created_at});
}
// The value of `closed_at` for programs that only know closed sessions.
Time closed_or_updated(const SessionInfo& info) {
  return known_time({info.closed_at.value_or(kUnknownTime), written_updated(info)});
}

// As the original spelled it.
std::string spelled(const Session& session, std::string_view name, Time time) {
  const RawJson* const spelling = json::find_field(session.extra, kSpelling);
  const auto text =
      spelling == nullptr ? std::nullopt : json::text_in(json::find_member(spelling->text(), name));
  return text && parse_time(*text) == time ? *text : format_time(time);
}

// The prompt history, preceded by the derived prompts.
std::vector<std::string> history_of(const Session& session, std::vector<std::string> derived) {
  const std::vector<std::string>& prompts = session.prompt_history;
  const std::size_t count_max = kPromptsMax - derived.size();
  const bool is_truncated = !derived.empty() && prompts.size() > count_max;
  derived.insert(
      derived.end(), prompts.begin(),
      is_truncated ? prompts.begin() + static_cast<std::ptrdiff_t>(count_max) : prompts.end());
  return derived;
}

bool is_zero(const Usage& usage) {
  return usage.input.value == 0 && usage.output.value == 0 &&
         usage.cost.value_or(Money()).nanos == 0;
}

// The id in the file if it differs from the file's name; otherwise "".
std::string other_id(const Session& session) {
  const RawJson* const own = json::find_field(session.extra, "id");
  return own != nullptr && own->text() != quoted_string(session.info.id.str()) ? own->text() : "";
}

// The state that the session's path stands for.
SessionState stored_state(SessionState state) {
  return state == SessionState::archived ? SessionState::closed : state;
}

// What a reader gets without the member `reprise`.
Session native_of(const StoredSession& stored) {
  const Session& session = stored.session;
  const SessionInfo& info = session.info;
  Config settings = read_config(write_config({info.provider, info.model, session.config}));
  Session native{.info = {.id = info.id,
                          .title = name_of(info),
                          .state = stored_state(info.state),
                          .provider = std::move(settings.provider),
                          .model = std::move(settings.model),
                          .working_dir = info.working_dir,
                          .head = info.head,
                          .created_at = written_created(info),
                          .updated_at = written_updated(info)},
                 .config = std::move(settings.settings),
                 .prompt_history = session.prompt_history};
  const bool is_trashed = info.state == SessionState::trashed;
  if ((is_trashed ? stored.state_before_trash : info.state) != SessionState::active) {
    native.info.closed_at = closed_or_updated(info);
  }
  if (!is_zero(session.usage)) {
    native.usage = native_usage(session.usage);
  }
  return native;
}

// Our own member with what the others cannot represent, as a string, so that no other program can
// reformat or reorder it.
std::string sidecar_of(const StoredSession& stored, const Session& native, std::size_t prompts,
                       const SigningKey* key) {
  std::string sidecar;
  json::ObjectWriter object(sidecar);
  object.field("messages", stored.session.info.head.value);
  if (prompts > 0) {
    object.field("prompts", static_cast<std::int64_t>(prompts));
  }
  if (key != nullptr) {
    object.field("host", key->host());
  }
  object.close();
  if (const std::string members = session_sidecar(stored, native); !members.empty()) {
    sidecar.back() = ',';
    sidecar.append(members, 1);
  }
  return sidecar;
}

std::vector<std::string_view> known_names(bool has_id) {
  std::vector<std::string_view> names(kMembers.begin(), kMembers.end());
  if (has_id) {
    std::erase(names, "id");
  }
  return names;
}

// The members of the original program, and the unknown ones.
Members encode_members(const FileSession& file, const std::vector<std::string>& prompts) {
  const Session& session = file.stored.session;
  const SessionInfo& info = session.info;
  Members members(1);
  members.text("closed_at", spelled(session, "closed_at", closed_or_updated(info)));
  members.raw("config", write_config({info.provider, info.model, session.config}));
  members.text("created_at", spelled(session, "created_at", written_created(info)));
  if (!is_zero(session.usage)) {
    members.raw("cumulative_usage", write_usage(session.usage, 1));
  }
  const std::string id = other_id(session);
  members.raw("id", id.empty() ? quoted_string(info.id.str()) : id);
  members.text("name", name_of(info));
  members.text("project_path", info.working_dir);
  members.raw(std::string(kPrompts), write_strings(prompts));
  members.raw("todos", write_todos(file.stored.todos, file.raw_todos));
  members.text("updated_at", spelled(session, "updated_at", written_updated(info)));
  members.raw("version", "1");
  for (const ExtraField& field : extra_members(session.extra, known_names(!id.empty()))) {
    if (field.name != "id" && field.name != kSpelling) {
      members.extra(field);
    }
  }
  return members;
}

// What a reader gets from members in the spelling of another program.
Session read_back(const FileSession& file, Members members) {
  const StoredSession& stored = file.stored;
  const SessionInfo& info = stored.session.info;
  members.raw("conversation", "[]");
  const auto read =
      read_session({info.id, stored_state(info.state), stored_state(stored.state_before_trash)},
                   members.object());
  Session native = read ? read->stored.session : native_of(stored);
  native.info.head = info.head;
  return native;
}

// Restores the original spelling of unchanged members, then that of unchanged parts of the others.
// Returns whether there are any.
bool restore(Members& members, const FileSession& file) {
  if (file.preserved.empty()) {
    return false;
  }
  const SessionInfo& info = file.stored.session.info;
  const std::string config = *members.find("config");
  const std::string todos = *members.find("todos");
  const int count = members.restore(file.preserved, "");
  if (*members.find("config") == config) {
    members.replace("config", write_config({info.provider, info.model, file.stored.session.config},
                                           file.preserved));
  }
  if (*members.find("todos") == todos) {
    members.replace("todos", write_todos(file.stored.todos, file.raw_todos, file.preserved));
  }
  return count > 0;
}

constexpr std::size_t kNameCharactersMax = 50;

std::string shortened(std::string_view text) {
  return std::string(trimmed(grapheme_prefix(text, kNameCharactersMax)));
}

// "" if the message is not a prompt. Those that the original stored are in its own history, if it
// has one.
std::string prompt_in(const Message& message, bool has_history) {
  const bool is_in_history = has_history && json::find_field(message.extra, "id") != nullptr;
  return message.role == role::kUser && !is_in_history ? std::string(trimmed(plain_text(message)))
                                                       : "";
}

}  // namespace

Members file_members(const FileSession& file, const SigningKey* key) {
  const Session& session = file.stored.session;
  std::vector<std::string> derived = prompts_outside_history(file.stored);
  std::size_t prompts = derived.size();
  const std::vector<std::string> history = history_of(session, std::move(derived));
  Members members = encode_members(file, history);
  const std::string written = *members.find(kPrompts);
  const bool is_restored =
      restore(members, file) || json::find_field(session.extra, kSpelling) != nullptr;
  if (*members.find(kPrompts) != written) {
    prompts = 0;  // it has the spelling of another program
  }
  Session native = is_restored ? read_back(file, members) : native_of(file.stored);
  if (is_restored) {
    native.prompt_history.erase(
        native.prompt_history.begin(),
        native.prompt_history.begin() + static_cast<std::ptrdiff_t>(prompts));
  } else {
    native.prompt_history.assign(history.begin() + static_cast<std::ptrdiff_t>(prompts),
                                 history.end());
    native.extra = extra_members(session.extra, known_names(!other_id(session).empty()));
  }
  members.text(kSidecar, sidecar_of(file.stored, native, prompts, key));
  return members;
}

void record_spelling(FileSession& file, const std::vector<RawMember>& members) {
  const Members written =
      encode_members(file, history_of(file.stored.session, prompts_outside_history(file.stored)));
  const auto texts = written.texts();
  std::map<std::string_view, int> counts;
  for (const RawMember& member : members) {
    ++counts[member.name];
  }
  for (const RawMember& member : members) {
    const auto json = texts.find(member.name);
    const std::string_view written_json = json == texts.end() ? std::string_view() : json->second;
    if (written_json == member.json || counts[member.name] > 1) {
      continue;
    }
    if (member.name == "todos" && !record_todos(member.json, file.preserved)) {
      continue;
    }
    file.preserved.push_back(
        {cat("/", member.name), std::string(written_json), std::string(member.json)});
    if (member.name == "config") {
      const SessionInfo& info = file.stored.session.info;
      record_config(member.json, {info.provider, info.model, file.stored.session.config},
                    file.preserved);
    }
  }
}

std::string name_of(const SessionInfo& info) {
  std::string title = shortened(info.title);
  if (!title.empty()) {
    return title;
  }
  std::filesystem::path path(info.working_dir);
  path = path.has_filename() ? path : path.parent_path();
  std::string folder = shortened(path.filename().native());
  if (folder.empty()) {
    folder = "untitled";
  }
  return folder;
}

std::vector<std::string> prompts_outside_history(const StoredSession& stored) {
  std::map<std::string_view, std::int64_t> unmatched;
  for (const std::string& prompt : stored.session.prompt_history) {
    ++unmatched[trimmed(prompt)];
  }
  std::vector<std::string> prompts;
  for (std::int64_t seq = 0; seq < stored.log->size(); ++seq) {
    std::string prompt = prompt_in(*stored.log->at(seq), !stored.session.prompt_history.empty());
    const auto match = unmatched.find(prompt);
    if (match != unmatched.end() && match->second > 0) {
      --match->second;
    } else if (!prompt.empty()) {
      prompts.push_back(std::move(prompt));
    }
  }
  std::ranges::reverse(prompts);
  prompts.resize(std::min(prompts.size(), kPromptsMax));
  std::size_t bytes = 0;
  const auto is_too_much = [&bytes](const std::string& prompt) {
    bytes += prompt.size();
    return bytes > kPromptBytesMax;
  };
  prompts.erase(std::ranges::find_if(prompts, is_too_much), prompts.end());
  return prompts;
}

}  // namespace reprise::store::sessions
