// Text in JSON, whatever its bytes are.
#include "watch/json.hpp"

#include <gtest/gtest.h>

#include <string>

namespace {

std::string in_quotes(const std::string& text) {
  return emu::quoted(text);
}

TEST(Json, EscapesWhatJsonDoes) {
  EXPECT_EQ(in_quotes(""), "\"\"");
  EXPECT_EQ(in_quotes("a\"b\\c/"), R"("a\"b\\c/")");
  EXPECT_EQ(in_quotes("\b\f\n\r\t"), R"("\b\f\n\r\t")");
  EXPECT_EQ(in_quotes(std::string("\0\x01\x1f\x7f", 4)), "\"\\u0000\\u0001\\u001f\x7f\"");
}

TEST(Json, KeepsUtf8) {
  const std::string text = "µ – \u00ff \ud7ff \ue000 \uffff \U00010000 \U0010ffff";
  EXPECT_EQ(in_quotes(text), '"' + text + '"');
}

TEST(Json, ReplacesWhatIsNoUtf8) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(in_quotes("a\x80z"), "\"a" + mark + "z\"");
  EXPECT_EQ(in_quotes("\xff"), '"' + mark + '"');
  EXPECT_EQ(in_quotes("\xc3"), '"' + mark + '"');             // cut short
  EXPECT_EQ(in_quotes("\xc0\xaf"), '"' + mark + mark + '"');  // could be shorter
  EXPECT_EQ(in_quotes("\xe0\x9f\xbf"), '"' + mark + mark + mark + '"');
  EXPECT_EQ(in_quotes("\xed\xa0\x80"), '"' + mark + mark + mark + '"');  // half of a pair
  EXPECT_EQ(in_quotes("\xf0\x8f\xbf\xbf"), '"' + mark + mark + mark + mark + '"');
  EXPECT_EQ(in_quotes("\xf4\x90\x80\x80"), '"' + mark + mark + mark + mark + '"');  // past the last
  EXPECT_EQ(in_quotes("\xe2\x80z"), '"' + mark + mark + "z\"");
}

}  // namespace
