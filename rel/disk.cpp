#include "disk.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <ios>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "base/text.h"

namespace reprise::rel {
namespace {

namespace fs = std::filesystem;

constexpr int kNowhere = -1;

// In one read, because it is called for every sync.
std::string read_bytes(const fs::path& file) {
  std::error_code unknown;
  const std::uintmax_t size = fs::file_size(file, unknown);
  std::string bytes(unknown ? 0 : size, '\0');
  std::ifstream in(file, std::ios::binary);
  in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(in.gcount()));
  return bytes;
}

}  // namespace

void DiskRecord::put_bytes(std::string& bytes, std::size_t offset, std::string_view piece) {
  if (bytes.size() < offset + piece.size()) {
    bytes.resize(offset + piece.size());
  }
  bytes.replace(offset, piece.size(), piece);
}

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
    if (!is_new) {  // created by an unwatched call
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
  put_bytes(contents_.at(static_cast<std::size_t>(node)), static_cast<std::size_t>(offset), bytes);
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

// Adds bytes written by unwatched calls as written at this time.
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
  if (found == now_.end()) {  // created by an unwatched call
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

}  // namespace reprise::rel
