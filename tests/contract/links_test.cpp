// Links planted in a store's folder must not determine which file is read or written: wherever a
// store has a file or folder, a link in its place is neither followed nor filled. The places are
// those observed in an active store, so that new ones are tested, too.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>

#include "base/testing/temporary_folder.h"
#include "contract/store_contract.h"
#include "reprise/capabilities.h"
#include "reprise/open_store.h"
#include "support/build.h"
#include "support/must.h"

namespace reprise::test {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWords = "words of the store";
constexpr std::string_view kPrivate = "somebody's privacy";

// Paths in the folder of a test, and whether they are folders.
using Layout = std::map<fs::path, bool>;

Layout places_in(const fs::path& folder) {
  Layout places;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    places.emplace(entry.path().lexically_relative(folder), entry.is_directory());
  }
  return places;
}

// The path given by the user: the store's folder, or its main file.
fs::path root_of(const Layout& places) {
  return std::ranges::min_element(places, {},
                                  [](const auto& place) { return place.first.native().size(); })
      ->first;
}

// Uses all operations of a store in turn. Many fail if there is a link in their way.
class Life {
 public:
  Life(const StoreCase& store_case, fs::path folder, fs::path outside)
      : case_(store_case), folder_(std::move(folder)), outside_(std::move(outside)) {}

  // Returns the text of everything that was read.
  std::string live() {
    for (const auto& part : {&Life::begin, &Life::change, &Life::move, &Life::read}) {
      const auto store = case_.open(folder_, {});
      if (store) {
        (this->*part)(**store);
      }
      note();
    }
    return read_;
  }

  const Layout& places() const { return places_; }

 private:
  void note() { places_.merge(places_in(folder_)); }
  void done(const Result<>& /*result*/) { note(); }
  template <class Value>
  void done(const Result<Value>& /*result*/) {
    note();
  }

  static std::vector<Message> messages_with(const Store& store, std::string_view text) {
    if (!store.capabilities().messages) {
      Message answer = assistant("");
      answer.blocks.clear();
      answer.provider = "p";
      answer.response_id = text;
      return {answer};
    }
    return {user(text), assistant(text)};
  }

  void begin(Store& store) {
    for (const SessionId& id : {one_, two_}) {
      done(store.create(session(id.str())));
      done(store.append(id, messages_with(store, kWords), {}));
    }
    if (CurrentSession* const current = store.capabilities().current_session; current != nullptr) {
      done(current->set_current(one_));
    }
    if (Todos* const todos = store.capabilities().todos; todos != nullptr) {
      done(todos->edit_todos(one_, [](std::vector<Todo>& list) -> Result<> {
        list.emplace_back().content = "t";
        return {};
      }));
    }
  }

  void change(Store& store) {
    if (Partials* const partials = store.capabilities().partials; partials != nullptr) {
      const OperationId answer = operation_id("answer");
      PartialStart start{
          .answer = answer, .owner = {}, .provider = "p", .model = "m", .started_at = at(3)};
      done(store.append(one_, messages_with(store, "more"), {.begin_partial = start}));
      const std::vector<Block> delta = {text_block("delta")};
      done(partials->add_partial(one_, answer, delta));
      done(partials->find_partial(one_));
      done(store.append(one_, messages_with(store, "answer"), {.end_partial = answer}));
    }
    if (Rewriting* const rewriting = store.capabilities().rewriting; rewriting != nullptr) {
      done(rewriting->replace_suffix(one_, {1}, messages_with(store, "other"), {}));
    }
    if (Artefacts* const artefacts = store.capabilities().artefacts; artefacts != nullptr) {
      done(artefacts->save_artefact(one_, {1}, "input", "i"));
      done(artefacts->append_artefact(one_, {0}, "steps.jsonl", "s"));
    }
    done(store.append(one_, messages_with(store, kWords), {}));
  }

  void move(Store& store) {
    if (Archives* const archives = store.capabilities().archives; archives != nullptr) {
      done(archives->archive(two_, at(5)));
      done(archives->unarchive(two_));
    }
    Trash* const trash = store.capabilities().trash;
    done(trash->trash(two_, at(5)));
    done(trash->restore(two_));
    done(trash->trash(two_, at(5)));
    done(trash->purge(two_));
    SessionPatch closed;
    closed.state = SessionState::closed;
    done(store.update(one_, closed));
  }

  void read(Store& store) {
    std::vector<SessionId> ids = {one_, two_};
    for (const SessionId& id : ids) {
      done(store.read(id, {}, [this](const Message& message) {
        read_ += plain_text(message) + "\n";
        return Flow::proceed;
      }));
      if (Artefacts* const artefacts = store.capabilities().artefacts; artefacts != nullptr) {
        if (const auto found = artefacts->find_artefact(id, {1}, "input"); found && *found) {
          read_ += **found;
        }
      }
      if (const auto found = store.find(id); found && *found) {
        read_ += (*found)->info.title;
      }
    }
    if (Verifier* const verifying = store.capabilities().verifier; verifying != nullptr) {
      done(verifying->verify());
    }
    if (Backup* const backup = store.capabilities().backup; backup != nullptr) {
      done(backup->backup(outside_ / "backup"));
    }
    if (Repair* const repair = store.capabilities().repair; repair != nullptr) {
      done(repair->repair_into(outside_ / "repaired"));
    }
  }

  const StoreCase& case_;
  const fs::path folder_;
  const fs::path outside_;
  const SessionId one_ = session_id("one");
  const SessionId two_ = session_id("two");
  Layout places_;
  std::string read_;
};

// In memory if possible, because hundreds of runs sync a lot.
fs::path quick_place() {
  const fs::path memory = "/dev/shm";
  return ::access(memory.c_str(), W_OK) == 0 ? memory : fs::temp_directory_path();
}

struct Box {
  TemporaryFolder folder{quick_place()};
  fs::path store = fs::canonical(folder.path()) / "store";
  fs::path out = fs::canonical(folder.path()) / "out";
  fs::path person = fs::canonical(folder.path()) / "person";

  Box() {
    for (const fs::path& one : {store, out, person}) {
      fs::create_directory(one);
    }
  }
};

std::string bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::map<std::string, std::string> contents(const fs::path& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    // A backup has the links of a store, not what they lead to.
    const bool is_file = !entry.is_symlink() && entry.is_regular_file();
    all[entry.path().native()] = is_file ? bytes_of(entry.path()) : "";
  }
  return all;
}

class StoreLinks : public testing::TestWithParam<StoreCase> {
 protected:
  // The files and folders of an active store of this kind, except the path given by the user.
  void SetUp() override {
    Box box;
    Life life(GetParam(), box.store, box.out);
    (void)life.live();
    places_ = life.places();
    if (places_.empty()) {
      GTEST_SKIP() << "not for this store: it keeps no files";
    }
    for (const auto& [place, is_folder] : places_) {
      if (!is_folder) {
        temporary_.push_back(fs::path(place) += ".reprise-0.tmp");
      }
    }
    places_.erase(root_of(places_));
    ASSERT_FALSE(places_.empty());
  }

  Layout places_;
  std::vector<fs::path> temporary_;
};

// Runs all operations with a link in one place and checks the result.
void try_place(const StoreCase& store_case, const fs::path& place, const fs::path& target) {
  Box box;
  std::ofstream(box.person / "file") << kPrivate << "\n";
  fs::create_directory(box.person / "folder");
  std::ofstream(box.person / "folder" / "messages.jsonl")
      << R"({"role":"user","content":")" << kPrivate << "\"}\n";
  const auto before = contents(box.person);
  fs::create_directories((box.store / place).parent_path());
  fs::create_symlink(box.person / target, box.store / place);
  const std::string read = Life(store_case, box.store, box.out).live();
  EXPECT_EQ(contents(box.person), before) << place << " -> " << target;
  EXPECT_EQ(read.find(kPrivate), std::string::npos) << place << " -> " << target;
  for (const auto& [name, bytes] : contents(box.out)) {
    EXPECT_EQ(bytes.find(kPrivate), std::string::npos) << place << " -> " << target << ": " << name;
  }
}

TEST_P(StoreLinks, InTheWayOfANewStoreAreNotFollowed) {
  for (const auto& [place, is_folder] : places_) {
    try_place(GetParam(), place, is_folder ? "folder" : "file");
    if (!is_folder) {
      try_place(GetParam(), place, "missing");
    }
  }
  for (const fs::path& place : temporary_) {
    try_place(GetParam(), place, "file");
  }
}

// Replaces the text by another one of the same length, so that sizes still match.
void make_private(const fs::path& file) {
  std::string bytes = bytes_of(file);
  for (std::size_t at = bytes.find(kWords); at != std::string::npos; at = bytes.find(kWords, at)) {
    bytes.replace(at, kWords.size(), kPrivate);
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

// The link leads to the original contents with other text.
TEST_P(StoreLinks, ToTheFilesOfAStoreAreNotFollowed) {
  for (const auto& [place, was_folder] : places_) {
    Box box;
    (void)Life(GetParam(), box.store, box.out).live();
    const fs::path there = box.store / place;
    if (!fs::exists(there)) {
      continue;
    }
    fs::rename(there, box.person / "moved");
    fs::create_symlink(box.person / "moved", there);
    for (const auto& entry : fs::recursive_directory_iterator(box.person)) {
      if (entry.is_regular_file()) {
        make_private(entry.path());
      }
    }
    const auto before = contents(box.person);
    Box again;
    const std::string read = Life(GetParam(), box.store, again.out).live();
    EXPECT_EQ(contents(box.person), before) << place;
    EXPECT_EQ(read.find(kPrivate), std::string::npos) << place;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreLinks, testing::ValuesIn(store_cases()),
                         [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace reprise::test
