#pragma once

// A set of texts that stores only 64-bit hashes: 8 to 16 bytes per text. The probability that any
// two of a million texts collide is 1 in 30 million.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/hash.h"

namespace reprise {

class HashSet {
 public:
  // Returns whether it is new.
  bool insert(std::string_view text) {
    if (2 * (count_ + 1) > slots_.size()) {
      grow();
    }
    const bool is_new = put(hash_of(text));
    count_ += is_new ? 1 : 0;
    return is_new;
  }
  bool contains(std::string_view text) const {
    return !slots_.empty() && slots_[slot_of(hash_of(text))] != 0;
  }

 private:
  // 0 marks an empty slot.
  static std::uint64_t hash_of(std::string_view text) {
    const std::uint64_t hash = fnv1a(text);
    const std::uint64_t mixed = (hash ^ (hash >> 32U)) * 0x9e3779b97f4a7c15U;
    return mixed == 0 ? 1 : mixed;
  }
  // The slot of the hash, or the empty one to insert it.
  std::size_t slot_of(std::uint64_t hash) const {
    std::size_t at = (hash >> 20U) & (slots_.size() - 1);
    while (slots_[at] != 0 && slots_[at] != hash) {
      at = (at + 1) & (slots_.size() - 1);
    }
    return at;
  }
  bool put(std::uint64_t hash) {
    std::uint64_t& slot = slots_[slot_of(hash)];
    const bool is_new = slot == 0;
    slot = hash;
    return is_new;
  }
  void grow() {
    std::vector<std::uint64_t> before(slots_.empty() ? 64 : 2 * slots_.size());
    before.swap(slots_);
    for (const std::uint64_t hash : before) {
      if (hash != 0) {
        put(hash);
      }
    }
  }

  std::vector<std::uint64_t> slots_;  // the size is a power of two, at least half are empty
  std::size_t count_ = 0;
};

}  // namespace reprise
