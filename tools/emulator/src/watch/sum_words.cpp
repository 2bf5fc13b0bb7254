// Numbers of elements in words.
#include <algorithm>
#include <cstdio>

#include "watch/sum_judge.hpp"

namespace emu::sum_parts {

std::string plural(std::uint64_t n, const std::string& thing) {
  return std::to_string(n) + " " + thing + (n == 1 ? "" : "s");
}

std::vector<Run> runs_of(const std::vector<std::uint64_t>& numbers) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i + 1;
    const std::uint64_t step = j < numbers.size() ? numbers[j] - numbers[i] : 1;
    while (j < numbers.size() && numbers[j] - numbers[j - 1] == step) ++j;
    if (step != 1 && j - i < 4) j = i + 1;
    runs.push_back({numbers[i], j - i, j - i == 1 ? 1 : step});
    i = j;
  }
  return runs;
}

std::string text_of(const Run& run) {
  if (run.count == 1) return std::to_string(run.first);
  if (run.step == 1) {
    return std::to_string(run.first) + (run.count == 2 ? ", " : " … ") + std::to_string(run.last());
  }
  return std::to_string(run.first) + ", " + std::to_string(run.first + run.step) + " … " +
         std::to_string(run.last());
}

std::string elements_in_words(const std::vector<std::uint64_t>& numbers) {
  const std::vector<Run> runs = runs_of(numbers);
  std::string text = numbers.size() == 1 ? "element " : "elements ";
  std::uint64_t told = 0;
  for (std::size_t i = 0; i < std::min<std::size_t>(runs.size(), 4); ++i) {
    text += (i ? ", " : "") + text_of(runs[i]);
    told += runs[i].count;
  }
  if (told < numbers.size()) text += " and " + plural(numbers.size() - told, "other");
  return text;
}

std::string times_in_words(double times) {
  if (times == 2) return "twice";
  char text[32];
  std::snprintf(text, sizeof text, "%g times", times);
  return text;
}

}  // namespace emu::sum_parts
