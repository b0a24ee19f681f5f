#include "disk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSectorBytes = 512;
constexpr int kRoot = 0;
constexpr int kNowhere = -1;

std::string read_bytes(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(std::string& bytes, std::size_t offset, std::string_view piece) {
  if (bytes.size() < offset + piece.size()) {
    bytes.resize(offset + piece.size());
  }
  bytes.replace(offset, piece.size(), piece);
}

}  // namespace

// How much of what is not certain arrives. Extremes find other faults than the middle does.
bool DiskRecord::arrives(Luck luck, std::minstd_rand& dice) {
  const auto number = dice() % 16;
  switch (luck) {
    case Luck::none:
      return false;
    case Luck::all:
      return true;
    case Luck::half:
      return number < 8;
    case Luck::nearly_none:
      return number < 1;
    case Luck::nearly_all:
      return number < 15;
  }
  return false;
}

struct DiskRecord::State {
  Names names;
  std::vector<std::string> contents;
};

DiskRecord::DiskRecord(const fs::path& folder) : root_(folder.native()) {
  add_node(Sort::folder);
  load(folder, kRoot);
  at_begin_ = now_;
}

int DiskRecord::add_node(Sort sort, std::string bytes) {
  contents_.push_back(bytes);
  nodes_.push_back({sort, std::move(bytes)});
  return static_cast<int>(nodes_.size()) - 1;
}

void DiskRecord::load(const fs::path& folder, int node) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    int child = 0;
    if (entry.is_symlink()) {
      child = add_node(Sort::link, fs::read_symlink(entry.path()).native());
    } else if (entry.is_directory()) {
      child = add_node(Sort::folder);
      load(entry.path(), child);
    } else {
      child = add_node(Sort::file, read_bytes(entry.path()));
    }
    now_[{node, entry.path().filename().native()}] = child;
  }
}

DiskRecord::Name DiskRecord::name_of(std::string_view path) const {
  Name name{kRoot, ""};
  path.remove_prefix(root_.size());
  while (!path.empty()) {
    path.remove_prefix(path.find_first_not_of('/') == std::string_view::npos
                           ? path.size()
                           : path.find_first_not_of('/'));
    const std::size_t end = std::min(path.find('/'), path.size());
    if (end == 0) {
      break;
    }
    if (!name.name.empty()) {
      const auto folder = now_.find(name);
      name.folder = folder == now_.end() ? kNowhere : folder->second;
    }
    name.name = path.substr(0, end);
    path.remove_prefix(end);
  }
  return name;
}

void DiskRecord::opened(int fd, std::string_view path, bool is_new, bool emptied) {
  const Name name = name_of(path);
  if (name.name.empty()) {
    open_[fd] = kRoot;
    return;
  }
  auto found = now_.find(name);
  if (found == now_.end()) {
    const int node = add_node(Sort::file);
    found = now_.emplace(name, node).first;
    changes_.push_back({Change::What::set_name, node, name});
    if (!is_new) {  // made in a way that was not seen
      take_unseen_bytes(node, path);
    }
  } else if (emptied && !contents_.at(static_cast<std::size_t>(found->second)).empty()) {
    contents_.at(static_cast<std::size_t>(found->second)).clear();
    changes_.push_back({Change::What::resize, found->second});
  }
  open_[fd] = found->second;
}

void DiskRecord::closed(int fd) {
  open_.erase(fd);
}

void DiskRecord::wrote(int fd, std::int64_t offset, std::string_view bytes) {
  const int node = open_.at(fd);
  put(contents_.at(static_cast<std::size_t>(node)), static_cast<std::size_t>(offset), bytes);
  changes_.push_back({Change::What::write, node, {}, {}, offset, std::string(bytes)});
}

void DiskRecord::resized(int fd, std::int64_t size) {
  const int node = open_.at(fd);
  contents_.at(static_cast<std::size_t>(node)).resize(static_cast<std::size_t>(size));
  changes_.push_back({Change::What::resize, node, {}, {}, size});
}

void DiskRecord::synced(int fd) {
  const int node = open_.at(fd);
  if (nodes_.at(static_cast<std::size_t>(node)).sort == Sort::file) {
    take_unseen_bytes(node, cat("/proc/self/fd/", fd));
  }
  changes_.push_back({Change::What::sync, node});
}

// What was written by other ways than the calls we see has at least been written by now.
void DiskRecord::take_unseen_bytes(int node, const fs::path& path) {
  std::string& known = contents_.at(static_cast<std::size_t>(node));
  std::string bytes = read_bytes(path);
  if (bytes != known) {
    changes_.push_back(
        {Change::What::resize, node, {}, {}, static_cast<std::int64_t>(bytes.size())});
    changes_.push_back({Change::What::write, node, {}, {}, 0, bytes});
    known = std::move(bytes);
  }
}

void DiskRecord::made_folder(std::string_view path) {
  const Name name = name_of(path);
  const int node = add_node(Sort::folder);
  now_[name] = node;
  changes_.push_back({Change::What::set_name, node, name});
}

void DiskRecord::pointed(std::string_view path, std::string_view target) {
  const Name name = name_of(path);
  const int node = add_node(Sort::link, std::string(target));
  now_[name] = node;
  changes_.push_back({Change::What::set_name, node, name});
}

void DiskRecord::linked(std::string_view from, std::string_view to) {
  const Name name = name_of(to);
  const int node = now_.at(name_of(from));
  now_[name] = node;
  changes_.push_back({Change::What::set_name, node, name});
}

void DiskRecord::removed(std::string_view path) {
  const Name name = name_of(path);
  now_.erase(name);
  changes_.push_back({Change::What::clear_name, kNowhere, name});
}

void DiskRecord::renamed(std::string_view from, std::string_view to) {
  const Name old_name = name_of(from);
  const Name name = name_of(to);
  auto found = now_.find(old_name);
  if (found == now_.end()) {  // made in a way that was not seen
    const int node = add_node(Sort::file);
    changes_.push_back({Change::What::set_name, node, old_name});
    take_unseen_bytes(node, to);
    found = now_.emplace(old_name, node).first;
  }
  const int node = found->second;
  now_.erase(found);
  now_[name] = node;
  changes_.push_back({Change::What::move_name, node, name, old_name});
}

// Which of the first `cut` changes a sync has made certain.
std::vector<bool> DiskRecord::certain(std::size_t cut, Arrival arrival) const {
  std::vector<bool> out(cut);
  for (std::size_t at = 0; at < cut; ++at) {
    if (changes_[at].what != Change::What::sync) {
      continue;
    }
    const int synced = changes_[at].node;
    for (std::size_t i = 0; i < at; ++i) {
      const Change& change = changes_[i];
      const bool is_content =
          change.what == Change::What::write || change.what == Change::What::resize;
      const bool is_covered = is_content ? change.node == synced : change.name.folder == synced;
      const bool is_journalled =
          arrival == Arrival::journalled && change.what != Change::What::write;
      if (is_covered || is_journalled) {
        out[i] = true;
      }
    }
  }
  return out;
}

void DiskRecord::write_state(std::size_t cut, Arrival arrival, std::minstd_rand& chance,
                             const fs::path& target) const {
  const auto names = static_cast<Luck>(chance() % 5);
  const auto bytes = static_cast<Luck>(chance() % 5);
  write_state(cut, arrival, {names, bytes, chance}, target);
}

void DiskRecord::write_certain(Arrival arrival, const fs::path& target) const {
  std::minstd_rand unused;
  write_state(changes_.size(), arrival, {Luck::none, Luck::none, unused}, target);
}

// In a journal the names and sizes up to some point arrive, and none after it.
std::size_t DiskRecord::end_of_journal(const std::vector<bool>& sure, const Chance& chance) const {
  std::size_t last_sure = sure.size();
  while (last_sure > 0 &&
         (!sure[last_sure - 1] || changes_[last_sure - 1].what == Change::What::write)) {
    --last_sure;
  }
  return chance.names == Luck::none  ? last_sure
         : chance.names == Luck::all ? sure.size()
                                     : last_sure + chance.dice() % (sure.size() - last_sure + 1);
}

void DiskRecord::make_change(const Change& change, State& state) {
  switch (change.what) {
    case Change::What::move_name:
      state.names.erase(change.old_name);
      state.names[change.name] = change.node;
      break;
    case Change::What::set_name:
      state.names[change.name] = change.node;
      break;
    case Change::What::clear_name:
      state.names.erase(change.name);
      break;
    case Change::What::resize:
      state.contents.at(static_cast<std::size_t>(change.node))
          .resize(static_cast<std::size_t>(change.offset));
      break;
    case Change::What::write:
    case Change::What::sync:
      break;
  }
}

// Sector by sector.
void DiskRecord::write_bytes(const Change& change, Arrival arrival, bool is_sure,
                             const Chance& chance, std::string& bytes) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (arrival == Arrival::minimal && bytes.size() < offset + change.bytes.size() &&
      (is_sure || arrives(chance.names, chance.dice))) {
    bytes.resize(offset + change.bytes.size());  // grown, and zeros until the bytes come
  }
  for (std::size_t from = 0; from < change.bytes.size();) {
    const std::size_t end = std::min(
        change.bytes.size(), (offset + from) / kSectorBytes * kSectorBytes + kSectorBytes - offset);
    if (is_sure || arrives(chance.bytes, chance.dice)) {
      put(bytes, offset + from, std::string_view(change.bytes).substr(from, end - from));
    }
    from = end;
  }
}

void DiskRecord::write_state(std::size_t cut, Arrival arrival, const Chance& chance,
                             const fs::path& target) const {
  State state{at_begin_, {}};
  state.contents.reserve(nodes_.size());
  for (const Node& node : nodes_) {
    state.contents.push_back(node.bytes);
  }
  const std::vector<bool> sure = certain(cut, arrival);
  const bool has_journal = arrival == Arrival::journalled;
  const std::size_t journalled = has_journal ? end_of_journal(sure, chance) : 0;
  for (std::size_t i = 0; i < cut; ++i) {
    const Change& change = changes_[i];
    if (change.what == Change::What::write) {
      write_bytes(change, arrival, sure[i], chance,
                  state.contents.at(static_cast<std::size_t>(change.node)));
    } else if (change.what != Change::What::sync &&
               (sure[i] || (has_journal ? i < journalled : arrives(chance.names, chance.dice)))) {
      make_change(change, state);
    }
  }
  fs::remove_all(target);
  fs::create_directories(target);
  write_tree(state, kRoot, target);
}

void DiskRecord::write_tree(const State& state, int folder, const fs::path& target) const {
  for (auto at = state.names.lower_bound({folder, ""});
       at != state.names.end() && at->first.folder == folder; ++at) {
    const fs::path path = target / at->first.name;
    const auto node = static_cast<std::size_t>(at->second);
    switch (nodes_[node].sort) {
      case Sort::folder:
        fs::create_directory(path);
        write_tree(state, at->second, path);
        break;
      case Sort::link:
        fs::create_symlink(state.contents[node], path);
        break;
      case Sort::file:
        std::ofstream(path, std::ios::binary) << state.contents[node];
        break;
    }
  }
}

}  // namespace reprise::rel
