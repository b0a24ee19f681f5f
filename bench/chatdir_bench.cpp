// The cost of a chat directory compared with bare files: an append to a chat of 1 MB, reading one
// of 100 MB compared with simdjson parsing the same lines, and copying one of 20 MB into SQLite
// compared with simdjson and the bare tables of the program that defined the format.
//
// usage: chatdir_bench FOLDER PROGRAM [--smoke|--full]

#include <fcntl.h>
#include <simdjson.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ios>

#include "bare_sqlite.h"
#include "measure.h"
#include "messages.h"
#include "reprise/open_store.h"
#include "spawn.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Message;
using reprise::SessionId;

constexpr std::size_t kMessageBytes = 2'000;

struct Scale {
  int rounds = 300;
  std::size_t read_bytes = 100'000'000;
  int reads = 9;
};

std::unique_ptr<reprise::Store> open(const fs::path& folder) {
  return must(reprise::open_chatdir_store(folder, {}, {.messages_max = 1'000'000}));
}

// Creates a chat of `bytes` bytes. Returns its messages.jsonl.
fs::path add_chat(const fs::path& folder, const SessionId& id, std::size_t bytes) {
  const auto store = open(folder);
  require(store->create({.info = {.id = id, .title = "A chat like others"}}).has_value(),
          "no chat");
  std::vector<Message> messages;
  for (std::size_t done = 0; done < bytes; done += kMessageBytes) {
    messages.push_back(message_of(messages.size() % 2 == 0 ? "user" : "assistant", kMessageBytes));
    if (messages.size() == 100 || done + kMessageBytes >= bytes) {
      must(store->append(id, std::move(messages), {}));
      messages.clear();
    }
  }
  return folder / "chat" / id.str() / "messages.jsonl";
}

// One append to a chat of 1 MB, compared with appending the same line to a bare file of that size.
void append(const fs::path& folder, const Scale& scale) {
  const auto id = must(SessionId::parse("0198f3ab-0000-7000-8000-000000000001"));
  const fs::path log = add_chat(folder / "append", id, 1'000'000);
  const fs::path bare = folder / "append" / "bare";
  fs::copy_file(log, bare);
  const auto store = open(folder / "append");
  const auto size = fs::file_size(log);
  must(store->append(id, {message_of("user", 500)}, {}));
  const std::string line(static_cast<std::size_t>(fs::file_size(log) - size), 'x');
  const int fd = ::open(bare.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  require(fd >= 0, "cannot write");
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds; ++round) {
    limit.add(time_us([&] {
      require(::write(fd, line.data(), line.size()) == static_cast<ssize_t>(line.size()), "short");
      require(::fdatasync(fd) == 0, "not synced");
    }));
    Message message = message_of("user", 500);
    ours.add(time_us([&] { must(store->append(id, {std::move(message)}, {})); }));
  }
  ::close(fd);
  print(row_of("chatdir", "append to a chat of 1 MB", ours, limit, "us", at_most(1.3)));
}

// Role and content of each line, by simdjson.
void parse_bare(const fs::path& file,
                const std::function<void(std::string_view, std::string_view)>& visit) {
  const std::size_t size = fs::file_size(file);
  std::string bytes(size + simdjson::SIMDJSON_PADDING, '\0');
  require(std::ifstream(file, std::ios::binary)
              .read(bytes.data(), static_cast<std::streamsize>(size))
              .good(),
          "cannot read");
  simdjson::dom::parser parser;
  std::string_view remaining(bytes.data(), size);
  while (!remaining.empty()) {
    const std::size_t end = std::min(remaining.find('\n'), remaining.size() - 1);
    // The following bytes are readable: the next line, or the padding.
    const simdjson::dom::element line = parser.parse(remaining.data(), end, false);
    visit(line["role"], line["content"]);
    remaining.remove_prefix(end + 1);
  }
}

// The bytes of all texts.
std::size_t read_bare(const fs::path& file) {
  std::size_t total = 0;
  parse_bare(file, [&total](std::string_view role, std::string_view content) {
    total += role.empty() ? 0 : content.size();
  });
  return total;
}

std::size_t read_ours(const fs::path& folder, const SessionId& id) {
  const auto store = open(folder);
  std::size_t total = 0;
  const auto report = must(store->read(id, {}, [&total](Message&& message) {
    total += std::get<reprise::TextBlock>(message.blocks.front()).text.size();
    return reprise::Flow::proceed;
  }));
  require(report.damaged == 0, "damage");
  return total;
}

// Rewrites the file like programs without our members.
void write_plain(const fs::path& from, const fs::path& to) {
  std::ifstream in(from, std::ios::binary);
  std::ofstream out(to, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    out << line.substr(0, line.rfind(R"(,"reprise":{)")) << "}\n";
  }
}

void read(const fs::path& folder, const Scale& scale) {
  const auto id = must(SessionId::parse("0198f3ab-0000-7000-8000-000000000002"));
  const auto plain = must(SessionId::parse("0198f3ab-0000-7000-8000-000000000003"));
  const fs::path chats = folder / "read";
  const fs::path ours_file = add_chat(chats, id, scale.read_bytes);
  const fs::path plain_file = add_chat(chats, plain, kMessageBytes);
  write_plain(ours_file, plain_file);
  const std::string size = std::to_string(scale.read_bytes / 1'000'000) + " MB";
  for (const auto& [chat, file] : {std::pair{id, ours_file}, std::pair{plain, plain_file}}) {
    Samples ours;
    Samples limit;
    for (int round = 0; round < scale.reads; ++round) {
      std::size_t texts = 0;
      limit.add(time_us([&] { texts = read_bare(file); }) / 1000);
      ours.add(time_us([&] { require(read_ours(chats, chat) == texts, "not the same texts"); }) /
               1000);
    }
    // 0.4 of its speed.
    print(row_of("chatdir", (chat == id ? "read a chat of " : "read another program's, ") + size,
                 ours, limit, "ms", at_most(2.5)));
  }
}

void import_bare(const fs::path& file, const fs::path& db, const SessionId& id) {
  BareSqlite bare(db, Tables::original);
  bare.add_session(id.str());
  std::int64_t seq = 0;
  bare.begin();
  parse_bare(file, [&](std::string_view role, std::string_view content) {
    bare.append(id.str(), seq, role, content);
    if (++seq % 1000 == 0) {
      bare.commit();
      bare.begin();
    }
  });
  bare.commit();
}

void copy_to_sqlite(const fs::path& folder, const Scale& scale, const std::string& program) {
  const auto id = must(SessionId::parse("0198f3ab-0000-7000-8000-000000000004"));
  const fs::path chats = folder / "copy";
  const fs::path file = add_chat(chats, id, scale.read_bytes / 5);
  const double megabytes = static_cast<double>(fs::file_size(file)) / 1e6;
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.reads; ++round) {
    const fs::path bare = folder / ("bare" + std::to_string(round) + ".db");
    const fs::path db = folder / ("copied" + std::to_string(round) + ".db");
    limit.add(megabytes * 1e6 / time_us([&] { import_bare(file, bare, id); }));
    ours.add(megabytes * 1e6 /
             spawn({program, "copy", "chatdir:" + chats.string() + "?messages=1000000",
                    "sqlite:" + db.string()},
                   {"PATH=/usr/bin:/bin", "HOME=" + folder.string(), "LANG=C.UTF-8"})
                 .wall_us);
    for (const char* const end : {"", "-wal", "-shm"}) {
      fs::remove(bare.string() + end);
      fs::remove(db.string() + end);
    }
  }
  print(row_of("8", "copy JSONL into SQLite, beside a bare import", ours, limit, "MB/s",
               at_least(0.8)));
}

int run(const std::vector<std::string>& words) {
  require(words.size() >= 3, "usage: chatdir_bench FOLDER PROGRAM [--smoke|--full]");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.rounds = 5, .read_bytes = 1'000'000, .reads = 3};
  }
  const fs::path folder = fs::path(words[1]) / "chatdir";
  fs::create_directories(folder);
  append(folder, scale);
  read(folder, scale);
  copy_to_sqlite(folder, scale, words[2]);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}
