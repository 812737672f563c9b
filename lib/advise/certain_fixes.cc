// mend(): corrects a mapping by applying the fixes of its diagnostics that are certain (Fix::sure).
#include "groma/advise.h"
#include "groma/program.h"

namespace groma {

// Compiles the mapping, applies the certain fixes of its diagnostics, and repeats this until no
// certain fix is left. Sets `*made` to the number of applied fixes.
Source apply_certain_fixes(const Source& source, std::size_t* made) {
  // Limit on how often the mapping is compiled and fixed. A fix may uncover another mistake, so
  // several repetitions may be needed, but far fewer than this.
  constexpr int kMaxRounds = 20;
  Source text = source;
  *made = 0;
  for (int round = 0; round < kMaxRounds; ++round) {
    Diagnostics diags(text);
    compile(text, diags);
    std::vector<Fix> sure;
    for (const Diagnostic& diagnostic : diags.all()) {
      for (const Fix& fix : diagnostic.fixes) {
        if (fix.sure) sure.push_back(fix);
      }
    }
    std::size_t done = 0;
    std::string next = apply_fixes(text, sure, &done);
    if (done == 0) break;
    *made += done;
    text = Source(source.name(), std::move(next));
  }
  return text;
}

}  // namespace groma
