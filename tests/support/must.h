#pragma once

// Results in tests.
//   Session found = must(get(store, id));            ends the test with the error
//   EXPECT_TRUE(works(store.create(session)));
//   EXPECT_TRUE(fails(store.create(session), Code::conflict));

#include <gtest/gtest.h>

#include <stdexcept>
#include <type_traits>

#include "reprise/error.h"

namespace reprise::test {

template <class T>
T must(Result<T> result) {
  if (!result) {
    // GoogleTest reports it as a failure with the message.
    throw std::runtime_error(std::string(to_string(result.error().code)) + ": " +
                             result.error().message);
  }
  if constexpr (!std::is_void_v<T>) {
    return *std::move(result);
  }
}

template <class T>
testing::AssertionResult works(const Result<T>& result) {
  if (result) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure()
         << to_string(result.error().code) << ": " << result.error().message;
}

// Whether it failed with this code and a valid message: one line, not empty.
template <class T>
testing::AssertionResult fails(const Result<T>& result, Code code) {
  if (result) {
    return testing::AssertionFailure() << "it worked, but should fail with " << to_string(code);
  }
  const Error& error = result.error();
  if (error.code != code) {
    return testing::AssertionFailure()
           << to_string(error.code) << " instead of " << to_string(code) << ": " << error.message;
  }
  if (error.message.empty() || error.message.find('\n') != std::string::npos) {
    return testing::AssertionFailure() << "not a one-line message: \"" << error.message << '"';
  }
  return testing::AssertionSuccess();
}

}  // namespace reprise::test
