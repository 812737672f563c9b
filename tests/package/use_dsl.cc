// The programs that come with Groma, as text.
#include <groma/dsl_files.h>

int main() { return groma::strategies().size() == 10 ? 0 : 1; }
