// The only source that is compiled with what the build knows of itself.
#include "book/device.hpp"
#include "internal.hpp"

namespace book {

std::string built_for() {
  return BOOK_ARCHITECTURES;
}

namespace internal {

std::string toolkit() {
  return BOOK_TOOLKIT;
}
std::string host_compiler() {
  return BOOK_HOST_COMPILER;
}
std::string compile_flags() {
  return BOOK_FLAGS;
}
std::string embedded_folder() {
  return BOOK_EMBEDDED_FOLDER;
}
std::string embedded_build() {
  return BOOK_EMBEDDED_BUILD;
}

}  // namespace internal
}  // namespace book
