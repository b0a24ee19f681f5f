#include "base/fold.h"

#include <gtest/gtest.h>

namespace reprise {
namespace {

TEST(Fold, TheFormsOfAWordAreTheSame) {
  for (const std::string_view form :
       {"Cr\u00E8me!", "Cre\u0300me!", "CREME!", "creme!", "\uFF23r\u00E9me!"}) {
    EXPECT_EQ(folded(form), "creme!") << form;
  }
  EXPECT_EQ(folded("Stra\u00DFe"), "strasse");
  EXPECT_EQ(folded(""), "");
  EXPECT_EQ(folded("a\xFF"), "a\uFFFD");
}

TEST(Fold, SyllablesAndKanaKeepTheirParts) {
  EXPECT_EQ(folded("\u1100\u1161"), "\uAC00");
  EXPECT_EQ(folded("\u304B\u3099"), "\u304C");
  EXPECT_NE(folded("\u304B"), "\u304C");
}

}  // namespace
}  // namespace reprise
