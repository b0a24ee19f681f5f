#include <gtest/gtest.h>

#include "cli/app/terminal.h"

namespace reprise::cli::app {
namespace {

std::string words(KeyCollector& collector) {
  std::string out;
  for (const Event& event : collector.take()) {
    if (const auto* const pressed = std::get_if<KeyPressed>(&event)) {
      out += "[" + pressed->name + "]";
    } else if (const auto* const typed = std::get_if<Typed>(&event)) {
      out += typed->text;
    } else if (const auto* const pasted = std::get_if<Pasted>(&event)) {
      out += "{" + pasted->text + "}";
    }
  }
  return out;
}

void characters(KeyCollector& collector, std::wstring_view text) {
  for (const wchar_t character : text) {
    collector.character(character, false);
  }
}

TEST(KeyCollector, NamesControlKeysAndJoinsText) {
  KeyCollector collector;
  characters(collector, L"aé\r\x17\x7F");
  EXPECT_EQ(words(collector), "aé[Enter][Ctrl-W][Backspace]");
}

TEST(KeyCollector, IgnoresControlKeysWithoutAName) {
  KeyCollector collector;
  characters(collector,
             L"a\x1C\x1D"
             L"b\x1F");
  collector.character(L'\0', false);
  EXPECT_EQ(words(collector), "ab");
}

TEST(KeyCollector, CollectsAPasteFromSeveralReads) {
  KeyCollector collector;
  collector.key(kPasteBegins);
  characters(collector, L"one\rtwo\x03");
  EXPECT_EQ(words(collector), "");
  collector.key("Up");
  characters(collector, L"!");
  collector.key(kPasteEnds);
  EXPECT_EQ(words(collector), "{one\ntwo\x03!}");
}

TEST(AltName, UsesTheUpperCaseKey) {
  for (wchar_t letter = L'a'; letter <= L'z'; ++letter) {
    EXPECT_EQ(alt_name(letter), std::string("Alt-") + static_cast<char>(letter - L'a' + 'A'));
  }
  EXPECT_EQ(alt_name(L'Q'), "Alt-Q");
  EXPECT_EQ(alt_name(L'~'), "Alt-~");
  for (const wchar_t other : {L' ', L'\x7F', L'é', L'\u4E2D'}) {
    EXPECT_TRUE(alt_name(other).empty() || alt_name(other) == "Alt-Backspace") << int(other);
  }
}

TEST(KeyCollector, DistinguishesAltFromEscAndAKey) {
  KeyCollector collector;
  collector.character(L'1', true);
  collector.character(L'\r', true);
  collector.character(L'/', true);
  EXPECT_EQ(words(collector), "[Alt-1][Alt-Enter][Esc]/");
  // Keys in terminfo, which may name Backspace differently.
  collector.key("Backspace", true);
  collector.key("Up", true);
  collector.key("PgUp", true);
  collector.key(kPasteBegins, true);
  collector.key(kPasteEnds);
  EXPECT_EQ(words(collector), "[Alt-Backspace][Alt-Up][Esc][PgUp][Esc]{}");
}

// Esc would stop an answer, and the rest would be typed into the message.
TEST(KeyCollector, IgnoresUnknownControlSequences) {
  KeyCollector collector;
  const auto sequence = [&collector](std::wstring_view rest) {
    collector.character(L'[', true);
    characters(collector, rest);
  };
  sequence(L"1;8A");  // Ctrl-Alt-Shift-Up
  characters(collector, L"a[1;8A");
  sequence(L"<64;1;1M");  // the wheel, in another encoding
  sequence(L"I");         // the window has got the focus
  characters(collector, L"b");
  EXPECT_EQ(words(collector), "a[1;8Ab");
  sequence(L"1;");
  collector.key("Up");
  characters(collector, L"c");
  sequence(L"1;\r");
  EXPECT_EQ(words(collector), "[Up]c[Enter]");
  sequence(L"1;");
  EXPECT_EQ(words(collector), "");
  characters(collector, L"d");
  EXPECT_EQ(words(collector), "d");
}

}  // namespace
}  // namespace reprise::cli::app
