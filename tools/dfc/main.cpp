// dfc: the command line. See tools/dfc/program.h for its verbs.
#include "tools/dfc/command_line.h"
#include "tools/dfc/program.h"

int main(int count, char** words) { return dfc::tool::runMain(count, words, dfc::tool::runProgram); }
