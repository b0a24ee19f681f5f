// fuzz_sources --kind=KIND: an arbitrary file of another tool's history. Listed sessions can be
// read, with as many messages as counted, in both directions and with branches; and not one byte of
// the file changes.

#include <stdlib.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <span>

#include "fuzzing.h"
#include "reprise/capabilities.h"
#include "reprise/open_source.h"

using reprise::fuzz::require;

namespace {

namespace fs = std::filesystem;
using reprise::Source;

struct Kind {
  std::string_view name;
  std::string_view file;         // the file with the input
  std::string_view source = {};  // if it is not the kind's name
  bool is_opened_alone = false;  // instead of the folder
  // Its pages may be inconsistent between a scan and a lookup, and it may not be a database at all:
  // then only crashes are faults.
  bool is_database = false;
  bool may_be_none = false;  // input with another beginning is refused
};

constexpr Kind kKinds[] = {
    {"claude", "projects/-x/0a1b2c3d-0000-4000-8000-000000000001.jsonl"},
    {"codex",
     "sessions/2026/11/20/rollout-2026-11-20T10-00-00-019a0000-0000-7000-8000-000000000001.jsonl"},
    {"gemini", "tmp/x/chats/session-2026-11-20T10-00-6a1b2c3d.jsonl"},
    {"qwen", "projects/-x/chats/7a1b2c3d-0000-4000-8000-000000000001.jsonl"},
    {"pi", "sessions/--x--/2026-11-20T10-00-00-000Z_019a0000-0000-7000-8000-000000000001.jsonl"},
    {"copilot", "session-state/8a1b2c3d-0000-4000-8000-000000000001/events.jsonl"},
    {"chatgpt", "conversations.json"},
    {"claude-export", "conversations.json"},
    {.name = "exported", .file = "a.json", .may_be_none = true},
    {"llamacpp", "a.json"},
    {"aichat", "sessions/a.yaml"},
    {"continue", "sessions/a.json"},
    {"cline", "data/sessions/1_a/a.messages.json"},
    {.name = "opencode", .file = "opencode.db", .is_database = true},
    {.name = "llm", .file = "logs.db", .is_database = true},
    {.name = "goose", .file = "sessions.db", .is_database = true},
    {.name = "crush", .file = "crush.db", .is_database = true},
    // Other files of the same tools.
    {.name = "codex-json",
     .file = "sessions/rollout-2025-05-02-019a0000-0000-7000-8000-000000000001.json",
     .source = "codex"},
    {.name = "gemini-json",
     .file = "tmp/x/chats/session-2026-11-20T10-00-6a1b2c3d.json",
     .source = "gemini"},
    {.name = "gemini-checkpoint", .file = "tmp/x/checkpoint-one.json", .source = "gemini"},
    {.name = "llamacpp-lines", .file = "a.jsonl", .source = "llamacpp"},
    {.name = "goose-lines", .file = "20250101_120000.jsonl", .source = "goose"},
    {.name = "goose-export",
     .file = "a.json",
     .source = "goose",
     .is_opened_alone = true,
     .may_be_none = true},
    {.name = "opencode-export",
     .file = "a.json",
     .source = "opencode",
     .is_opened_alone = true,
     .may_be_none = true},
};

const Kind* chosen = nullptr;

const fs::path& source_folder() {
  static const fs::path folder = [] {
    const bool has_memory = fs::exists("/dev/shm");
    std::string name =
        (has_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "fuzz.XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "no folder to work in");
    static const std::string made = name;
    require(std::atexit([] { fs::remove_all(made); }) == 0, "the folder would stay");
    return fs::path(name);
  }();
  return folder;
}

std::vector<std::string> messages_of(Source& source, const reprise::SessionId& id, bool backwards) {
  std::vector<std::string> messages;
  const auto report = source.read(id, {.newest_first = backwards}, [&](reprise::Message&& message) {
    messages.push_back(reprise::message_to_json(message));
    return reprise::Flow::proceed;
  });
  require(report || chosen->is_database, "a session that is listed cannot be read");
  return messages;
}

// Todos and artefacts: damaged ones fail, and listed ones exist.
void read_sibling(Source& source, const reprise::SessionId& id) {
  const reprise::SourceCapabilities& holds = source.capabilities();
  if (holds.todo_reader != nullptr) {
    (void)holds.todo_reader->todos(id);
  }
  const auto entries = holds.artefact_reader == nullptr
                           ? reprise::Result<std::vector<reprise::ArtefactReader::Entry>>()
                           : holds.artefact_reader->list_artefacts(id);
  for (const auto& entry : entries ? *entries : std::vector<reprise::ArtefactReader::Entry>()) {
    const auto bytes = holds.artefact_reader->find_artefact(id, entry.step, entry.name);
    require(bytes && *bytes, "an artefact that is listed is not found");
  }
}

void read_session(Source& source, const reprise::SessionInfo& info) {
  const auto session = source.find(info.id);
  if (chosen->is_database) {
    (void)messages_of(source, info.id, true);
    return;
  }
  require(session && *session, "a session that is listed is not found");
  auto messages = messages_of(source, info.id, false);
  require(std::ssize(messages) == (*session)->info.head.value, "not as many messages as counted");
  std::ranges::reverse(messages);
  require(messages == messages_of(source, info.id, true), "backwards there are others");
  read_sibling(source, info.id);
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, readability-non-const-parameter): libFuzzer's.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  constexpr std::string_view kFlag = "--kind=";
  for (const char* const word : std::span(*argv, static_cast<std::size_t>(*argc))) {
    if (std::string_view(word).starts_with(kFlag)) {
      const auto* const found =
          std::ranges::find(kKinds, std::string_view(word).substr(kFlag.size()), &Kind::name);
      chosen = found == std::end(kKinds) ? nullptr : found;
    }
  }
  require(chosen != nullptr, "usage: fuzz_sources --kind=KIND");
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fs::path file = source_folder() / chosen->file;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary | std::ios::trunc) << reprise::fuzz::text_of(data, size);
  const std::string_view name = chosen->source.empty() ? chosen->name : chosen->source;
  const fs::path& place = chosen->is_opened_alone ? file : source_folder();
  const auto source = reprise::open_source(std::string(name) + ":" + place.native());
  require(source || chosen->is_database || chosen->may_be_none, "the folder cannot be opened");
  if (!source) {
    return 0;
  }
  for (const bool branches : {false, true}) {
    reprise::SessionQuery query;
    query.branches = branches;
    const auto page = (*source)->list(query);
    require(page || chosen->is_database || chosen->may_be_none, "the folder cannot be listed");
    for (const reprise::SessionInfo& info :
         page ? page->sessions : std::vector<reprise::SessionInfo>()) {
      read_session(**source, info);
    }
  }
  std::ifstream in(file, std::ios::binary);
  const std::string after{std::istreambuf_iterator<char>(in), {}};
  require(after == reprise::fuzz::text_of(data, size), "the file has changed");
  return 0;
}
// NOLINTEND(readability-identifier-naming, readability-non-const-parameter)
