/// \file
/// How tools/emulate ends before the program has run.
#pragma once
#include <stdexcept>
#include <string>

namespace emu {

/// tools/emulate's own exit statuses; others are the program's.
enum Status {
  kBadArgument = 2,    ///< also: a result that couldn't be written
  kFound = 4,          ///< --check found something
  kCannotStart = 126,  ///< the system refused to start the program
  kNotAvailable = 77   ///< something that is needed isn't here
};

/// Ends with a status and lines for stderr.
class Stop : public std::runtime_error {
 public:
  Stop(int exit_status, const std::string& why) : std::runtime_error(why), status(exit_status) {}
  int status;
};

/// Prints each line of a message to stderr, after the command's name.
void complain(const std::string& message);

}  // namespace emu
