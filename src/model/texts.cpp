#include "model/texts.h"

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "base/encode.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/fields.h"

namespace reprise::model {
namespace {

constexpr std::string_view kFolder = "working_dir";
constexpr std::string_view kBase64 = "_base64";
constexpr std::string_view kTextName = "text";
constexpr std::string_view kOriginalText = "original";

// Calls visit(name, text) for the fields of a list that are texts. Those of a patch are optional.
template <class Fields, class Owner, class Visit>
void visit_fields(const Fields& fields, Owner& owner, const Visit& visit) {
  for_each(fields, [&](const auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Type, std::string>) {
      visit(field.name, owner.*field.member);
    }
  });
}

template <class Chain, class Visit>
void visit_chain(Chain& chain, const Visit& visit) {
  for (auto& link : chain) {
    visit("response_chain", link.provider);
    visit("response_chain", link.response_id);
  }
}

template <class SessionType, class Visit>
void visit_session(SessionType& session, const Visit& visit) {
  visit_fields(kInfoFields, session.info, visit);
  visit_fields(kSessionFields, session, visit);
  visit_chain(session.response_chain, visit);
  for (auto& prompt : session.prompt_history) {
    visit("prompt_history", prompt);
  }
}

// Calls visit(name, text) for each text of a block of any kind.
template <class BlockType, class Visit>
void visit_block(BlockType& block, const Visit& visit) {
  const auto visit_kind = [&visit](auto& part) {
    if constexpr (requires { part.text; }) {
      visit(kTextName, part.text);
    }
    if constexpr (requires { part.signature; }) {
      visit("signature", part.signature);
    }
    if constexpr (requires { part.id; }) {
      visit("id", part.id);
    }
    if constexpr (requires { part.name; }) {
      visit("name", part.name);
    }
    if constexpr (requires { part.tool_use_id; }) {
      visit("tool_use_id", part.tool_use_id);
    }
    if constexpr (requires { part.media_type; }) {
      visit("media_type", part.media_type);
    }
    if constexpr (requires { part.url; }) {
      visit("url", part.url);
    }
    if constexpr (requires { part.type; }) {
      visit("type", part.type);
    }
  };
  std::visit(visit_kind, block);
}

template <class MessageType, class Visit>
void visit_head(MessageType& message, const Visit& visit) {
  visit_fields(kMessageFields, message, visit);
  if (message.usage) {
    visit("request_id", message.usage->request_id);
    visit("price_source", message.usage->price_source);
  }
}

// The first fault.
class Checker {
 public:
  void operator()(std::string_view name, std::string_view text) const {
    if (!fault_) {
      return;
    }
    if (name == kFolder) {
      if (text.contains('\0')) {
        fault_ = fail(Code::invalid_argument, cat(name, " contains a NUL"));
      }
    } else {
      fault_ = check_text(name, text);
    }
  }
  void role(std::string_view role) const {
    if (fault_ && role.empty()) {
      fault_ = fail(Code::invalid_argument, "role is empty");
    }
  }
  Result<> take() { return std::move(fault_); }

 private:
  mutable Result<> fault_;
};

class Mender {
 public:
  explicit Mender(Extra& extra) : extra_(extra) {}

  void operator()(std::string_view name, std::string& text) const {
    if (name == kFolder) {
      const auto nuls = std::erase(text, '\0');
      has_changed_ = has_changed_ || nuls > 0;
      return;
    }
    if (utf8::is_valid(text)) {
      return;
    }
    has_changed_ = true;
    const std::string field = cat(name == kTextName ? kOriginalText : name, kBase64);
    if (std::ranges::find(extra_, field, &ExtraField::name) == extra_.end()) {
      extra_.push_back({field, RawJson::string(base64_encode(text))});
    }
    text = utf8::sanitize(text);
  }
  bool has_changed() const { return has_changed_; }

 private:
  Extra& extra_;
  mutable bool has_changed_ = false;
};

// Names of unknown fields have no place for their bytes.
bool mend_names(Extra& extra) {
  bool has_changed = false;
  for (ExtraField& field : extra) {
    if (!utf8::is_valid(field.name)) {
      field.name = utf8::sanitize(field.name);
      has_changed = true;
    }
  }
  return has_changed;
}

void check_names(const Checker& check, const Extra& extra) {
  for (const ExtraField& field : extra) {
    check("the name of an extra field", field.name);
  }
}

bool mend_block(Block& block) {
  Extra extra;
  const Mender mend(extra);
  visit_block(block, mend);
  const auto add = [&extra](auto& part) {
    if constexpr (requires { part.extra; }) {
      std::ranges::move(extra, std::back_inserter(part.extra));
      return mend_names(part.extra);
    }
    return false;
  };
  const bool names = std::visit(add, block);
  return mend.has_changed() || names;
}

}  // namespace

Result<> check_text(std::string_view name, std::string_view text) {
  const std::size_t valid = utf8::valid_prefix(text);
  return valid == text.size()
             ? Result<>()
             : fail(Code::invalid_argument, cat(name, " is not UTF-8 (from byte ", valid, " on)"));
}

Result<> check(const Session& session) {
  Checker checker;
  visit_session(session, checker);
  check_names(checker, session.extra);
  return checker.take();
}

Result<> check(const SessionPatch& patch) {
  Checker checker;
  const auto visit = [&](const auto& field) {
    if constexpr (std::is_same_v<typename std::decay_t<decltype(field)>::Type, std::string>) {
      if (field.patch != nullptr && patch.*field.patch) {
        checker(field.name, *(patch.*field.patch));
      }
    }
  };
  for_each(kInfoFields, visit);
  for_each(kSessionFields, visit);
  if (patch.response_chain) {
    visit_chain(*patch.response_chain, checker);
  }
  if (patch.prompt_history) {
    for (const std::string& prompt : *patch.prompt_history) {
      checker("prompt_history", prompt);
    }
  }
  if (patch.extra) {
    check_names(checker, *patch.extra);
  }
  return checker.take();
}

Result<> check(const Message& message) {
  Checker checker;
  checker.role(message.role);
  visit_head(message, checker);
  check_names(checker, message.extra);
  for (std::size_t i = 0; i < message.blocks.size(); ++i) {
    visit_block(message.blocks[i], [&](std::string_view name, std::string_view text) {
      if (!utf8::is_valid(text)) {  // the name is made only then
        checker(cat("blocks[", i, "].", name), text);
      }
    });
    const auto names = [&checker](const auto& part) {
      if constexpr (requires { part.extra; }) {
        check_names(checker, part.extra);
      }
    };
    std::visit(names, message.blocks[i]);
  }
  return checker.take();
}

Result<> check(std::span<const Message> messages) {
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (auto checked = check(messages[i]); !checked) {
      return messages.size() == 1
                 ? std::move(checked)
                 : fail_with_context(cat("messages[", i, "]"), std::move(checked).error());
    }
  }
  return {};
}

Result<> check(std::span<const Todo> todos) {
  Checker checker;
  for (const Todo& todo : todos) {
    visit_fields(kTodoFields, todo, checker);
    check_names(checker, todo.extra);
  }
  return checker.take();
}

bool mend(Session& session) {
  Extra extra;
  const Mender mender(extra);
  visit_session(session, mender);
  std::ranges::move(extra, std::back_inserter(session.extra));
  const bool names = mend_names(session.extra);
  return mender.has_changed() || names;
}

bool mend(Message& message) {
  Extra extra;
  const Mender mender(extra);
  visit_head(message, mender);
  std::ranges::move(extra, std::back_inserter(message.extra));
  bool has_changed = mend_names(message.extra) || mender.has_changed();
  for (Block& block : message.blocks) {
    has_changed = mend_block(block) || has_changed;
  }
  if (message.role.empty()) {
    message.role = kUnknownRole;
    has_changed = true;
  }
  return has_changed;
}

}  // namespace reprise::model
