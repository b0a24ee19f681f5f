#pragma once

// Whether the locks of a file system keep other processes out. On some network file systems they
// succeed without locking, or lock only on this machine.

#include <filesystem>
#include <string>
#include <string_view>

#include "reprise/error.h"

namespace reprise {

// An error (ENOLCK) if locks on the open file are known to be of no use: two descriptors get the
// same one (`byte`, which is not used otherwise), or the mount table says so. The usual local file
// systems are not examined, and cost one statfs.
Result<> check_locks(int fd, const std::filesystem::path& path, int byte);

// Whether the other descriptor of the same file gets the lock that the first one has.
bool get_the_same_lock(int first, int other, int byte);

// Whether a file system of this type (statfs) is a usual local one.
bool is_local_file_system(long type);

// The mount option that says that locks on this device ("MAJOR:MINOR") are not sent to the server;
// "" if there is none. `mounts` is in the format of /proc/self/mountinfo.
std::string local_lock_option(std::string_view mounts, std::string_view device);

// The error for a lock that the file system refuses or fakes.
Error no_locks_error(const std::filesystem::path& path, std::string_view reason);

}  // namespace reprise
