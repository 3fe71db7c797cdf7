// Shows that each rule of tidy_test finds what it looks for, and nothing beside it.
#include <gmock/gmock.h>

#include "tests/tidy/device_code.h"
#include "tests/tidy/functions.h"
#include "tests/tidy/includes.h"
#include "tests/tidy/text.h"

namespace moesim::tidy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string repeated(std::string_view text, std::size_t count) {
  std::string result;
  for (std::size_t i = 0; i < count; ++i) {
    result += text;
  }
  return result;
}

TEST(TidyRulesTest, LongLineCountsCharactersNotBytes) {
  EXPECT_THAT(long_lines(make_file("a.cpp", std::string(100, 'a'))), IsEmpty());
  EXPECT_THAT(long_lines(make_file("a.cpp", "\n" + std::string(101, 'a'))),
              ElementsAre("a.cpp:2: 101 characters long"));
  EXPECT_THAT(long_lines(make_file("a.cpp", repeated("\u03b1", 100))), IsEmpty());
}

TEST(TidyRulesTest, LongFile) {
  EXPECT_THAT(long_file(make_file("sim/io/a.h", repeated("\n", 400))), IsEmpty());
  EXPECT_THAT(long_file(make_file("sim/io/a.h", repeated("\n", 401))), SizeIs(1));
  EXPECT_THAT(long_file(make_file("tests/a.h", repeated("\n", 401))), IsEmpty());
}

TEST(TidyRulesTest, Whitespace) {
  EXPECT_THAT(bad_whitespace(make_file("a.cpp", "a\n\n  b\n")), IsEmpty());
  EXPECT_THAT(bad_whitespace(make_file("a.cpp", "\ta\nb \n")),
              ElementsAre("a.cpp:1: a tab", "a.cpp:2: trailing whitespace"));
}

TEST(TidyRulesTest, BannedStringsDependOnTheFolder) {
  EXPECT_THAT(banned_strings(make_file("a.md",
                                       "// TO"
                                       "DO: later")),
              SizeIs(1));
  EXPECT_THAT(banned_strings(make_file("sim/io/a.cpp",
                                       "std::if"
                                       "stream file;")),
              IsEmpty());
  EXPECT_THAT(banned_strings(make_file("sim/cli/a.cpp",
                                       "std::if"
                                       "stream file;")),
              SizeIs(1));
}

TEST(TidyRulesTest, PragmaOnce) {
  EXPECT_THAT(missing_pragma_once(make_file("a.h", "#pragma once\n")), IsEmpty());
  EXPECT_THAT(missing_pragma_once(make_file("a.h", "int a;\n")), SizeIs(1));
  EXPECT_THAT(missing_pragma_once(make_file("a.cpp", "int a;\n")), IsEmpty());
}

TEST(TidyRulesTest, CmakeNamesWholePaths) {
  const std::vector<SourceFile> files = {
      make_file("sim/io/CMakeLists.txt", "moesim_library(moesim_io SOURCES a.cpp deep/b.cpp)"),
      make_file("sim/io/a.cpp", ""),
      make_file("sim/io/deep/b.cpp", ""),
      make_file("sim/io/b.cpp", ""),
      make_file("tests/c.cpp", "")};
  EXPECT_THAT(files_missing_from_cmake(files),
              ElementsAre(HasSubstr("sim/io/b.cpp"), HasSubstr("tests/c.cpp")));
}

TEST(TidyRulesTest, IncludesGoDownTheLayersOnly) {
  const auto findings = [](std::string path, std::string_view include) {
    return wrong_direction(make_file(std::move(path), include));
  };
  EXPECT_THAT(findings("sim/io/a.h", "#include \"sim/base/time.h\""), IsEmpty());
  EXPECT_THAT(findings("sim/io/a.h", "#include \"sim/io/b.h\""), IsEmpty());
  EXPECT_THAT(findings("sim/base/a.h", "#include \"sim/io/b.h\""), SizeIs(1));
  EXPECT_THAT(findings("sim/schedule/a.h", "#include \"sim/collective/b.h\""), SizeIs(1));
  EXPECT_THAT(findings("kernels/a.h", "#include \"sim/cluster/b.h\""), SizeIs(1));
  EXPECT_THAT(findings("sim/io/a.h", "#include \"tests/b.h\""), SizeIs(1));
  EXPECT_THAT(findings("sim/io/a.h", "#include \"b.h\""), SizeIs(1));
  EXPECT_THAT(findings("tests/a.h", "#include \"sim/cli/b.h\""), IsEmpty());
}

TEST(TidyRulesTest, LibrariesHaveTheirFolders) {
  const auto findings = [](std::string path, std::string_view include) {
    return library_out_of_place(make_file(std::move(path), include));
  };
  EXPECT_THAT(findings("sim/engine/a.cpp", "#include <simgrid/s4u.hpp>"), IsEmpty());
  EXPECT_THAT(findings("sim/report/a.cpp", "#include <simgrid/s4u.hpp>"), SizeIs(1));
  EXPECT_THAT(findings("sim/cluster/a.cpp", "#include <boost/graph/dag.hpp>"), IsEmpty());
  EXPECT_THAT(findings("sim/cluster/a.h", "#include <boost/graph/dag.hpp>"), SizeIs(1));
  EXPECT_THAT(findings("sim/io/a.cpp", "#include \"sim/proto/a.pb.h\""), IsEmpty());
  EXPECT_THAT(findings("sim/model/a.cpp", "#include \"sim/proto/a.pb.h\""), SizeIs(1));
}

TEST(TidyRulesTest, SimgridCountsThroughHeaders) {
  std::vector<SourceFile> files = {make_file("sim/engine/a.h", "#include <simgrid/s4u.hpp>"),
                                   make_file("sim/engine/b.h", "#include \"sim/engine/a.h\""),
                                   make_file("sim/engine/a.cpp", "#include \"sim/engine/a.h\""),
                                   make_file("sim/engine/b.cpp", "#include \"sim/engine/b.h\"")};
  EXPECT_THAT(too_many_simgrid_units(files), IsEmpty());
  files.push_back(make_file("sim/engine/c.cpp", "#include \"sim/engine/b.h\""));
  EXPECT_THAT(too_many_simgrid_units(files), SizeIs(3));
}

TEST(TidyRulesTest, CodeOnlyDropsCommentsLiteralsAndDirectives) {
  const SourceFile file = make_file("a.cpp",
                                    "#define A \\\n  {\n"
                                    "int a = 1'000; // {\n"
                                    "char c = '{'; auto s = \"\\\"{\"; /* { \n { */\n"
                                    "auto r = R\"x({)\"{)x\";\n");
  const std::string code = code_only(file);
  EXPECT_EQ(code.find('{'), std::string::npos) << code;
  EXPECT_THAT(code, HasSubstr("1'000;"));
  EXPECT_EQ(std::count(code.begin(), code.end(), '\n'), 6);
}

TEST(TidyRulesTest, DeviceCode) {
  const auto findings = [](std::string_view text, std::string path = "kernels/core/a.h") {
    return no_device_code(make_file(std::move(path), text));
  };
  EXPECT_THAT(findings("#include <cmath>\n#include \"kernels/core/math.h\"\n"
                       "static_assert(true);  // no std::vector, throw or new\n"
                       "MOESIM_HD float f(float x) { return x < 0 ? -x : std::sqrt(x); }\n"),
              IsEmpty());
  EXPECT_THAT(findings("\n#include <vector>\n"),
              ElementsAre("kernels/core/a.h:2: device code may not include vector"));
  EXPECT_THAT(findings("#include \"kernels/row_list.h\"\n"), SizeIs(1));
  EXPECT_THAT(findings("\nstd::vector<int> a;\n"),
              ElementsAre("kernels/core/a.h:2: no device code: std::vector"));
  EXPECT_THAT(findings("void f() { throw 1; }"), SizeIs(1));
  EXPECT_THAT(findings("struct A {\n virtual void f();\n};"), SizeIs(1));
  EXPECT_THAT(findings("int* f() { static int a; return new int(a); }"), SizeIs(2));
  EXPECT_THAT(findings("std::vector<int> a;", "kernels/a.h"), IsEmpty());
  // Blocks are made of core functions, not the reverse.
  const std::string_view block = "#include \"kernels/device/blocks/a.h\"\n";
  EXPECT_THAT(findings(block, "kernels/device/blocks/b.h"), IsEmpty());
  EXPECT_THAT(findings(block), SizeIs(1));
  EXPECT_THAT(findings("int* a = new int;", "kernels/device/blocks/b.h"), SizeIs(1));
}

// `body` lines between the braces make a function of body + 2 lines.
Findings findings_for(std::string_view head, std::size_t body, std::string_view path = "a.cpp") {
  const std::string text = "namespace a {\n" + std::string(head) + " {\n" +
                           repeated("  if (b) { c(); }\n", body) + "}\n}\n";
  return long_functions(make_file(std::string(path), text));
}

TEST(TidyRulesTest, LongFunctions) {
  EXPECT_THAT(findings_for("void f(int a)", 68), IsEmpty());
  EXPECT_THAT(findings_for("void f(int a)", 69), ElementsAre("a.cpp:2: a function of 71 lines"));
  EXPECT_THAT(findings_for("template <int N = 1>\nvoid f()", 69), SizeIs(1));
  EXPECT_THAT(findings_for("bool operator==(A, B)", 69), SizeIs(1));
  EXPECT_THAT(findings_for("A::A(int a) : a_{a}, b_(1)", 69), SizeIs(1));
  EXPECT_THAT(findings_for("A::A(int a) : a_{a}", 69), SizeIs(1));
  EXPECT_THAT(findings_for("struct A", 69), IsEmpty());
  EXPECT_THAT(findings_for("constexpr auto kTable = make(", 69), IsEmpty());
  EXPECT_THAT(findings_for("void f()", 118, "a.cu"), IsEmpty());
}

TEST(TidyRulesTest, FunctionsOfAClass) {
  const std::string text =
      "class A {\n int a = 0;\n void f() const {\n" + repeated("b();\n", 69) + " }\n};\n";
  EXPECT_THAT(long_functions(make_file("a.h", text)), ElementsAre("a.h:3: a function of 71 lines"));
}

}  // namespace
}  // namespace moesim::tidy
