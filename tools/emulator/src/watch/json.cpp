#include "watch/json.hpp"

#include <nlohmann/json.hpp>

namespace emu {

std::string quoted(std::string_view text) {
  using nlohmann::json;
  return json(text).dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace emu
