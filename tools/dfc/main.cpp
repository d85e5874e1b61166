// dfc: the command line. Chooses the verb, catches what only a tool may catch, and gives the exit status:
// 0 fine, 1 the user's error, 2 the machine's failure, 3 a bug of ours, 130 interrupted.
#include "ir/base/atomic_file.h"
#include "runtime/errors.h"
#include "tools/dfc/command_line.h"

#include <csignal>
#include <new>

int main(int argc, char** argv) {
  using namespace dfc;
  using namespace dfc::tool;
  std::signal(SIGXFSZ,
              SIG_IGN); // a file beyond the user's limit is an error of its writing, as a full disk is
  const std::vector<std::string> words(argv + 1, argv + argc);
  Console console(asksForJson(words), stdout, stderr);
  Exit exit = Exit::Fine;
  try {
    exit = runProgram(words, console);
  } catch (const MachineError& failure) {
    exit = console.fail(Exit::MachineFailure, {errorWithoutPlace(failure.what())});
  } catch (const NoMemoryForFile& failure) {
    exit =
        console.fail(Exit::MachineFailure, {{Severity::Error,
                                             {failure.file()},
                                             "this host has too little memory for the contents of this file",
                                             "close other programs, or use smaller batches"}});
  } catch (const std::bad_alloc&) {
    exit = console.fail(Exit::MachineFailure,
                        {errorWithoutPlace("this host has too little memory for that",
                                           "close other programs, or use smaller batches")});
  } catch (const std::exception& bug) {
    exit = console.fail(Exit::Bug, {errorWithoutPlace(std::string("a bug in dfc: ") + bug.what(),
                                                      "please report it with the files that show it")});
  }
  return static_cast<int>(exit);
}
