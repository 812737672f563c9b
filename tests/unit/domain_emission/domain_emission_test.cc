// The emitted code of domains: compiled by the compiler of the tests, and run by its own test
// programs. They compare the map with an enumeration, with points of the library and with itself.
#include "groma/domain_emission.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "groma/system.h"

namespace groma::domains {
namespace {

using ::testing::HasSubstr;

Domain make(const std::string& name, const ParameterValues& values = {}) {
  Diagnostics diags(known_domains()->source());
  auto domain = known_domains()->find(name)->make(values, diags);
  EXPECT_TRUE(domain) << name;
  return *domain;
}

Domain read(const std::string& text) {
  Diagnostics diags(Source("test.domain", text));
  const auto library = DomainLibrary::read(diags);
  auto domain = library->declarations().back().make({}, diags);
  EXPECT_TRUE(domain) << text;
  return *domain;
}

EmittedDomain emit(const Domain& domain, Language language = Language::kCpp) {
  EmissionOptions options;
  options.language = language;
  auto emitted = emit_domain(domain, options);
  EXPECT_TRUE(emitted.ok()) << emitted.error().message;
  return emitted.ok() ? *emitted : EmittedDomain();
}

CommandOutcome shell(const std::string& script, const std::string& folder) {
  Command command;
  command.words = {"sh", "-c", script};
  command.folder = folder;
  command.deadline_ms = 250'000;
  auto outcome = run_command(command);
  EXPECT_TRUE(outcome.ok());
  return *outcome;
}

// Warnings that users' programs may have on.
constexpr const char* kStrict = "-Wshadow -Wconversion -Wold-style-cast";

// A program with the tests of several domains.
class Tests {
 public:
  explicit Tests(Language language) : language_(language), folder_(ScratchFolder::make()) {
    EXPECT_TRUE(folder_.ok());
  }
  void add(const Domain& domain) {
    const EmittedDomain emitted = emit(domain, language_);
    put(emitted.header_name, emitted.header);
    put(emitted.test_name, emitted.test);
    includes_ += fmt::format("#include \"{}\"\n", emitted.test_name);
    calls_ += fmt::format(
        "  bad += {}_test({}) != 0;\n", domain.name(),
        language_ == Language::kOpencl ? fmt::format("\"{}\", words[1]", emitted.header_name) : "");
  }
  void put(const std::string& file, const std::string& text) {
    EXPECT_FALSE(write_file(folder_->path() + "/" + file, text));
  }
  CommandOutcome run(const std::string& flags, const std::string& arguments = "") {
    put("all.cc", "#define GROMA_NO_MAIN\n" + includes_ +
                      "int main(int, char** words) {\n  (void)words;\n  int bad = 0;\n" + calls_ +
                      "  return bad;\n}\n");
    return shell(fmt::format("{} -std=c++17 -Wall -Wextra -Werror -O1 all.cc {} -o all && ./all {}",
                             GROMA_CXX, flags, arguments),
                 folder_->path());
  }
  const std::string& path() const { return folder_->path(); }

 private:
  Language language_;
  Result<ScratchFolder> folder_;
  std::string includes_, calls_;
};

TEST(DomainEmission, EveryKnownDomainAgreesWithItsEnumeration) {
  Tests tests(Language::kCpp);
  for (const Declaration& declaration : known_domains()->declarations()) {
    tests.add(make(declaration.name()));
  }
  const CommandOutcome outcome = tests.run(kStrict);
  EXPECT_TRUE(outcome.ended_well()) << outcome.out.text << outcome.err.text;
}

TEST(DomainEmission, LargeDomainsAgreeAtTheBordersOfLoops) {
  Tests tests(Language::kCpp);
  for (const auto& [name, values] : std::vector<std::pair<std::string, ParameterValues>>{
           {"triangle", {{"n", 4'294'967'295}}},
           {"upper_triangle", {{"n", 3'000'000'000}}},
           {"band", {{"n", 9'000'000'000}, {"w", 1'000'000'000}}},
           {"diamond", {{"r", 2'000'000'000}}},
           {"tetrahedron", {{"n", 3'810'777}}},
           {"pyramid", {{"n", 2'097'151}}},
           {"simplex4", {{"n", 100'000}}},
           {"gasket", {{"r", 39}}},
           {"gasket_right", {{"r", 38}}},
           {"vicsek_cross", {{"r", 27}}},
           {"menger", {{"r", 14}}},
           {"mosely", {{"r", 15}}},
           {"disk", {{"r", 500}}},
           {"folded_triangle", {{"n", 201}}},
           {"frame", {{"n", 100}, {"w", 10}}}}) {
    tests.add(make(name, values));
  }
  const CommandOutcome outcome = tests.run(kStrict);
  EXPECT_TRUE(outcome.ended_well()) << outcome.out.text << outcome.err.text;
}

TEST(DomainEmission, UnusualDomainsAgree) {
  Tests tests(Language::kCpp);
  for (const char* text :
       {"domain none = (x, y) in loops y < 0, x <= y;",
        "domain one = (x, y, z) in digits base 2 levels 0 where x + y + z <= 1;",
        "domain line = x in loops -5 <= x < 12;",
        "domain stretched = (3 * i - 7, 2 * j - i) in loops i < 40, i <= j < 50;",
        "domain raised = (i, j, i + j) in loops i < 30, j <= i;",
        "domain gaps = (x, y) in loops y < 100, 2 * y - 20 <= x < 3 * y + 5;",
        "domain cubes = (w, x, y, z) in loops z < 12, y <= z, x <= y + z, w <= x;",
        "domain or_parts = (x, y) in loops y < 20, x <= y or (x, y) in loops y < 20, x < 9;",
        "domain backwards = (x, y) in loops y < 9, x < 9 by k => (8 - k / 9, k % 9);",
        "domain ninths = (x, y) in digits base 10 levels 7 where x + y != 9;"}) {
    tests.add(read(text));
  }
  const CommandOutcome outcome = tests.run(kStrict);
  EXPECT_TRUE(outcome.ended_well()) << outcome.out.text << outcome.err.text;
}

// The test programs would be worth nothing if they passed for a wrong map.
TEST(DomainEmission, TheTestsFindWrongMaps) {
  const EmittedDomain triangle = emit(make("triangle", {{"n", 5000}}));
  const auto fails = [&](const std::string& what, const std::string& by) {
    const auto folder = ScratchFolder::make();
    std::string header = triangle.header;
    const std::size_t at = header.find(what);
    EXPECT_NE(at, header.npos) << what;
    header.replace(at, what.size(), by);
    EXPECT_FALSE(write_file(folder->path() + "/triangle.h", header));
    EXPECT_FALSE(write_file(folder->path() + "/triangle_test.cc", triangle.test));
    return shell(fmt::format("{} -std=c++17 triangle_test.cc -o test && ./test", GROMA_CXX),
                 folder->path());
  };
  // The steps after the guess are left out. The search behind them finds the root still.
  const CommandOutcome root = fails("int step = 0; step < 3", "int step = 3; step < 3");
  EXPECT_EQ(root.code, 0) << root.err.text;
  EXPECT_THAT(fails("*to_i1 = rest", "*to_i1 = rest / 2 * 2").err.text, HasSubstr("wrong"));
  EXPECT_THAT(fails("if (i1 > i0) return -1;", "").err.text, HasSubstr("wrong"));
  EXPECT_THAT(fails("    i1 = 0;", "    i1 = i0 > 4000 ? 1 : 0;").err.text, HasSubstr("wrong"));
}

TEST(DomainEmission, OpenclAgreesWithAndWithoutDouble) {
  Tests tests(Language::kOpencl);
  tests.put("probe.cc", "#include <CL/cl.h>\nint main() { return clGetPlatformIDs == nullptr; }\n");
  const CommandOutcome probe =
      shell(fmt::format("{} -DCL_TARGET_OPENCL_VERSION=120 probe.cc -lOpenCL -o probe", GROMA_CXX),
            tests.path());
  if (!probe.ended_well()) GTEST_SKIP() << "there is no OpenCL: " << probe.err.text;
  tests.put(
      "probe.cc",
      "#include <CL/cl.h>\nint main() {\n  cl_uint count = 0;\n"
      "  return clGetPlatformIDs(0, nullptr, &count) == CL_SUCCESS && count > 0 ? 0 : 1;\n}\n");
  const CommandOutcome platform =
      shell(fmt::format("{} -DCL_TARGET_OPENCL_VERSION=120 probe.cc -lOpenCL -o probe && ./probe",
                        GROMA_CXX),
            tests.path());
  if (!platform.ended_well()) GTEST_SKIP() << "OpenCL has no platform";
  tests.add(make("band", {{"n", 40}, {"w", 5}}));
  tests.add(make("tetrahedron", {{"n", 1'000'000}}));
  tests.add(make("upper_triangle", {{"n", 1'000'000'000}}));
  tests.add(make("menger", {{"r", 9}}));
  tests.add(make("disk", {{"r", 50}}));
  const std::string cache = "export POCL_CACHE_DIR=.; ";
  for (const char* options : {"''", "-DGROMA_NO_FP64"}) {
    const CommandOutcome outcome = tests.run("-lOpenCL", options);
    EXPECT_TRUE(outcome.ended_well()) << options << outcome.out.text << outcome.err.text;
  }
}

TEST(DomainEmission, SmallNumbersHaveThirtyTwoBits) {
  EXPECT_THAT(emit(make("triangle", {{"n", 1000}})).header, HasSubstr("std::int32_t rest"));
  EXPECT_THAT(emit(make("triangle", {{"n", 100'000}})).header, HasSubstr("std::int64_t rest"));
  const std::string large = emit(make("triangle", {{"n", 4'000'000'000}})).header;
  EXPECT_THAT(large, HasSubstr("typedef __int128 triangle_int128;"));
  EXPECT_THAT(large, HasSubstr("triangle_int128 rest"));
}

TEST(DomainEmission, SaysWhatHasNoCode) {
  EmissionOptions options;
  options.language = Language::kOpencl;
  options.title = "triangle:n=4000000000";
  const auto wide = emit_domain(make("triangle", {{"n", 4'000'000'000}}), options);
  ASSERT_FALSE(wide.ok());
  EXPECT_EQ(wide.error().code, Error::Code::kTooLarge);
  EXPECT_EQ(wide.error().message,
            "triangle:n=4000000000 needs integers of 128 bits, which OpenCL C does not have");
  const auto list = emit_domain(
      read("domain spots = (x, y) in loops y < 2000, x < 2000 where (x + y) % 2 == 0;"), options);
  ASSERT_FALSE(list.ok());
  EXPECT_EQ(list.error().message,
            "spots is known point by point only, and its table of rows is larger than 1 MiB");
}

TEST(DomainEmission, CommentsStayComments) {
  EmissionOptions options;
  options.declaration = "domain triangle # \\\n= 1";
  const auto emitted = emit_domain(make("triangle"), options);
  EXPECT_THAT(emitted->header, HasSubstr("//   domain triangle # \\.\n//   = 1\n//\n"));
}

}  // namespace
}  // namespace groma::domains
