// dfc-bench: benchmarks, a program of its own. See tools/bench/bench_program.h.
#include "tools/bench/bench_program.h"
#include "tools/dfc/command_line.h"

int main(int count, char** words) { return dfc::tool::runMain(count, words, dfc::tool::runBench); }
