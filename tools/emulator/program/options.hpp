/// \file
/// The command line of tools/emulate.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace emu {

/// What was asked for on the command line.
struct Request {
  std::string help;                             ///< the text to print; nothing else is done then
  bool list_unsupported = false;                ///< read the program's file, run nothing
  bool print_ptx = false;                       ///< the same
  std::map<std::string, std::string> settings;  ///< for the library, by the names of its variables
  std::vector<std::string> command;             ///< the program and its arguments
};

/// Reads all of the command line and checks it; touches no file. Throws Stop.
Request parse_command_line(int argc, char** argv);

/// The option that sets a variable: "--csv" for "EMU_CSV".
std::string option_of(const std::string& variable);

}  // namespace emu
