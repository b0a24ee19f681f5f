#pragma once

// The trials of rel_store; that of purges is also one of rel_server.

#include <cstddef>
#include <cstdint>

#include "calls.h"
#include "history.h"
#include "life.h"
#include "tally.h"

namespace reprise::rel {

// For example, "short write, then ENOSPC for ever".
std::string describe(const Trap& trap);

// Kills the process at every change of each step, from opening to closing the store: afterwards,
// the step must be atomic, and done if it was acknowledged.
Tally kill_at_every_change(const History& history);

// Lets every `stride`-th call of each step fail, once or permanently, with EIO, ENOSPC and EDQUOT,
// or process only half of its bytes; of the delicate calls (CallCounts), every (stride / 20)-th and
// each step's last two fail once. A successful step must be done; a failed one must succeed when
// repeated without faults, and be executed once.
Tally fail_at_calls(const History& history, std::int64_t stride);

// Lets every `stride`-th call of a backup of the whole life fail, in each of the tried ways. A
// successful backup is durable and shows the same as the store; a failed one leaves nothing that
// looks like a backup, and can be repeated.
Tally fail_backups(const History& history, std::int64_t stride);

// Simulates `states` power cuts spread over a whole life, each with another part of the unsynced
// changes on the disk: afterwards, all acknowledged steps are done, and the state is one of the
// life.
Tally simulate_power_cuts(const History& history, std::size_t states);

// The same while a long log is checkpointed and restarted.
Tally simulate_power_cuts_of_long_log(const Kind& kind, std::size_t states);

// Runs the life of the store, migrates the golden ones, backs up, repairs, and writes beside
// damaged files, without faults: when a call has returned, all lasting data must be synced, and
// every file and folder must be created private, whatever the umask.
Tally check_durability(const Kind& kind);

// Runs the store's life with all kinds of wrong clocks: its visible state must not depend on the
// clock.
Tally run_with_wrong_clocks(const History& history);

// Stores of all formats ever written are read without changes, migrated, and continued; a kill at
// any change loses and duplicates nothing.
Tally upgrade_stores(const Kind& kind);

// Copies a whole store into one of this kind with a kill at every `stride`-th change, and copies
// again: the result must be the same as without the kill.
Tally kill_copies(const Kind& kind, std::int64_t stride);

// Several processes using one session of a store.

// Four writers, all killed at a random time, `rounds` times: every acknowledged message exists
// once, those per writer in order.
Tally kill_writers(const Kind& kind, std::size_t rounds);

// Four writers beside another program that checkpoints the log and pauses where SQLite
// before 3.51.3 has a fault, `rounds` times: every acknowledged message exists once, in order. A
// database that is written by SQLite alone must be damaged meanwhile, if the library has the fault.
Tally write_beside_checkpoints(const Kind& kind, std::size_t rounds);

struct CrowdSize {
  int writers = 8;
  int messages = 1000;  // per writer
  std::size_t bytes = 200;
};

// Writers at full speed, beside readers that must always see an extension of the previous list of
// messages. Afterwards, all messages exist once, and verify finds no damage.
Tally write_concurrently(const Kind& kind, const CrowdSize& size);

// A writer is stopped (SIGSTOP) at `moments` times, possibly holding the lock: others write, or
// fail within bounded time; readers continue. The lock must be held at least once.
Tally stop_lock_holder(const Kind& kind, std::size_t moments);

// Power cuts with active writers on real file systems. Needs root.

// On ext4 and on XFS: four writers, a power cut at a random time, `rounds` times each. Afterwards,
// every acknowledged message exists once, those of each writer in order.
Tally cut_real_disks(const Kind& kind, std::size_t rounds);

// Full disks.

// A store on a disk without free bytes (tmpfs, ext4), without free inodes, and with a limit of the
// file size: everything can be read and copied elsewhere, writes fail or succeed properly, sessions
// can be deleted; and with free space, the store is usable again. Needs root.
Tally fill_disks(const Kind& kind);

// Purges beside other writers, and killed ones.

inline constexpr int kPurged = 2;  // the session
inline constexpr std::string_view kPurgedWord = "unforgettable";
// The fault; "" if no file of the store contains the word.
std::string files_with_words(const std::filesystem::path& location);

// One process puts blobs and references them later; in between, another one purges sessions with
// the same and other blobs. Afterwards, no referenced blob is missing, and no file of the store
// contains purged text.
Tally purge_concurrently(const Kind& kind);

// On a disk without space, a purge is killed at one of its changes. The session is then whole, or
// gone, or reported as partly removed and never restored; the next purge completes it. Needs root.
Tally kill_purges(const Kind& kind);

}  // namespace reprise::rel
