// A program with the Legion of other_legion.cc.
extern "C" int legion_runtime_start(int argc, char** argv, bool background);

int main(int argc, char** argv) { return legion_runtime_start(argc, argv, false); }
