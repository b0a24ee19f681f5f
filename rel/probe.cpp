// rel_probe write URL WRITER    writes until it is killed or fails; "ACK WRITER I" when the I-th
//                               message is acknowledged
// rel_probe check URL <OUTPUT   checks that all acknowledged messages exist, once, in order
//
// For faults that need manual work: start writers, store their output on another machine (a new
// store needs one writer first), pull the plug, check. Works with every store.

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <stdexcept>

#include "additions.h"
#include "base/text.h"
#include "reprise/open_store.h"
#include "run.h"
#include "writers.h"

namespace reprise::rel {
namespace {

constexpr std::size_t kBytes = 200;

[[noreturn]] void give_up(const Error& error) {
  throw std::runtime_error(error.message);
}

int write_on_and_on(Store& store, int writer) {
  if (const auto created = create_named(store);
      !created && created.error().code != Code::conflict) {
    give_up(created.error());
  }
  const auto names = names_in(store);
  if (!names) {
    give_up(names.error());
  }
  const std::string own = cat("0.", writer, ".");
  auto number = static_cast<int>(
      std::ranges::count_if(*names, [&](const auto& name) { return name.starts_with(own); }));
  for (;; ++number) {
    if (const auto added = add_named(store, name_of(0, writer, number), kBytes); !added) {
      give_up(added.error());
    }
    const std::string line = cat("ACK ", writer, " ", number + 1, "\n");
    if (::write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      return 1;  // nobody reads the output
    }
  }
}

int check(Store& store) {
  Acknowledged known;
  std::string word;
  int writer = 0;
  int count = 0;
  while (std::cin >> word >> writer >> count) {
    known[{0, writer}] = std::max(known[{0, writer}], count);
  }
  const auto names = names_in(store);
  if (!names) {
    give_up(names.error());
  }
  int acknowledged = 0;
  for (const auto& [who, counted] : known) {
    acknowledged += counted;
  }
  const std::string fault = check_named(*names, known);
  std::printf("%d acknowledged, %zu there%s%s\n", acknowledged, names->size(),
              fault.empty() ? "" : ": ", fault.c_str());
  return fault.empty() ? 0 : 1;
}

}  // namespace

int run(std::vector<std::string> words) {
  const bool writes = words.size() == 3 && words[0] == "write";
  int writer = 0;
  if (writes) {
    writer = std::stoi(words[2]);
  } else if (words.size() != 2 || words[0] != "check") {
    return usage("rel_probe write URL WRITER | rel_probe check URL <SAID");
  }
  const auto store = open_store(words[1], {.access = writes ? Access::write : Access::read,
                                           .busy_timeout = std::chrono::minutes(2)});
  if (!store) {
    give_up(store.error());
  }
  return writes ? write_on_and_on(**store, writer) : check(**store);
}

}  // namespace reprise::rel
