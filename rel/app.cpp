// rel_app PROGRAM CORPUS [COUNT]
//
// The terminal app with hostile stores, on a pseudo-terminal of 80x24: half of them are files with
// changed bytes, half of them intact stores with text that a terminal would interpret. A session is
// opened, scrolled and left. The program must end by itself, in time, within 512 MiB and with one
// of its own exit codes, and no escape sequence from a text may reach the terminal.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "base/text.h"
#include "hostile_files.h"
#include "life.h"
#include "program.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "run.h"
#include "tally.h"
#include "trial.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMemoryMax = std::size_t{512} << 20;
constexpr std::chrono::milliseconds kQuiet{25};

// A number in the escape sequences of the payloads, which our program never writes.
constexpr std::string_view kForeignNumber = "31337";
// In every text, and in every title.
constexpr std::string_view kMarkerText = "harmless";
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
  std::string out = cat(kMarkerText, " ", number, " ", number % 3 == 0 ? kFamily : "", " ");
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
  const std::string model = valid(std::string_view(text).substr(0, 60));
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

// Creates an intact store in the folder, with escape sequences in all of its texts; returns its
// URL. Throws if it fails.
std::string create_hostile_store(unsigned number, const fs::path& folder) {
  const std::vector<std::string> urls = trial_urls(folder);
  std::string url = urls.at(number % urls.size());
  if (const auto filled = fill(url, folder, number); !filled) {
    throw std::runtime_error(cat(url, ": ", filled.error().message));
  }
  return url;
}

// Whether the program itself may write this: a sequence of ncurses with plausible numbers.
bool is_own_sequence(std::string_view bytes) {
  const std::string_view next = bytes.substr(1, 1);
  if (next != "[") {
    return next.empty() || std::string_view("(78=>M").contains(next[0]);
  }
  const auto end = bytes.find_first_not_of("0123456789;?<>=", 2);
  if (end == std::string_view::npos) {
    return true;  // incomplete: the remainder follows
  }
  return !bytes.substr(2, end - 2).contains(kForeignNumber) &&
         std::string_view("ABCDEFGHIJKLMPSTXZ@`bdfhlmrtu").contains(bytes[end]);
}

// Removes the marks of the program's own window titles, but not their text.
std::string without_title_marks(std::string_view shown) {
  constexpr std::string_view kTitle = "\x1b]2;";
  std::string out;
  for (std::size_t at = 0;;) {
    const std::size_t mark = shown.find(kTitle, at);
    const std::size_t end = shown.find('\x07', mark == std::string_view::npos ? at : mark);
    if (mark == std::string_view::npos || end == std::string_view::npos) {
      return out += shown.substr(at);
    }
    const std::size_t text = mark + kTitle.size();
    out += cat(shown.substr(at, mark - at), shown.substr(text, end - text));
    at = end + 1;
  }
}

std::string foreign_bytes_in(std::string_view shown) {
  for (std::size_t at = shown.find('\x1b'); at != std::string_view::npos;
       at = shown.find('\x1b', at + 1)) {
    if (!is_own_sequence(shown.substr(at))) {
      return cat("writes Esc ", shown.substr(at + 1, 12));
    }
  }
  constexpr std::array<std::string_view, 6> kBad = {
      "\x07", "\x0b", "\x0c", "\x7f", kRightToLeftOverride, kLeftToRightIsolate};
  for (const std::string_view bad : kBad) {
    if (shown.contains(bad)) {
      return cat("writes the byte ", static_cast<int>(static_cast<unsigned char>(bad.back())));
    }
  }
  for (std::size_t at = shown.find('\xc2'); at != std::string_view::npos;
       at = shown.find('\xc2', at + 1)) {
    if (at + 1 < shown.size() && static_cast<unsigned char>(shown[at + 1]) < 0xA0) {
      return "writes a C1 control";
    }
  }
  return "";
}

class App {
 public:
  App(const std::string& program, const fs::path& corpus)
      : program_(fs::absolute(program)), stores_(corpus, database()) {}

  std::string try_one(unsigned number) const {
    const fs::path folder = work_.path() / "project";
    fs::remove_all(folder);
    fs::create_directories(folder);
    const bool is_whole = number % 2 == 1;
    const std::string url = is_whole ? create_hostile_store(number / 2, folder)
                                     : stores_.create_store(number / 2, folder);
    Start start{.words = {program_, "--store", url},
                .home = folder,
                .environment = {"REPRISE_PROVIDER=echo"},
                .on_terminal = true,
                .memory_max = kMemoryMax};
    start.words.emplace_back(number % 3 == 0 ? "chat" : "resume");
    Program app(start);
    // Before the program has set up the terminal, keys would be interpreted by it.
    app.read_until([](std::string_view shown) { return shown.contains("\x1b[?1049h"); });
    const bool is_shown = !is_whole || app.read_until([](std::string_view shown) {
      return shown.contains(kMarkerText);
    });
    use(app);
    const int code = app.wait();
    std::string fault =
        code == -1 ? "does not end" : foreign_bytes_in(without_title_marks(app.shown()));
    if (fault.empty() && code != 0 && code != 1 && code != 2 && code != 64 && code != 130) {
      fault = cat("ends with ", code);
    }
    if (fault.empty() && !is_shown) {
      fault = cat("shows none of the text: ", app.shown().substr(0, 300));
    }
    return fault.empty() ? "" : cat(url, ": ", fault);
  }

 private:
  std::string database() const {
    const fs::path file = work_.path() / "made.db";
    run_program({.words = {program_, "--store", cat("sqlite:", file.native()), "ask", "--provider",
                           "echo", "How long is a league?"},
                 .home = work_.path(),
                 .environment = {}});
    return read_bytes(file);
  }

  // Opens a session, scrolls through it, and leaves, whatever the effect of each key.
  static void use(Program& app) {
    constexpr std::array<std::string_view, 16> kKeys = {
        "\t",      "\x1b[B",    "\x1b[A",  "\r",        "\x14",   "\x1b[5~",
        "\x1b[5~", "\x1b[1;5H", "\x1b[6~", "\x1b[1;5F", "\x1bOR", "/session list\r",
        "\x0f",    "\x1b",      "\x12",    "\x1b"};
    for (const std::string_view keys : kKeys) {
      if (!app.read_until_quiet(kQuiet)) {
        return;
      }
      app.type(keys);
    }
    for (int i = 0; i < 20 && app.read_until_quiet(kQuiet); ++i) {
      app.type("\x1b");
      app.read_until_quiet(kQuiet);
      app.type("\x03\x03");
    }
  }

  std::string program_;
  WorkFolder work_;
  HostileStores stores_;
};

}  // namespace

int run(std::vector<std::string> words) {
  if (words.size() < 2) {
    return usage("rel_app PROGRAM CORPUS [COUNT]");
  }
  const int count = words.size() > 2 ? std::stoi(words[2]) : 60;
  const App app(words[0], words[1]);
  Tally tally;
  for (int number = 0; number < count; ++number) {
    tally.add(cat("input ", number), app.try_one(static_cast<unsigned>(number)));
  }
  return report("app", "program", tally) ? 0 : 1;
}

}  // namespace reprise::rel
