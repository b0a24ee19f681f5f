#include "search/document.h"

#include <algorithm>
#include <variant>

#include "base/encode.h"
#include "base/json_scan.h"
#include "base/json_view.h"
#include "base/text.h"
#include "base/utf8.h"
#include "reprise/message.h"
#include "search/fold.h"
#include "search/tokenizer.h"

namespace reprise::search {
namespace {

// Keys, strings and numbers of a value, without punctuation and escapes.
bool append_values(std::string& out, json::Scanner& scanner) {
  switch (scanner.kind()) {
    case json::Kind::object:
      return scanner.object([&](std::string_view key) {
        out += cat(key, ": ");
        return append_values(out, scanner);
      });
    case json::Kind::array:
      return scanner.array([&] { return append_values(out, scanner); });
    case json::Kind::string: {
      std::string text;
      const bool read = scanner.string(text);
      out += cat(text, " ");
      return read;
    }
    default: {
      std::string_view raw;
      const bool read = scanner.raw(raw);
      out += cat(raw, " ");
      return read;
    }
  }
}

class TextCollector {
 public:
  void operator()(const TextBlock& block) { add(SearchPart::text, block.text); }
  void operator()(const ThinkingBlock& block) { add(SearchPart::thinking, block.text); }
  void operator()(const ToolUseBlock& block) {
    std::string call = cat(block.name, " ");
    json::Scanner scanner(block.input.text());
    append_values(call, scanner);
    add(SearchPart::tools, call);
  }
  void operator()(const ToolResultBlock& block) { add(SearchPart::tools, block.text); }
  void operator()(const ImageBlock& /*block*/) {}
  // A call that the provider runs itself, such as a search of the web.
  void operator()(const UnknownBlock& block) {
    const JsonView action = JsonView(block.json.text())["action"];
    if (action) {
      std::string call = cat(block.type, " ");
      json::Scanner scanner(action.raw());
      append_values(call, scanner);
      add(SearchPart::tools, call);
    }
  }

  Texts take() { return std::move(texts_); }

 private:
  void add(SearchPart part, std::string_view text) {
    text = text.substr(0, kTextBytesMax - std::min(kTextBytesMax, texts_.bytes()));
    if (text.empty()) {
      return;
    }
    std::string& part_text = texts_.parts.at(static_cast<std::size_t>(part));
    if (!part_text.empty()) {
      part_text += '\n';
    }
    if (utf8::is_valid(text)) {
      part_text += text;
    } else {
      part_text += utf8::sanitize(text);  // sanitizes partial characters, too
    }
  }

  Texts texts_;
};

// A hash of 40 bits.
std::string short_hash(std::string_view value) {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
  std::uint64_t hash = fnv1a(value);
  hash ^= hash >> 32U;
  std::string out;
  for (int i = 0; i < 8; ++i) {
    out += kDigits[hash & 31U];
    hash >>= 5U;
  }
  return out;
}

// Attributes by which the message itself can be filtered.
std::vector<std::string> message_attributes(const Message& message) {
  std::vector<std::string> attributes = {attribute_token(Attribute::role, message.role)};
  if (!message.model.empty()) {
    attributes.push_back(attribute_token(Attribute::model, message.model));
  }
  if (message.author) {
    attributes.push_back(attribute_token(Attribute::author, message.author->str()));
  }
  for (const Block& block : message.blocks) {
    if (const auto* const call = std::get_if<ToolUseBlock>(&block)) {
      attributes.push_back(attribute_token(Attribute::tool, call->name));
    }
  }
  return attributes;
}

}  // namespace

Texts texts_of(const Message& message) {
  TextCollector collector;
  for (const Block& block : message.blocks) {
    std::visit(collector, block);
  }
  return collector.take();
}

std::string attribute_token(Attribute attribute, std::string_view value) {
  return cat(kAttributesBegin, static_cast<char>(attribute), short_hash(value));
}

std::string session_token(std::int64_t key) {
  return cat(kAttributesBegin, static_cast<char>(Attribute::session), key);
}

std::string attributes_of(const Message& message, std::int64_t session,
                          std::string_view folder_token) {
  std::string attributes = cat(kAttributesBegin, session_token(session), " ", folder_token);
  for (const std::string& attribute : message_attributes(message)) {
    attributes += cat(" ", attribute);
  }
  attributes += kAttributesEnd;
  return attributes;
}

WordEntry entry_of(const Message& message) {
  const Texts texts = texts_of(message);
  WordEntry entry{.parts = std::vector<std::vector<std::string>>(kParts),
                  .attributes = message_attributes(message),
                  .bytes = static_cast<std::int64_t>(texts.bytes())};
  for (std::size_t part = 0; part < kParts; ++part) {
    for (Words words(texts.parts.at(part)); words.next();) {
      entry.parts[part].push_back(words.folded());
    }
  }
  return entry;
}

void Tail::add(const Message& message, const Texts& texts) {
  const bool is_continued = first && message.role == role::kTool;
  std::uint64_t hash = is_continued ? static_cast<std::uint64_t>(fingerprint) : kFnvOffset;
  hash = fnv1a(std::to_string(message.created_at.time_since_epoch().count()), hash);
  for (const std::string& part : texts.parts) {
    hash = fnv1a(part, hash);
  }
  first = is_continued ? first : message.seq;
  fingerprint = static_cast<std::int64_t>(hash);
}

}  // namespace reprise::search
