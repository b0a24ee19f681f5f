#pragma once

// The whole program, called as a function with its own home folder. The tests here iterate over
// tables of its commands: new commands are covered automatically, or make a test fail that names
// them.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/testing/temporary_folder.h"

namespace reprise::test {

// The kinds of stores that last, as parameters of tests.
std::vector<std::string> lasting_kinds();
// Those with running answers.
std::vector<std::string> kinds_with_running_answers();

struct Done {
  int code = 0;
  std::string out;
  std::string err;
};

class ProgramTest : public testing::Test {
 protected:
  // Runs in the folder project(), with the provider echo.
  ProgramTest();

  const std::filesystem::path& home() const { return home_; }
  std::filesystem::path project() const { return home_ / "project"; }
  void set(std::string_view variable, std::string value) {
    environment_.insert_or_assign(std::string(variable), std::move(value));
  }

  enum class To { file, terminal };
  Done run(const std::vector<std::string>& words, To output = To::file);
  // Standard input is a pipe with the bytes in pieces of `piece` bytes.
  Done run_piped(const std::vector<std::string>& words, std::string_view input, std::size_t piece);

  // The URL of a store of this kind and name, which only this test has.
  std::string store_url(std::string_view kind, std::string_view name) const;

  // Names of the commands, the hidden ones, too.
  static std::vector<std::string> commands();

 private:
  Done run_with_input(const std::vector<std::string>& words, To output, int input);

  TemporaryFolder folder_;
  std::filesystem::path home_;
  std::map<std::string, std::string, std::less<>> environment_;
};

}  // namespace reprise::test
