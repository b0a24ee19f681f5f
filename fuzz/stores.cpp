// Files of every store as anybody may have left them. The first byte says of which. Whatever can be
// read of them is there again after a message was added, and nothing outside the folder changes.

#include <stdlib.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuzzing.h"
#include "reprise/error.h"
#include "reprise/message.h"
#include "reprise/open_store.h"
#include "reprise/session.h"
#include "reprise/store.h"
#include "reprise/store_offers.h"
#include "reprise/types.h"

using reprise::fuzz::require;

namespace {

namespace fs = std::filesystem;
using reprise::Result;
using reprise::Store;

constexpr std::string_view kId = "01990000-0000-7000-8000-000000000001";
constexpr std::string_view kChat = "chats/chat/01990000-0000-7000-8000-000000000001/";

struct Kind {
  std::string file;  // that holds the input
  std::function<Result<std::unique_ptr<Store>>(const fs::path& folder)> open;
};

std::string archive_name() {
  return reprise::short_id(*reprise::SessionId::parse(kId)).value_or("");
}

const std::vector<Kind>& kinds() {
  static const auto chats = [](const fs::path& folder) {
    return reprise::open_chatdir_store(folder / "chats");
  };
  static const std::vector<Kind> all = {
      {std::string(kChat) + "messages.jsonl", chats},
      {std::string(kChat) + "reprise.json", chats},
      {"chats/archive/" + archive_name() + "/chat.zip", chats},
      {"sessions/active/01990000-0000-7000-8000-000000000001.json",
       [](const fs::path& folder) { return reprise::open_sessions_store(folder / "sessions"); }},
      {"conversations.json",
       [](const fs::path& folder) {
         return reprise::open_chain_store(folder / "conversations.json");
       }},
      {"openai.json",
       [](const fs::path& folder) { return reprise::open_context_store(folder / "openai.json"); }},
      {"reprise.db",
       [](const fs::path& folder) { return reprise::open_sqlite_store(folder / "reprise.db"); }},
  };
  return all;
}

const fs::path& work_folder() {
  static const fs::path folder = [] {
    const bool has_memory = fs::exists("/dev/shm");
    std::string name =
        (has_memory ? fs::path("/dev/shm") : fs::temp_directory_path()) / "fuzz.XXXXXX";
    require(::mkdtemp(name.data()) != nullptr, "no folder to work in");
    static const std::string kept = name;
    require(std::atexit([] { fs::remove_all(kept); }) == 0, "the folder would stay");
    return fs::path(name);
  }();
  return folder;
}

// The ids of the sessions with the texts of their messages.
std::vector<std::vector<std::string>> texts_in(Store& store,
                                               const std::vector<reprise::SessionInfo>& sessions) {
  std::vector<std::vector<std::string>> out;
  for (const auto& info : sessions) {
    auto& texts = out.emplace_back();
    (void)store.read(info.id, {}, [&texts](const reprise::Message& message) {
      texts.push_back(reprise::message_to_json(message));
      return reprise::Flow::go_on;
    });  // an error says that there is nothing to lose
  }
  return out;
}

void add_message(Store& store, const reprise::SessionInfo& info) {
  reprise::Message message;
  message.role = reprise::role::kUser;
  message.blocks.emplace_back(reprise::TextBlock{"one more", {}});
  (void)store.append(info.id, {message}, {});  // refused: nothing changes, which is looked at
}

void use(const Kind& kind) {
  const auto store = kind.open(work_folder());
  if (!store) {
    return;
  }
  const auto page =
      (*store)->list({.states = {reprise::SessionState::active, reprise::SessionState::closed,
                                 reprise::SessionState::archived}});
  if (!page) {
    return;
  }
  if ((*store)->offers().repair != nullptr) {
    (void)(*store)->offers().repair->verify();  // what it finds is not asked here
  }
  const auto before = texts_in(**store, page->sessions);
  for (const auto& info : page->sessions) {
    if (info.state == reprise::SessionState::archived) {
      (void)(*store)->offers().archives->restore(info.id);  // refused when it is not safe
    }
    add_message(**store, info);
  }
  const auto after = texts_in(**store, page->sessions);
  for (std::size_t i = 0; i < before.size(); ++i) {
    require(after[i].size() >= before[i].size() &&
                std::equal(before[i].begin(), before[i].end(), after[i].begin()),
            "a message that could be read is gone");
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name.
int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const Kind& kind = kinds().at(data[0] % kinds().size());
  for (const auto& entry : fs::directory_iterator(work_folder())) {
    fs::remove_all(entry.path());
  }
  const fs::path file = work_folder() / kind.file;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << reprise::fuzz::text_of(data + 1, size - 1);
  use(kind);
  return 0;
}
