// The cost of document stores compared with bare files: opening a file without following links, an
// append to a session of 1 MB, a list of 10,000 session files.
//
// usage: files_bench FOLDER [--smoke|--full]

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <ios>

#include "base/file.h"
#include "measure.h"
#include "messages.h"
#include "reprise/open_store.h"

namespace bench {
namespace {

namespace fs = std::filesystem;
using reprise::Message;

struct Scale {
  int rounds = 100;
  int sessions = 10'000;
  int lists = 15;
};

struct Row {
  std::string group;
  std::string name;
};

reprise::SessionId add_session(reprise::Store& store, int number, std::size_t bytes) {
  const std::string name = "session-" + std::to_string(100'000 + number);
  const auto id = must(reprise::SessionId::parse(name));
  reprise::Session session{.info = {.id = id, .title = "A session like others"}};
  session.info.working_dir = "/home/somebody/project";
  session.info.provider = "anthropic";
  session.info.model = "claude";
  require(store.create(session).has_value(), "no session");
  std::vector<Message> messages;
  for (std::size_t done = 0; done < bytes; done += 2'000) {
    messages.push_back(message_of(done % 4'000 == 0 ? "user" : "assistant", 2'000));
  }
  must(store.append(id, std::move(messages), {}));
  return id;
}

std::size_t read_whole(const fs::path& file) {
  std::string bytes(static_cast<std::size_t>(fs::file_size(file)), '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<std::size_t>(in.gcount());
}

void write_bare(const fs::path& file, const std::string& bytes) {
  const fs::path temporary = file.native() + ".tmp";
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  require(fd >= 0, "cannot write");
  require(::write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()), "short");
  require(::fsync(fd) == 0 && ::close(fd) == 0, "not synced");
  require(::rename(temporary.c_str(), file.c_str()) == 0, "not renamed");
  const int folder = ::open(file.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  require(folder >= 0 && ::fsync(folder) == 0 && ::close(folder) == 0, "folder not synced");
}

// One append to a session of 1 MB, compared with replacing a file of that size.
void append(reprise::Store& store, const reprise::SessionId& id, const fs::path& file,
            const Row& row, const Scale& scale) {
  const std::string bytes(static_cast<std::size_t>(fs::file_size(file)), 'x');
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds; ++round) {
    limit.add(time_us([&] { write_bare(file.native() + ".bare", bytes); }) / 1000);
    Message message = message_of("user", 500);
    ours.add(time_us([&] { must(store.append(id, {std::move(message)}, {})); }) / 1000);
  }
  print(row_of(row.group, row.name, ours, limit, "ms", at_most(2)));
}

void append_to_session(const fs::path& folder, const Scale& scale, bool is_signed) {
  const fs::path store_folder = folder / (is_signed ? "signed" : "unsigned");
  fs::create_directories(store_folder);
  if (is_signed) {
    std::ofstream(store_folder / "machine_secret") << std::string(64, '7');
  }
  const auto store = must(reprise::open_sessions_store(store_folder / "sessions"));
  const auto id = add_session(*store, 0, 1'000'000);
  append(*store, id, store_folder / "sessions" / "active" / (id.str() + ".json"),
         {"sessions",
          is_signed ? "append to a signed session of 1 MB" : "append to a session of 1 MB"},
         scale);
}

void append_to_context(const fs::path& folder, const Scale& scale) {
  const fs::path file = folder / "openai.json";
  const auto store = must(reprise::open_context_store(file));
  const auto id = add_session(*store, 0, 1'000'000);
  append(*store, id, file, {"context", "append to a context file of 1 MB"}, scale);
}

// Like a program that is started for each question.
void open_and_append_to_context(const fs::path& folder, const Scale& scale) {
  const fs::path file = folder / "once.json";
  const auto id = add_session(*must(reprise::open_context_store(file)), 0, 1'000'000);
  const std::string bytes(static_cast<std::size_t>(fs::file_size(file)), 'x');
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds; ++round) {
    limit.add(time_us([&] {
                require(read_whole(file) > 1'000'000, "nothing read");
                write_bare(folder / "once.bare", bytes);
              }) /
              1000);
    Message message = message_of("user", 500);
    ours.add(time_us([&] {
               const auto store = must(reprise::open_context_store(file));
               must(store->append(id, {std::move(message)}, {}));
             }) /
             1000);
  }
  print(row_of("context", "open it, append", ours, limit, "ms", at_most(2)));
}

// Like a store: links are refused, and the owner is checked. The depth is that of session files in
// a home folder.
void open_file(const fs::path& folder, const Scale& scale) {
  constexpr int kOpens = 500;
  const fs::path store_folder = folder / "home/somebody/.local/share/reprise/sessions/active";
  fs::create_directories(store_folder);
  const fs::path file = store_folder / "session.json";
  std::ofstream(file) << "{}";
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.rounds; ++round) {
    limit.add(time_us([&] {
                for (int i = 0; i < kOpens; ++i) {
                  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
                  require(fd >= 0 && ::close(fd) == 0, "cannot open");
                }
              }) /
              kOpens);
    ours.add(time_us([&] {
               for (int i = 0; i < kOpens; ++i) {
                 must(reprise::open_file(file, O_RDONLY));
               }
             }) /
             kOpens);
  }
  print(row_of("files", "open a file of a store", ours, limit, "us", at_most(2)));
}

void read_ends(const fs::path& file) {
  char buffer[4096];
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  require(fd >= 0, "cannot open");
  require(::pread(fd, buffer, sizeof buffer, 0) > 0, "cannot read");
  const off_t size = ::lseek(fd, 0, SEEK_END);
  require(::pread(fd, buffer, sizeof buffer, std::max<off_t>(0, size - 4096)) > 0, "cannot read");
  ::close(fd);
}

// Each file has a conversation of 20 KB.
void list(const fs::path& folder, const Scale& scale) {
  const auto store = must(reprise::open_sessions_store(folder / "many"));
  for (int number = 0; number < scale.sessions; ++number) {
    add_session(*store, number, 20'000);
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder / "many" / "active")) {
    files.push_back(entry.path());
  }
  Samples ours;
  Samples limit;
  for (int round = 0; round < scale.lists; ++round) {
    limit.add(time_us([&] { std::ranges::for_each(files, read_ends); }) / 1000);
    ours.add(time_us([&] {
               const auto page = must(store->list({.limit = 20}));
               require(page.sessions.size() == 20 && page.damage.empty(), "a short page");
             }) /
             1000);
  }
  print(row_of("sessions", "list " + std::to_string(scale.sessions) + " sessions", ours, limit,
               "ms", at_most(3)));
}

int run(const std::vector<std::string>& words) {
  require(words.size() >= 2, "usage: files_bench FOLDER [--smoke|--full]");
  Scale scale;
  if (std::ranges::count(words, "--smoke") > 0) {
    scale = {.rounds = 5, .sessions = 100, .lists = 3};
  }
  open_file(words[1], scale);
  append_to_session(words[1], scale, false);
  append_to_session(words[1], scale, true);
  append_to_context(words[1], scale);
  open_and_append_to_context(words[1], scale);
  list(words[1], scale);
  return 0;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::run({argv, argv + argc});
}
