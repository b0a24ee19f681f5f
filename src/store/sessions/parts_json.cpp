#include "store/sessions/parts_json.h"

#include <algorithm>
#include <array>

#include "base/json_scan.h"
#include "base/json_write.h"
#include "base/text.h"
#include "reprise/session.h"
#include "store/document/document_format.h"
#include "store/document/sidecar.h"
#include "store/rules.h"
#include "store/sessions/spelling.h"
#include "store/stored_json.h"

namespace reprise::store::sessions {
namespace {

constexpr int kMemberDepth = 2;  // of the members of config
// Values of PreservedText::position.
constexpr std::string_view kConfig = "config";
constexpr std::string_view kTodos = "todos";

constexpr std::array<std::string_view, 5> kTodoMembers = {"active_form", "activeForm", "content",
                                                          "status", kSidecar};

// The members of an object with compact values.
Extra members_of(std::string_view raw) {
  Extra members;
  json::Scanner scanner(raw);
  scanner.object([&](std::string_view name) {
    std::string_view value;
    if (!scanner.raw(value)) {
      return false;
    }
    members.push_back({std::string(name), json::take(json::compact(value))});
    return true;
  });
  return members;
}

bool is_object(std::string_view raw) {
  return raw.starts_with('{');
}

bool is_active_form(const ExtraField& field) {
  return (field.name == "active_form" || field.name == "activeForm") && !field.value.is_null() &&
         !field.value.text().starts_with('"');
}

// nullopt if a todo has no text or an unknown state.
std::optional<Todo> read_todo(std::string_view raw) {
  Todo todo;
  std::optional<std::string> content;
  std::optional<TodoStatus> status;
  json::Scanner scanner(raw);
  const auto member = [&](std::string_view name) {
    std::string text;
    if (scanner.kind() == json::Kind::string) {
      if (name == "content") {
        return scanner.string(content.emplace());
      }
      if (name == "active_form" || name == "activeForm") {
        return scanner.string(todo.active_form);
      }
      if (name == "status") {
        const bool is_valid = scanner.string(text);
        status = parse_todo_status(text);
        return is_valid;
      }
      if (name == kSidecar) {
        const bool is_valid = scanner.string(text);
        todo.extra = extra_from_json(text);
        return is_valid;
      }
    }
    std::string_view value;
    const bool is_valid = scanner.raw(value);
    todo.extra.push_back({std::string(name), json::take(json::compact(value))});
    return is_valid;
  };
  if (!is_object(raw) || !scanner.object(member) || !content || !status) {
    return std::nullopt;
  }
  todo.content = *std::move(content);
  todo.status = *status;
  if (todo.active_form == todo.content) {
    todo.active_form.clear();  // the placeholder for a missing one
  }
  return todo;
}

std::string write_todo(const Todo& todo) {
  Members members(kEntryDepth + 1);
  members.text("active_form", todo.active_form.empty() ? todo.content : todo.active_form);
  members.text("content", todo.content);
  members.text("status", to_string(todo.status));
  const Extra own = extra_members(todo.extra, kTodoMembers);
  if (own == todo.extra) {
    for (const ExtraField& field : own) {
      members.extra(field);
    }
  } else {
    members.text(kSidecar, extra_to_json(todo.extra));
  }
  return members.object();
}

}  // namespace

Config read_config(std::string_view raw) {
  Config config;
  if (!is_object(raw)) {
    config.settings = json::take(json::compact(raw));
    return config;
  }
  std::string settings;
  json::ObjectWriter object(settings);
  for (const ExtraField& member : members_of(raw)) {
    auto text = json::text_in(member.value.text());
    // "" remains in the settings, to preserve that it was present.
    if (text && !text->empty() && (member.name == "provider" || member.name == "model")) {
      (member.name == "model" ? config.model : config.provider) = *std::move(text);
    } else {
      object.raw(member.name, member.value.text());
    }
  }
  object.close();
  if (settings != "{}") {
    config.settings = json::take(settings);
  }
  return config;
}

std::string_view original_provider(std::string_view provider) {
  return provider == "openai-chat" || provider == "openai-responses" ? "openai" : provider;
}

namespace {

Members config_members(const Config& config) {
  Members members(kMemberDepth);
  std::vector<std::string_view> written_names;
  if (!config.provider.empty()) {
    members.text("provider", original_provider(config.provider));
    written_names.emplace_back("provider");
  }
  if (!config.model.empty()) {
    members.text("model", config.model);
    written_names.emplace_back("model");
  }
  if (is_object(config.settings.text())) {
    for (const ExtraField& field :
         extra_members(members_of(config.settings.text()), written_names)) {
      members.extra(field);
    }
  }
  return members;
}

}  // namespace

std::string write_config(const Config& config, const std::vector<PreservedText>& preserved) {
  const bool has_settings = is_object(config.settings.text());
  if (!has_settings && !config.settings.is_null() && config.provider.empty() &&
      config.model.empty()) {
    return json::pretty(config.settings.text(), kMemberDepth - 1).value_or("null");
  }
  Members members = config_members(config);
  members.restore(preserved, kConfig);
  return members.object();
}

void record_config(std::string_view raw, const Config& config,
                   std::vector<PreservedText>& preserved) {
  const Members written = config_members(config);
  const auto texts = written.texts();
  json::Scanner scanner(raw);
  scanner.object([&](std::string_view name) {
    std::string_view value;
    if (!scanner.raw(value)) {
      return false;
    }
    if (const auto json = texts.find(name); json != texts.end() && json->second != value) {
      preserved.push_back({cat(kConfig, "/", name), std::string(json->second), std::string(value)});
    }
    return true;
  });
}

bool record_todos(std::string_view raw, std::vector<PreservedText>& preserved) {
  bool is_preservable = true;
  json::Scanner scanner(raw);
  scanner.array([&] {
    std::string_view entry;
    if (!scanner.raw(entry)) {
      return false;
    }
    if (const auto todo = read_todo(entry); todo) {
      std::string json = write_todo(*todo);
      if (json::find_member(entry, "active_form").empty()) {
        is_preservable = false;
      } else if (json != entry) {
        preserved.push_back({std::string(kTodos), std::move(json), std::string(entry)});
      }
    }
    return true;
  });
  return is_preservable;
}

TodoList read_todos(std::string_view raw) {
  TodoList list;
  json::Scanner scanner(raw);
  std::int64_t index = 0;
  scanner.array([&] {
    std::string_view entry;
    if (!scanner.raw(entry)) {
      return false;
    }
    const auto damaged = [&](std::string reason) {
      list.damage.push_back({cat("todos[", index, "]"), std::move(reason), excerpt_of(entry)});
    };
    if (auto todo = read_todo(entry); todo) {
      if (std::ranges::any_of(todo->extra, is_active_form)) {
        damaged("its active form is not a string");
      }
      list.todos.push_back(*std::move(todo));
    } else {
      list.raw_entries.push_back(
          {static_cast<std::int64_t>(list.todos.size()), json::take(entry), std::string(entry)});
      damaged("no todo");
    }
    ++index;
    return true;
  });
  return list;
}

std::string write_todos(const std::vector<Todo>& todos, const std::vector<RawEntry>& raw_entries,
                        const std::vector<PreservedText>& preserved) {
  std::string entries;
  const PreservedTexts preserved_texts(preserved);
  auto next = raw_entries.begin();
  for (std::size_t i = 0; i <= todos.size(); ++i) {
    const bool is_last = i == todos.size();
    for (; next != raw_entries.end() && (is_last || std::cmp_less_equal(next->before, i)); ++next) {
      append_entry(entries, write_raw_entry(*next));
    }
    if (!is_last) {
      const std::string json = write_todo(todos[i]);
      const std::string* const before = preserved_texts.find(kTodos, json);
      append_entry(entries, before != nullptr ? *before : json);
    }
  }
  return array_of(entries);
}

bool read_strings(std::string_view raw, std::vector<std::string>& out) {
  out.clear();
  json::Scanner scanner(raw);
  return scanner.array([&] {
    std::string text;
    const bool is_text = scanner.string(text);
    if (is_text) {
      out.push_back(std::move(text));
    }
    return is_text;
  });
}

std::string write_strings(const std::vector<std::string>& strings) {
  std::string entries;
  for (const std::string& text : strings) {
    append_entry(entries, quoted_string(text));
  }
  return array_of(entries);
}

std::string write_raw_entry(const RawEntry& entry) {
  // RawJson is valid JSON, so formatting cannot fail.
  return !entry.bytes.empty()
             ? entry.bytes
             : json::pretty(entry.json.text(), kEntryDepth).value_or(entry.json.text());
}

void append_entry(std::string& entries, std::string_view json) {
  entries += entries.empty() ? "" : ",";
  append_line(entries, kEntryDepth);
  entries += json;
}

std::string array_of(std::string_view entries) {
  std::string out = cat("[", entries);
  if (!entries.empty()) {
    append_line(out, kEntryDepth - 1);
  }
  return out + "]";
}

}  // namespace reprise::store::sessions
