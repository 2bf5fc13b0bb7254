// The sum of an array that lies on several GPUs, in one process or in one process per GPU.
#include <algorithm>
#include <iostream>
#include <utility>
#include <vector>

#include "book/chapter.hpp"
#include "ways.cuh"

namespace {

using namespace chapter14;

void add(book::Chapter& chapter, std::vector<book::Variant> variants) {
  for (book::Variant& v : variants) chapter.add(std::move(v));
}

/// And the number of the processes, whatever it is: each has a GPU.
std::vector<unsigned> or_ranks(std::vector<unsigned> numbers) {
  if (ranks() && std::find(numbers.begin(), numbers.end(), ranks()->size()) == numbers.end())
    numbers.push_back(ranks()->size());
  return numbers;
}

void add_all(book::Chapter& chapter) {
  for (const unsigned gpus : or_ranks(kAnyNumber)) add(chapter, ways<Ints>(gpus));
  for (const unsigned gpus : or_ranks(kSomeNumbers)) {
    chapter.add(events_alone(gpus));
    add(chapter, last_steps(gpus));
  }
  using Uniform = chapter11::Floats<chapter11::Data::kUniform>;
  using Wide = chapter11::Floats<chapter11::Data::kWide>;
  for (const unsigned gpus : or_ranks(kSomeNumbers)) add(chapter, exact_ways<Uniform>("", gpus));
  for (const unsigned gpus : or_ranks({1, 2})) add(chapter, exact_ways<Wide>("_wide", gpus));
}

}  // namespace

int main(int argc, char** argv) {
  book::Chapter chapter{"chapter14_many_gpus",
                        "The sum of an array that lies on several GPUs",
                        "--sweep gpus, and --sweep n: what a second GPU is worth, and from which n",
                        {.devices = kMostGpus}};
  try {
    if (const auto place = place_among_ranks()) ranks() = std::make_shared<Ranks>(*place);
    chapter.join(ranks());
    add_all(chapter);
  } catch (const book::Error& error) {
    std::cerr << "chapter14_many_gpus: " << error.what() << "\n";
    return static_cast<int>(error.code());
  }
  const int status = chapter.run(argc, argv);
  Gpus::all_communicators().clear();
  return status;
}
