#include "source/list_cache.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "base/encode.h"
#include "base/file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "model/fields.h"
#include "reprise/environment.h"
#include "source/branches.h"
#include "source/file.h"

namespace reprise::source {
namespace {

namespace fs = std::filesystem;

// The file: this line, the source, the number of entries, the entries, and a hash of all this.
// Numbers are written seven bits to a byte, the lowest first, with the high bit set in all bytes
// but the last (LEB128); texts follow their length.
constexpr std::string_view kBegin = "reprise list cache 6\n";
constexpr std::int64_t kFileBytesMax = 64 << 20;
constexpr std::size_t kEntryBytesMax = 16 << 10;
constexpr std::size_t kHashBytes = 8;
// FAT's times have a resolution of 2 s.
constexpr std::chrono::seconds kTimeResolution{3};
constexpr std::int64_t kMicrosMax = 253'402'300'800'000'000;  // the year 10000

class Writer {
 public:
  void put(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7U) {
      out_ += static_cast<char>(number | 0x80U);
    }
    out_ += static_cast<char>(number);
  }
  void put(std::string_view text) {
    put(std::uint64_t{text.size()});
    out_ += text;
  }
  void put(const std::string& text) { put(std::string_view(text)); }
  void put(bool flag) { put(std::uint64_t{flag}); }
  void put(SessionState state) { put(static_cast<std::uint64_t>(state)); }
  void put(Seq seq) { put(static_cast<std::uint64_t>(seq.value)); }
  void put(Time time) { put(static_cast<std::uint64_t>(time.time_since_epoch().count())); }
  void put(const ForkOrigin& origin) {
    put(origin.session.str());
    put(origin.at);
  }
  template <class Value>
  void put(const std::optional<Value>& value) {
    put(value.has_value());
    if (value) {
      put(*value);
    }
  }

  std::string& text() { return out_; }

 private:
  std::string out_;
};

// Accepts any bytes: malformed values read as empty, and has_failed() is true from then on.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool has_failed() const { return failed_; }
  bool at_end() const { return bytes_.empty() && !failed_; }

  void get(std::uint64_t& number) {
    number = 0;
    for (unsigned shift = 0; !failed_; shift += 7) {
      check(!bytes_.empty() && shift < 64);
      const auto byte = static_cast<unsigned char>(failed_ ? 0 : bytes_.front());
      number |= std::uint64_t{byte & 0x7FU} << (shift % 64);
      bytes_.remove_prefix(failed_ ? 0 : 1);
      if (byte < 0x80) {
        break;
      }
    }
  }
  void get(std::string& text) {
    std::uint64_t size = 0;
    get(size);
    text = take(size);
    check(utf8::is_valid(text));
  }
  void get(bool& flag) {
    std::uint64_t number = 0;
    get(number);
    check(number <= 1);
    flag = number == 1;
  }
  void get(SessionState& state) {
    std::uint64_t number = 0;
    get(number);
    check(number <= static_cast<std::uint64_t>(SessionState::trashed));
    state = failed_ ? SessionState::active : static_cast<SessionState>(number);
  }
  void get(Seq& seq) { seq = Seq{get_limited(std::numeric_limits<std::int32_t>::max())}; }
  void get(Time& time) { time = Time(std::chrono::microseconds(get_limited(kMicrosMax))); }
  template <class Value>
  void get(std::optional<Value>& value) {
    bool has_value = false;
    get(has_value);
    if (has_value) {
      get(value.emplace());
    }
  }
  void get(std::optional<ForkOrigin>& origin) {
    bool has_value = false;
    get(has_value);
    if (has_value) {
      std::string id;
      Seq at;
      get(id);
      get(at);
      auto session = SessionId::parse(id);
      check(session.has_value());
      origin = session ? std::optional(ForkOrigin{*std::move(session), at}) : std::nullopt;
    }
  }

 private:
  std::string_view take(std::uint64_t size) {
    check(size <= bytes_.size());
    const std::string_view taken = bytes_.substr(0, failed_ ? 0 : size);
    bytes_.remove_prefix(taken.size());
    return taken;
  }
  std::int64_t get_limited(std::int64_t limit) {
    std::uint64_t number = 0;
    get(number);
    const auto value = static_cast<std::int64_t>(number);
    check(value <= limit && value >= -limit);
    return failed_ ? 0 : value;
  }
  void check(bool is_good) { failed_ = failed_ || !is_good; }

  std::string_view bytes_;
  bool failed_ = false;
};

void put_head(Writer& writer, const CachedHead& head) {
  writer.put(std::uint64_t{head.files.size()});
  for (const fs::path& file : head.files) {
    writer.put(file.native());
  }
  writer.put(head.is_child);
  writer.put(head.first_message);
  writer.put(head.copies_state);
  writer.put(head.copied_from);
  writer.put(head.info.has_value());
  if (head.info) {
    writer.put(head.info->is_head_known);
    model::for_each(model::kInfoFields,
                    [&](const auto& field) { writer.put((*head.info).*field.member); });
  }
}

void get_head(Reader& reader, const SessionId& id, CachedHead& head) {
  std::uint64_t files = 0;
  reader.get(files);
  for (std::uint64_t i = 0; i < files && !reader.has_failed(); ++i) {
    std::string file;
    reader.get(file);
    head.files.emplace_back(file);
  }
  reader.get(head.is_child);
  reader.get(head.first_message);
  reader.get(head.copies_state);
  reader.get(head.copied_from);
  bool has_info = false;
  reader.get(has_info);
  if (has_info) {
    SessionInfo& info = head.info.emplace(SessionInfo{.id = id});
    reader.get(info.is_head_known);
    model::for_each(model::kInfoFields, [&](const auto& field) { reader.get(info.*field.member); });
  }
}

// Adds the head's files to the state.
SharedHead complete(HeadState& state, CachedHead head) {
  for (const fs::path& file : head.files) {
    state.add_file(file);
  }
  if (head.info) {
    head.info->revision = state.revision();
    if (head.info->updated_at > system_clock().now()) {
      head.info->arrived_at = state.changed_at();
    }
  }
  return std::make_shared<const CachedHead>(std::move(head));
}

}  // namespace

void HeadState::add(std::string_view value) {
  hash_ = fnv1a(cat(value, "\n"), hash_ ^ kFnvOffset);
}

std::string HeadState::revision() const {
  return cat(hash_, is_settled_ ? "" : "?");
}

void HeadState::add_file(const fs::path& file) {
  add_file(file, state_of_file(file));
}

void HeadState::add_file(const fs::path& file, const Result<FileState>& state) {
  if (!state && state.error().code == Code::not_found) {
    return add(cat(file.native(), " none"));
  }
  const Time now = std::chrono::time_point_cast<Time::duration>(std::chrono::system_clock::now());
  is_settled_ = is_settled_ && state && now - state->changed_at >= kTimeResolution;
  if (!state) {
    return;
  }
  changed_at_ = std::max(changed_at_, state->changed_at);
  add(cat(file.native(), " ", static_cast<std::int64_t>(state->inode), " ", state->bytes, " ",
          state->changed_at.time_since_epoch().count()));
}

ListCache::ListCache(fs::path folder, std::string source)
    : folder_(std::move(folder)), source_(std::move(source)) {
  if (!folder_.empty()) {
    file_ = folder_ / cat(hex_of(fnv1a(source_)), ".list");
  }
}

bool ListCache::contains(const SessionId& id) {
  const std::lock_guard lock(mutex_);
  load();
  return entries_.contains(id.str());
}

SharedHead ListCache::find(const SessionId& id, HeadState state) {
  const std::lock_guard lock(mutex_);
  load();
  const auto found = entries_.find(id.str());
  if (found == entries_.end()) {
    return nullptr;
  }
  const Entry& entry = found->second;
  for (const fs::path& file : entry.head->files) {
    state.add_file(file);
  }
  return state.take() == entry.state ? entry.head : nullptr;
}

SharedHead ListCache::share(HeadState state, CachedHead head) {
  return complete(state, std::move(head));
}

SharedHead ListCache::put(const SessionId& id, HeadState state, CachedHead head) {
  SharedHead shared = complete(state, std::move(head));
  if (const auto hash = state.take(); hash && !file_.empty()) {
    const std::lock_guard lock(mutex_);
    load();
    entries_[id.str()] = {*hash, shared};
    has_changed_ = true;
  }
  return shared;
}

void ListCache::load() {
  if (std::exchange(is_loaded_, true) || file_.empty()) {
    return;
  }
  const auto bytes = read_file(file_, kFileBytesMax);
  if (bytes && !parse(*bytes)) {
    entries_.clear();
  }
}

bool ListCache::parse(std::string_view bytes) {
  if (bytes.size() < kBegin.size() + kHashBytes || !bytes.starts_with(kBegin)) {
    return false;
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kHashBytes);
  Reader reader(body.substr(kBegin.size()));
  std::string source;
  std::uint64_t count = 0;
  reader.get(source);
  reader.get(count);
  if (bytes.substr(body.size()) != hash_of_words(body) || source != source_) {
    return false;
  }
  for (std::uint64_t i = 0; i < count && !reader.has_failed(); ++i) {
    std::string id;
    Entry entry;
    reader.get(id);
    reader.get(entry.state);
    const auto session = SessionId::parse(id);
    if (!session) {
      return false;
    }
    CachedHead head;
    get_head(reader, *session, head);
    if (head.info) {
      head.info->revision = cat(entry.state);  // as HeadState::revision()
    }
    entry.head = std::make_shared<const CachedHead>(std::move(head));
    entries_.insert_or_assign(std::move(id), std::move(entry));
  }
  return reader.at_end();
}

std::string ListCache::format() const {
  Writer entries;
  std::uint64_t count = 0;
  for (const auto& [id, entry] : entries_) {
    const std::size_t begin = entries.text().size();
    entries.put(id);
    entries.put(entry.state);
    put_head(entries, *entry.head);
    if (entries.text().size() - begin <= kEntryBytesMax) {
      ++count;
    } else {
      entries.text().resize(begin);
    }
  }
  Writer file;
  file.text() = kBegin;
  file.put(source_);
  file.put(count);
  file.text() += entries.text();
  file.text() += hash_of_words(file.text());
  return std::move(file.text());
}

void ListCache::save(const std::function<bool(std::string_view id)>& is_present) {
  const std::lock_guard lock(mutex_);
  if (file_.empty()) {
    return;
  }
  load();
  const auto gone =
      std::erase_if(entries_, [&](const auto& entry) { return !is_present(entry.first); });
  if (gone == 0 && !has_changed_) {
    return;
  }
  const std::string bytes = format();
  const auto write = [&]() -> Result<> {
    if (std::ssize(bytes) > kFileBytesMax) {
      return remove_if_exists(file_);
    }
    REPRISE_TRY(make_private_folders(folder_));
    return replace_file(file_, bytes);
  };
  has_changed_ = !write().has_value();
}

}  // namespace reprise::source
