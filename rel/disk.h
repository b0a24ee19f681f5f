#pragma once

// The possible states of a disk after a power cut. The changes of a run are recorded in order; they
// determine, at each time, which are durable (synced), and which may or may not have reached the
// disk.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "calls.h"

namespace reprise::rel {

enum class Arrival : std::uint8_t {
  // Like a journalling file system (ext4, data=ordered): names and sizes become durable in the
  // order of their changes, any sync includes all of them, and a file does not grow without its
  // bytes.
  journalled,
  // The minimum of POSIX: a name is durable only after a sync of its folder, in any order; bytes
  // only after a sync of the file, and lost ones may read as zeros.
  minimal,
};

class DiskRecord : public ChangeListener {
 public:
  // The current contents of the folder are durable.
  explicit DiskRecord(const std::filesystem::path& folder);

  // The number of changes so far.
  std::size_t changes() const { return changes_.size(); }

  // Writes to `target` a possible state of the folder after a power cut following `cut` changes;
  // `chance` selects one of the many.
  void write_state(std::size_t cut, Arrival arrival, std::minstd_rand& chance,
                   const std::filesystem::path& target) const;

  // The same with only the durable changes.
  void write_certain(Arrival arrival, const std::filesystem::path& target) const;

  // The changes that a power cut could undo in the minimal model: "the bytes of PATH", "the name
  // PATH", "the removal of PATH".
  std::vector<std::string> unsynced() const;

  void opened(int fd, std::string_view path, bool is_new, bool emptied) override;
  void closed(int fd) override;
  void wrote(int fd, std::int64_t offset, std::string_view bytes) override;
  void resized(int fd, std::int64_t size) override;
  void synced(int fd) override;
  void made_folder(std::string_view path) override;
  void removed(std::string_view path) override;
  void renamed(std::string_view from, std::string_view to) override;
  void linked(std::string_view from, std::string_view to) override;
  void pointed(std::string_view path, std::string_view target) override;

 private:
  struct Name {  // of a node in a folder
    int folder = 0;
    std::string name;
    friend auto operator<=>(const Name&, const Name&) = default;
  };
  enum class Sort : std::uint8_t { file, folder, link };
  struct Node {
    Sort sort = Sort::file;
    std::string bytes;  // the initial bytes of a file, or the target of a link
  };
  struct Change {
    enum class What : std::uint8_t { set_name, clear_name, move_name, write, resize, sync } what;
    int node = 0;
    Name name = {};
    Name old_name = {};
    std::int64_t offset = 0;  // the new size, for resize
    std::string bytes = {};
  };
  using Names = std::map<Name, int>;
  struct State;
  enum class Luck : std::uint8_t { none, all, half, nearly_none, nearly_all };
  struct Chance {
    Luck names;
    Luck bytes;
    std::minstd_rand& dice;
  };
  static constexpr int kRoot = 0;
  static void put_bytes(std::string& bytes, std::size_t offset, std::string_view piece);
  static bool arrives(Luck luck, std::minstd_rand& dice);
  std::size_t end_of_journal(const std::vector<bool>& sure, const Chance& chance) const;
  static void make_change(const Change& change, State& state);
  static void write_bytes(const Change& change, Arrival arrival, bool is_sure, const Chance& chance,
                          std::string& bytes);
  void write_state(std::size_t cut, Arrival arrival, const Chance& chance,
                   const std::filesystem::path& target) const;

  int add_node(Sort sort, std::string bytes = {});
  Name name_of(std::string_view path) const;
  bool is_synced_after(std::size_t at, int node) const;
  std::string path_of(const Name& name) const;
  std::string path_of(int node) const;
  void load(const std::filesystem::path& folder, int node);
  void take_unseen_bytes(int node, const std::filesystem::path& path);
  std::vector<bool> certain(std::size_t cut, Arrival arrival) const;
  void write_tree(const State& state, int folder, const std::filesystem::path& target) const;

  std::string root_;
  std::vector<Node> nodes_;            // the first one is the root
  Names now_;                          // as the run sees it
  std::vector<std::string> contents_;  // of the files, as the run sees them
  std::map<int, int> open_;            // file descriptors and their nodes
  Names at_begin_;
  std::vector<Change> changes_;
};

}  // namespace reprise::rel
