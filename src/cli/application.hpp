// The command line as a whole: parse, dispatch, print, exit code.
#pragma once

namespace hone::cli {

// Runs one command; the returned value is the exit code by contract (src/cli/help.cpp lists them).
int run(int argc, char** argv);

}  // namespace hone::cli
