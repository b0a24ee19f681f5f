#include "store/memory/blob_table.h"

#include "reprise/capabilities.h"
#include "reprise/environment.h"
#include "store/rules.h"

namespace reprise::store {

void BlobTable::put(const BlobHash& hash, std::string_view bytes) {
  pin(hash, clock_.now());
  bytes_.try_emplace(hash, bytes);
  collect();
}

const std::string* BlobTable::find(const BlobHash& hash) const {
  const auto found = bytes_.find(hash);
  return found == bytes_.end() ? nullptr : &found->second;
}

void BlobTable::name(const SessionId& id, const std::vector<Block>& blocks) {
  for (const BlobHash& hash : blobs_in(blocks)) {
    names_[hash] += names_of_[id].insert(hash).second ? 1 : 0;
  }
}

void BlobTable::release(const SessionId& id) {
  const auto named = names_of_.extract(id);
  if (named) {
    for (const BlobHash& hash : named.mapped()) {
      if (--names_[hash] == 0) {
        names_.erase(hash);
      }
      if (!pins_.contains(hash)) {
        pin(hash, Time::min());
      }
    }
  }
  collect();
}

void BlobTable::pin(const BlobHash& hash, Time put_at) {
  if (const auto known = pins_.find(hash); known != pins_.end()) {
    pins_by_time_.erase({known->second, hash});
  }
  pins_.insert_or_assign(hash, put_at);
  pins_by_time_.emplace(put_at, hash);
}

// Each blob is examined once after its put, and once when it loses a reference.
void BlobTable::collect() {
  const Time before = clock_.now() - kBlobPinned;
  while (!pins_by_time_.empty() && pins_by_time_.begin()->first < before) {
    const BlobHash hash = pins_by_time_.begin()->second;
    pins_by_time_.erase(pins_by_time_.begin());
    pins_.erase(hash);
    if (!names_.contains(hash)) {
      bytes_.erase(hash);
    }
  }
}

}  // namespace reprise::store
