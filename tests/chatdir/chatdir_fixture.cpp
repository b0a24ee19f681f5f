#include "chatdir/chatdir_fixture.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/file.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {

namespace fs = std::filesystem;

std::unique_ptr<Store> ChatDirectory::open(const StoreOptions& options,
                                           const ChatdirOptions& chatdir) const {
  return must(open_chatdir_store(root_, options, chatdir));
}

void ChatDirectory::write(const fs::path& name, std::string_view bytes) const {
  fs::create_directories((root_ / name).parent_path());
  std::ofstream(root_ / name, std::ios::binary) << bytes;
}

std::string ChatDirectory::read(const fs::path& name) const {
  return must(read_file(root_ / name));
}

SessionId ChatDirectory::write_original() const {
  const fs::path chat = fs::path("chat") / kOriginalId;
  const fs::path step = chat / "steps" / "001";
  write("chat/current", kOriginalId);
  write("chat/llimo.json", "{\n  \"model\": \"gpt-oss-120b\",\n  \"provider\": \"cerebras\"\n}");
  write(chat / "messages.jsonl",
        "{\"role\":\"system\",\"content\":\"You are AI.\\n<tools> & \\\"quotes\\\"  \"}\n"
        "{\"role\":\"user\",\"content\":\"Привіт 😀 turn 1\\nline2\"}\n"
        "{\"role\":\"assistant\",\"content\":\"Hello there 1\"}\n");
  write(chat / "steps.jsonl",
        "{\"step\":1,\"model\":{\"id\":\"gpt-oss-120b\"},\"prompt\":\"prompt 1\"}\n");
  write(chat / "model.json", "{\n  \"id\": \"gpt-oss-120b\",\n  \"provider\": \"cerebras\"\n}");
  write(chat / "input.md", "input");
  write(chat / "prompt.md", "prompt");
  write(step / "answer.md", "Hello there 1");
  write(step / "prompt.md", "prompt 1");
  write(step / "usage.json",
        "{\n  \"inputTokens\": 100,\n  \"reasoningTokens\": 1,\n  \"outputTokens\": 10,\n"
        "  \"cachedInputTokens\": 0,\n  \"limits\": {\n    \"rpd\": 14397\n  }\n}");
  write(step / "stream.jsonl", "{\"type\":\"text-delta\",\"id\":\"txt-0\",\"text\":\"Hel\"}\n");
  write(step / "unknowns.jsonl", "[\"Unknown chunk.type\",{\"type\":\"finish\"}]\n");
  write(step / "tests.err", "stderr text\n");
  write(step / "response.json",
        "{\"headers\":{\"Set-Cookie\":\"session=secret-cookie\",\"x-api-key\":\"secret-key\","
        "\"Authorization\":\"Bearer secret-token\",\"date\":\"today\"}}");
  return session_id(kOriginalId);
}

std::vector<std::string> ChatDirectory::snapshot() const {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root_)) {
    struct stat status{};
    if (::lstat(entry.path().c_str(), &status) == 0) {
      files.push_back(cat(entry.path().native(), " ", status.st_size, " ", status.st_mtim.tv_sec,
                          ".", status.st_mtim.tv_nsec, " ", status.st_mode));
    }
  }
  std::ranges::sort(files);
  return files;
}

SessionId chat_id(int number) {
  std::string digits = std::to_string(number);
  digits.insert(0, 12 - digits.size(), '0');
  return session_id(cat("0198f3ab-0000-7000-8000-", digits));
}

Session chat_session(int number) {
  return session(chat_id(number).str());
}

std::vector<std::string> texts_of(Store& store, const SessionId& id) {
  return texts(must(read_all(store, id)));
}

}  // namespace reprise::test
