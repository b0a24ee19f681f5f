// The possible states of a disk after a power cut.

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <ios>
#include <random>
#include <set>
#include <vector>

#include "base/text.h"
#include "disk.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kSectorBytes = 512;

}  // namespace

struct DiskRecord::State {
  Names names;
  std::vector<std::string> contents;
};

// Whether an unsynced change is on the disk. Extreme probabilities find other faults than medium
// ones.
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

// Which of the first `cut` changes are durable.
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

// In a journal, the names and sizes up to some point are on the disk, and none after it.
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

// Decides for each sector.
void DiskRecord::write_bytes(const Change& change, Arrival arrival, bool is_sure,
                             const Chance& chance, std::string& bytes) {
  const auto offset = static_cast<std::size_t>(change.offset);
  if (arrival == Arrival::minimal && bytes.size() < offset + change.bytes.size() &&
      (is_sure || arrives(chance.names, chance.dice))) {
    bytes.resize(offset + change.bytes.size());  // zeros until the bytes are written
  }
  for (std::size_t from = 0; from < change.bytes.size();) {
    const std::size_t end = std::min(
        change.bytes.size(), (offset + from) / kSectorBytes * kSectorBytes + kSectorBytes - offset);
    if (is_sure || arrives(chance.bytes, chance.dice)) {
      put_bytes(bytes, offset + from, std::string_view(change.bytes).substr(from, end - from));
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

std::string DiskRecord::path_of(const Name& name) const {
  return name.folder == kRoot ? name.name : cat(path_of(name.folder), "/", name.name);
}

// "" if it has no name any more.
std::string DiskRecord::path_of(int node) const {
  const auto found = std::ranges::find(now_, node, &Names::value_type::second);
  return found == now_.end() ? "" : path_of(found->first);
}

bool DiskRecord::is_synced_after(std::size_t at, int node) const {
  return std::any_of(changes_.begin() + static_cast<std::ptrdiff_t>(at), changes_.end(),
                     [node](const Change& change) {
                       return change.what == Change::What::sync && change.node == node;
                     });
}

std::vector<std::string> DiskRecord::unsynced() const {
  const std::vector<bool> sure = certain(changes_.size(), Arrival::minimal);
  Names on_disk = at_begin_;  // or durable at some time
  std::set<std::string> out;
  const auto is_gone = [&](const Name& name) {
    return on_disk.contains(name) && !now_.contains(name) &&
           (name.folder == kRoot || !path_of(name.folder).empty());
  };
  for (std::size_t i = 0; i < changes_.size(); ++i) {
    const Change& change = changes_[i];
    if (change.what == Change::What::move_name && is_gone(change.old_name) &&
        !is_synced_after(i, change.old_name.folder)) {
      out.insert(cat("the removal of ", path_of(change.old_name)));
    }
    const bool is_name =
        change.what == Change::What::set_name || change.what == Change::What::move_name;
    if (sure[i]) {
      if (is_name) {
        on_disk[change.name] = change.node;
      }
    } else if (is_name) {
      const auto now = now_.find(change.name);
      if (now != now_.end() && now->second == change.node) {
        out.insert(cat("the name ", path_of(change.name)));
      }
    } else if (change.what == Change::What::clear_name) {
      if (is_gone(change.name)) {
        out.insert(cat("the removal of ", path_of(change.name)));
      }
    } else if (change.what != Change::What::sync && !path_of(change.node).empty()) {
      out.insert(cat("the bytes of ", path_of(change.node)));
    }
  }
  return {out.begin(), out.end()};
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
