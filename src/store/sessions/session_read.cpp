#include <algorithm>
#include <limits>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "base/utf8.h"
#include "store/document/document_format.h"
#include "store/document/sidecar.h"
#include "store/rules.h"
#include "store/sessions/layout.h"
#include "store/sessions/ours.h"
#include "store/sessions/parts_json.h"
#include "store/sessions/session_json.h"
#include "store/sessions/session_members.h"
#include "store/sessions/spelling.h"
#include "store/stored_json.h"
#include "store/stored_session.h"

namespace reprise::store::sessions {
namespace {

constexpr std::int64_t kVersion = 1;

std::size_t prompt_count_in(std::string_view sidecar) {
  std::int64_t prompts = 0;
  json::Scanner scanner(json::find_member(sidecar, "prompts"));
  return scanner.integer(prompts) && prompts > 0 ? static_cast<std::size_t>(prompts) : 0;
}

enum class OurMembers : std::uint8_t { read, ignored };

// Reads one file's members into a session.
class Reader {
 public:
  // `ours` is our version of the file; null if there is none.
  Reader(const Location& location, std::string_view json, const Ours* ours = nullptr,
         OurMembers our_members = OurMembers::read)
      : scanner_(json),
        location_(location),
        ours_(ours),
        our_members_(our_members),
        file_{.stored = {.session = {.info = {.id = location.id, .state = location.state}}}} {}

  Result<FileSession> run(Spelling spelling) {
    if (scanner_.kind() != json::Kind::object) {
      return fail(Code::corrupt, "it does not contain a JSON object");
    }
    if (!scanner_.object([this](std::string_view name) { return member(name); }) ||
        !scanner_.end()) {
      return std::unexpected(scanner_.fault());
    }
    if (version_ > kVersion) {
      return fail(Code::unsupported,
                  cat("it is of version ", version_, ", which is not known here"));
    }
    if (!conversation_.starts_with('[')) {
      return fail(Code::corrupt, "it does not contain a session: it has no conversation");
    }
    read_conversation();
    finish_session();
    if (spelling == Spelling::recorded) {
      record_spelling(file_, raw_);
    }
    return std::move(file_);
  }

 private:
  // An element of the conversation.
  struct Element {
    std::string_view raw;
    Entry entry;
    std::int64_t index;  // its position in the file
    Time time;
    std::optional<std::int64_t> place = {};  // in our version of the file
  };

  Session& session() { return file_.stored.session; }
  SessionInfo& info() { return file_.stored.session.info; }

  void report(std::string_view where, std::string reason, std::string_view excerpt) {
    file_.damage.push_back(
        {cat(location_.id.str(), ".json: ", where), std::move(reason), excerpt_of(excerpt)});
  }

  // Reports the member, and preserves it among the unknown fields.
  bool preserve(std::string_view name, std::string_view raw, std::string reason) {
    report(name, std::move(reason), raw);
    session().extra.push_back({std::string(name), json::take(json::compact(raw))});
    return true;
  }

  bool member(std::string_view name) {
    std::string_view raw;
    if (!scanner_.raw(raw)) {
      return false;
    }
    if (name == "conversation") {
      conversation_ = raw;
      return true;
    }
    if (!utf8::is_valid(raw)) {
      report(name, std::string(kNotUtf8), raw);
    }
    if (!is_always_written(name, raw)) {
      raw_.push_back({std::string(name), raw});
    }
    if (name == "config") {
      Config config = read_config(raw);
      if (!raw.starts_with('{')) {
        report(name, "not an object", raw);
      }
      info().provider = std::move(config.provider);
      info().model = std::move(config.model);
      session().config = std::move(config.settings);
    } else if (name == "version") {
      return version(raw);
    } else if (!text_member(name, raw) && !list_member(name, raw)) {
      session().extra.push_back({std::string(name), json::take(json::compact(raw))});
    }
    return true;
  }

  // Members that are always written again: our own one, the signature, and a readable name.
  static bool is_always_written(std::string_view name, std::string_view raw) {
    return name == kSidecar || name == "signature" ||
           (name == "name" && raw.starts_with('"') && utf8::is_valid(raw));
  }

  bool version(std::string_view raw) {
    json::Scanner scanner(raw);
    return scanner.integer(version_) || preserve("version", raw, "not a number");
  }

  // false for other members.
  bool text_member(std::string_view name, std::string_view raw) {
    std::string text;
    const bool is_text = raw.starts_with('"') && json::Scanner(raw).string(text);
    if (name == "name" || name == "project_path") {
      if (!is_text) {
        return preserve(name, raw, "no text");
      }
      if (name == "name") {
        name_ = text;
      }
      (name == "name" ? info().title : info().working_dir) = std::move(text);
      return true;
    }
    if (name == "created_at") {
      return time(name, raw, created_at_);
    }
    if (name == "updated_at") {
      return time(name, raw, updated_at_);
    }
    if (name == "closed_at") {
      return raw == "null" || time(name, raw, closed_at_);
    }
    if (name == "id") {
      if (!is_text) {
        report(name, "no text", raw);
      }
      // The file's name is the id that lists show, whatever id the file contains.
      return is_text && text == location_.id.str();
    }
    if (name == kSidecar && is_text) {
      sidecar_ = std::move(text);
      return true;
    }
    if (name == "signature") {
      if (!is_text && raw != "null") {
        report(name, "no text", raw);
      }
      return true;
    }
    return false;
  }

  bool time(std::string_view name, std::string_view raw, std::optional<Time>& out) {
    std::string text;
    const bool is_text = raw.starts_with('"') && json::Scanner(raw).string(text);
    out = is_text ? parse_time(text) : std::nullopt;
    if (out && format_time(*out) != text) {
      spelling_.push_back({std::string(name), RawJson::string(text)});
    }
    return out.has_value() || preserve(name, raw, "no time that can be read");
  }

  bool list_member(std::string_view name, std::string_view raw) {
    if (name == "todos") {
      if (!raw.starts_with('[')) {
        return preserve(name, raw, "not an array");
      }
      TodoList list = read_todos(raw);
      file_.stored.todos = std::move(list.todos);
      file_.raw_todos = std::move(list.raw_entries);
      for (Damage& damage : list.damage) {
        report(damage.where, std::move(damage.reason), damage.excerpt);
      }
      return true;
    }
    if (name == "prompt_history") {
      return read_strings(raw, session().prompt_history) ||
             preserve(name, raw, "not an array of strings");
    }
    if (name == "cumulative_usage") {
      usage_ = read_usage(raw);
      return usage_.has_value() || preserve(name, raw, "no sums that can be parsed");
    }
    return false;
  }

  void read_conversation() {
    std::vector<Element> elements = split_conversation();
    std::int64_t messages = 0;
    Time time = first_time(elements);
    for (Element& element : elements) {
      messages += element.entry.native ? 1 : 0;
      time = element.entry.at.value_or(time);
      element.time = time;
      element.entry.at = time;
    }
    if (stored_message_count(sidecar_) != messages) {
      find_places(elements);
      std::ranges::stable_sort(elements, {}, &Element::time);
    }
    for (Element& element : elements) {
      add_element(element);
    }
    // Entries after the last message are encoded again, after the messages to be appended.
    EncodedMessages& encoded = file_.encoded;
    encoded.text.resize(encoded.ends.empty() ? 0 : encoded.ends.back());
    encoded.count = info().head.value;
  }

  std::vector<Element> split_conversation() {
    std::vector<Element> elements;
    json::Scanner scanner(conversation_);
    scanner.array([&] {
      std::string_view raw;
      if (!scanner.raw(raw)) {
        return false;
      }
      const auto index = static_cast<std::int64_t>(elements.size());
      Entry entry = read_entry(raw);
      if (our_members_ == OurMembers::ignored) {
        entry.sidecar.clear();
      }
      elements.push_back({raw, std::move(entry), index, {}});
      return true;
    });
    return elements;
  }

  // Sorts what is in our version of the file as it is there, for messages of equal times.
  void find_places(std::vector<Element>& elements) {
    if (ours_ == nullptr) {
      return;
    }
    for (Element& element : elements) {
      if (element.entry.native) {
        element.place = ours_->find(*element.entry.native);
        is_ours_ = is_ours_ || element.place;
      }
    }
    std::ranges::stable_sort(elements, {}, [](const Element& element) {
      return element.place.value_or(std::numeric_limits<std::int64_t>::max());
    });
  }

  static Time first_time(const std::vector<Element>& elements) {
    for (const Element& element : elements) {
      if (element.entry.at) {
        return *element.entry.at;
      }
    }
    return {};
  }

  void add_element(Element& element) {
    const bool is_message = element.entry.native.has_value();
    std::string json(element.raw);
    if (element.entry.native) {
      Message message =
          finish_message(*std::move(element.entry.native), element.entry, info().head);
      if (ours_ != nullptr && element.place) {
        message = ours_->merged(std::move(message), *element.place);
        remove_default_id(message, info().head);
        message.seq = info().head;
        json = write_message(message, element.time);
      }
      add_message(file_.stored, std::move(message));
    } else {
      file_.raw_entries.push_back(
          {info().head.value, json::take(element.raw), std::string(element.raw)});
    }
    for (const std::string& reason : element.entry.reasons) {
      report(cat("conversation[", element.index, "]"), reason, element.raw);
    }
    std::string& text = file_.encoded.text;
    append_entry(text, json);
    if (is_message) {
      file_.encoded.ends.push_back(text.size());
    }
  }

  void finish_session() {
    info().created_at = created_at_.value_or(updated_at_.value_or(closed_at_.value_or(Time())));
    info().updated_at = updated_at_.value_or(closed_at_.value_or(info().created_at));
    if (!location_.is_open()) {
      info().closed_at = closed_at_;
    }
    if (!spelling_.empty()) {
      json::set_field(session().extra, kSpelling, json::take(extra_to_json(spelling_)));
    }
    if (usage_ || stored_message_count(sidecar_)) {
      session().usage = usage_.value_or(Usage());
    }
    if (ours_ != nullptr && (is_ours_ || !ours_->has_messages())) {
      ours_->merge_into(file_.stored);
    }
    if (!sidecar_.empty() && our_members_ == OurMembers::read) {
      const std::string provider = info().provider;
      if (const auto added = add_session_sidecar(file_.stored, sidecar_); !added) {
        preserve(kSidecar, RawJson::string(sidecar_).text(), added.error().message);
      }
      if (original_provider(info().provider) != original_provider(provider)) {
        info().provider = provider;  // set by another program
      }
    }
    if (name_ && *name_ != name_of(info())) {
      info().title = *name_;  // set by another program
    }
    if (our_members_ == OurMembers::read) {
      remove_derived_prompts();
    }
    const bool is_archived = !location_.is_open() && info().state == SessionState::archived;
    const auto unless_archived = [is_archived](SessionState state) {
      return is_archived && state == SessionState::closed ? SessionState::archived : state;
    };
    info().state = unless_archived(location_.state);
    file_.stored.state_before_trash = unless_archived(location_.before);
    report_missing_turns();
  }

  // Removes derived prompts from the history; those changed by another program are no longer
  // derived.
  void remove_derived_prompts() {
    const std::size_t count = prompt_count_in(sidecar_);
    std::vector<std::string>& prompts = session().prompt_history;
    if (count == 0 || count > prompts.size() || !json::find_member(sidecar_, kPrompts).empty()) {
      return;
    }
    const auto first_stored = prompts.begin() + static_cast<std::ptrdiff_t>(count);
    const std::vector<std::string> derived(prompts.begin(), first_stored);
    std::vector<std::string> others(first_stored, prompts.end());
    prompts.swap(others);
    if (prompts_outside_history(file_.stored) != derived) {
      prompts.swap(others);
    }
  }

  // The original program may have stored only the answers.
  void report_missing_turns() {
    const Log& log = *file_.stored.log;
    const auto has = [&log](std::string_view role) {
      return std::ranges::any_of(
          log.own, [role](const SharedMessage& message) { return message->role == role; });
    };
    if (has(role::kAssistant) && !has(role::kUser)) {
      file_.gaps.push_back(
          {cat(location_.id.str(), ".json: conversation"),
           cat("the answers have no questions",
               session().prompt_history.empty() ? "" : ": the questions are in the prompt history"),
           ""});
    }
  }

  json::Scanner scanner_;
  const Location& location_;
  const Ours* ours_;
  OurMembers our_members_;
  bool is_ours_ = false;  // one of its messages is in our version of the file
  FileSession file_;
  std::string_view conversation_;
  std::vector<RawMember> raw_;
  std::optional<std::string> name_;
  std::string sidecar_;
  std::int64_t version_ = kVersion;
  std::optional<Usage> usage_;
  std::optional<Time> created_at_;
  std::optional<Time> updated_at_;
  std::optional<Time> closed_at_;
  Extra spelling_;
};

}  // namespace

std::optional<std::int64_t> stored_message_count(std::string_view sidecar) {
  std::int64_t messages = 0;
  json::Scanner scanner(json::find_member(sidecar, "messages"));
  return scanner.integer(messages) ? std::optional(messages) : std::nullopt;
}

Result<FileSession> read_session(const Location& location, std::string_view json,
                                 Spelling spelling) {
  return Reader(location, json).run(spelling);
}

Result<FileSession> read_session_with(const Ours& ours, const Location& location,
                                      std::string_view json, Spelling spelling) {
  return Reader(location, json, &ours).run(spelling);
}

Result<FileSession> read_known(const Location& location, std::string_view json) {
  return Reader(location, json, nullptr, OurMembers::ignored).run(Spelling::ignored);
}

}  // namespace reprise::store::sessions
