#include "attend.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "stop.hpp"

namespace emu {
namespace {

constexpr int kHandedOn[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};

volatile pid_t child = 0;  // for the handler

void hand_on(int signal, siginfo_t* info, void*) {
  // What the terminal sends (Ctrl-C) reaches the program without help.
  if (info->si_code <= 0) kill(child, signal);
}

/// Returns errno; never where it succeeds.
int start(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  for (const std::string& a : command) arguments.push_back(const_cast<char*>(a.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments.front(), arguments.data());
  return errno;
}

[[noreturn]] void refuse(const std::string& program, int error) {
  throw Stop(kCannotStart, program + ": can't be started: " + std::strerror(error));
}

}  // namespace

void become(const std::vector<std::string>& command) {
  refuse(command.front(), start(command));
}

Ended attend(const std::vector<std::string>& command) {
  int refusal[2];  // closed without a word when the program starts
  if (pipe2(refusal, O_CLOEXEC) != 0) refuse(command.front(), errno);
  sigset_t handed_on, before;
  sigemptyset(&handed_on);
  for (const int signal : kHandedOn) sigaddset(&handed_on, signal);
  sigprocmask(SIG_BLOCK, &handed_on, &before);  // until `child` is known
  const pid_t self = getpid();
  const pid_t pid = fork();
  if (pid < 0) refuse(command.front(), errno);
  if (pid == 0) {
    sigprocmask(SIG_SETMASK, &before, nullptr);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(kCannotStart);  // it has died before that
    const int error = start(command);
    static_cast<void>(write(refusal[1], &error, sizeof error));
    _exit(kCannotStart);
  }
  child = pid;
  for (const int signal : kHandedOn) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler == SIG_IGN) continue;  // by what started this; the program too
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    action.sa_sigaction = hand_on;
    sigaction(signal, &action, nullptr);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(refusal[1]);
  int error = 0;
  const bool refused = read(refusal[0], &error, sizeof error) == sizeof error;
  close(refusal[0]);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (refused) refuse(command.front(), error);
  if (WIFSIGNALED(status)) return {.signal = WTERMSIG(status)};
  return {.status = WEXITSTATUS(status)};
}

}  // namespace emu
