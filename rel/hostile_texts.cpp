#include "hostile_texts.h"

#include <array>
#include <stdexcept>

#include "base/text.h"
#include "hostile_files.h"
#include "life.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPoisonBytesMax = 20'000;

constexpr std::array<std::string_view, 12> kPayloads = {
    "\x1b[31337m",
    "\x1b]0;owned\x07",
    "\x1b]8;;http://x/\x1b\\",
    "\x1bP1$r0m\x1b\\",
    "\x1b_owned\x1b\\",
    "\xc2\x9b"
    "31337m",
    "\xc2\x9d"
    "0;owned\x07",
    "\x1b[6n",
    "\x1b[?31337h",
    kRightToLeftOverride,
    kLeftToRightIsolate,
    "\x07\x08\x0b\x0c\x0e",
};

std::string hostile_text(unsigned number) {
  // Rows with joined emoji are written to the terminal by separate code.
  constexpr std::string_view kFamily = "\U0001F469\u200D\U0001F469\u200D\U0001F467";
  std::string out = cat(kHarmless, " ", number, " ", number % 3 == 0 ? kFamily : "", " ");
  for (std::size_t i = 0; i < 5; ++i) {
    const std::size_t which = std::size_t{number} * 7 + i * 3;
    out += cat(kPayloads.at(which % kPayloads.size()), " ",
               std::string_view(poisons()[which % poisons().size()]).substr(0, kPoisonBytesMax),
               "\n# | ");
  }
  return out;
}

// The text after conversion to a text block: valid UTF-8, otherwise unchanged.
std::string valid(std::string_view text) {
  Message message;
  message.blocks = {text_block(text)};
  return plain_text(message);
}

Message message_of(std::string_view role, std::string_view model, std::vector<Block> blocks) {
  Message out;
  out.role = role;
  out.blocks = std::move(blocks);
  out.model = role == role::kAssistant ? model : "";
  return out;
}

std::vector<Message> conversation(const std::string& text, bool failed) {
  const std::string_view model = std::string_view(text).substr(0, 60);
  return {
      message_of(role::kUser, model, {text_block(text)}),
      message_of(role::kAssistant, model,
                 {ThinkingBlock{text, "", {}}, ToolUseBlock{"t", text, RawJson::string(text), {}}}),
      message_of(role::kTool, model, {ToolResultBlock{"t", text, failed, {}, {}}}),
      message_of(
          role::kAssistant, model,
          {text_block(cat("```c\n", text, "\n```\n| a | b |\n|---|---|\n| ", text, " | x |\n"))}),
  };
}

Result<> fill(const std::string& url, const fs::path& folder, unsigned number) {
  REPRISE_ASSIGN(const auto store, open_store(url));
  REPRISE_ASSIGN(const auto id, SessionId::parse("01990000-0000-7000-8000-000000000001"));
  const std::string text = valid(hostile_text(number));
  Session session{.info = {.id = id}};
  session.info.title = valid(text.substr(0, 200));
  if (store->capabilities().folders) {
    session.info.working_dir = folder.native();
  }
  REPRISE_TRY(store->create(session));
  for (Message& message : conversation(text, number % 2 == 0)) {
    // Not every store holds tools; one without text holds only the title.
    const auto added = store->append(id, {std::move(message)}, {});
    if (!added && added.error().code != Code::unsupported) {
      return std::unexpected(added.error());
    }
  }
  if (store->capabilities().todos != nullptr) {
    REPRISE_TRY(store->capabilities().todos->edit_todos(id, [&](std::vector<Todo>& todos) {
      todos = {{text, TodoStatus::in_progress, text, {}}};
      return Result<>();
    }));
  }
  return {};
}

}  // namespace

std::string put_hostile_texts(unsigned number, const fs::path& folder) {
  const std::vector<std::string> urls = trial_urls(folder);
  std::string url = urls.at(number % urls.size());
  if (const auto filled = fill(url, folder, number); !filled) {
    throw std::runtime_error(cat(url, ": ", filled.error().message));
  }
  return url;
}

}  // namespace reprise::rel
