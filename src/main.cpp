// The program hone: everything is in cli.
#include "cli/application.hpp"

int main(int argc, char** argv) { return hone::cli::run(argc, argv); }
