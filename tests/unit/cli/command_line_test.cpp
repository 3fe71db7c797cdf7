// From words to plain options. What the commands then do is tested in tests/cli.
#include "sim/cli/command_line.h"

#include <string>
#include <variant>
#include <vector>

#include <gmock/gmock.h>

#include "sim/base/error.h"
#include "sim/cli/stopping_rule.h"
#include "sim/schedule/schedule.h"

namespace moesim {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;

Command parse(std::vector<const char*> words) {
  words.insert(words.begin(), "moesim");
  return parse_command_line(static_cast<int>(words.size()), words.data());
}

template <typename Options>
Options parse_as(const std::vector<const char*>& words) {
  return std::get<Options>(parse(words));
}

std::string refusal(const std::vector<const char*>& words) {
  try {
    parse(words);
  } catch (const Error& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CommandLineTest, SimulateWithEverything) {
  const auto options = parse_as<SimulateOptions>(
      {"simulate",   "--set",     "a=1",    "s.txtpb",  "--set",    "b=2,3",        "--cluster",
       "c",          "--profile", "p",      "--degree", "4,2",      "--policy",     "paper",
       "--schedule", "fsmoe",     "--json", "--spans",  "--ablate", "--unverified", "--resolution",
       "ports",      "--trace",   "t",      "--svg",    "v",        "--layers",     "1..2"});
  EXPECT_EQ(options.input.scenario, "s.txtpb");
  EXPECT_THAT(options.input.overrides, ElementsAre("a=1", "b=2,3"));
  EXPECT_EQ(options.input.cluster, "c");
  EXPECT_EQ(options.input.profile, "p");
  EXPECT_EQ(options.plan.degree->backward, 2);
  EXPECT_EQ(options.plan.policy, Policy::kPaper);
  EXPECT_EQ(options.schedule, "fsmoe");
  EXPECT_TRUE(options.ablate && options.unverified);
  EXPECT_TRUE(options.outputs.json && options.outputs.spans);
  EXPECT_EQ(options.resolution, Resolution::kPorts);
  EXPECT_EQ(options.outputs.trace, "t");
  EXPECT_EQ(options.outputs.svg, "v");
  EXPECT_EQ(options.outputs.layers.last, 2);
}

TEST(CommandLineTest, ExecuteHasTheOutputsOfSimulate) {
  const auto options = parse_as<ExecuteOptions>(
      {"execute", "s.txtpb",  "--schedule", "fsmoe", "--degree",   "2",   "--backend", "cpu",
       "--clock", "anchored", "--runs",     "3",     "--dilation", "2.5", "--json",    "--spans",
       "--trace", "t",        "--svg",      "v",     "--layers",   "1..2"});
  EXPECT_EQ(options.input.scenario, "s.txtpb");
  EXPECT_EQ(options.schedule, "fsmoe");
  EXPECT_EQ(options.plan.degree->forward, 2);
  EXPECT_EQ(options.backend.name, "cpu");
  EXPECT_EQ(options.backend.clock, HostClock::kAnchored);
  // Exactly three.
  EXPECT_EQ(stopping_rule(options.backend).least, 3);
  EXPECT_EQ(stopping_rule(options.backend).most, 3);
  EXPECT_EQ(options.backend.dilation, 2.5);
  EXPECT_FALSE(options.backend.modelled);
  EXPECT_TRUE(options.outputs.json && options.outputs.spans);
  EXPECT_EQ(options.outputs.trace, "t");
  EXPECT_EQ(options.outputs.svg, "v");
  EXPECT_EQ(options.outputs.layers.last, 2);
}

TEST(CommandLineTest, BackendsAreHonestUnlessAskedOtherwise) {
  const auto options = parse_as<CalibrateOptions>({"calibrate", "s", "--out", "o"});
  EXPECT_EQ(options.out, "o");
  EXPECT_EQ(options.backend.name, "cpu");
  EXPECT_EQ(options.backend.clock, HostClock::kFree);
  EXPECT_EQ(options.backend.dilation, 1);
  // From 10 on until the median is known to 1 %, 30 at most.
  const StoppingRule rule = stopping_rule(options.backend);
  EXPECT_EQ(rule.least, 10);
  EXPECT_EQ(rule.most, 30);
  EXPECT_EQ(rule.spread, 0.01);
  EXPECT_FALSE(options.backend.modelled);
}

TEST(CommandLineTest, CrosscheckHasABar) {
  const auto options = parse_as<CrosscheckOptions>({"crosscheck",
                                                    "s",
                                                    "--schedules",
                                                    "tutel,fsmoe",
                                                    "--baseline",
                                                    "tutel",
                                                    "--max-error",
                                                    "5%",
                                                    "--modelled",
                                                    "--svg",
                                                    "v",
                                                    "--json"});
  EXPECT_THAT(options.schedules, ElementsAre("tutel", "fsmoe"));
  EXPECT_EQ(options.baseline, "tutel");
  EXPECT_DOUBLE_EQ(options.max_error.value(), 0.05);
  EXPECT_TRUE(options.backend.modelled && options.json);
  EXPECT_EQ(options.svg, "v");
  EXPECT_FALSE(parse_as<CrosscheckOptions>({"crosscheck", "s"}).max_error.has_value());
}

TEST(CommandLineTest, HelpNamesEverySchedule) {
  for (const char* command :
       {"simulate", "compare", "verify", "program", "execute", "crosscheck"}) {
    const std::string help = std::get<TextRequest>(parse({command, "--help"})).text;
    for (const std::string& schedule : schedule_names()) {
      EXPECT_THAT(help, HasSubstr(schedule)) << command;
    }
  }
}

// A shell variable that is not set.
TEST(CommandLineTest, EmptyValuesAreRefused) {
  EXPECT_EQ(refusal({"sweep", "s", "--out", ""}),
            "--out: it is empty; give CSV or leave it out; see moesim sweep --help");
  EXPECT_NE(refusal({"simulate", "s", "--cluster", ""}), "accepted");
  EXPECT_NE(refusal({"compare", "s", "--baseline", ""}), "accepted");
}

TEST(CommandLineTest, JunitIsOfAChecksOutcome) {
  EXPECT_THAT(refusal({"check", "--update", "--junit", "f"}), HasSubstr("--junit"));
}

TEST(CommandLineTest, AutoDegreeIsNotTheSameAsNoDegree) {
  EXPECT_FALSE(parse_as<SimulateOptions>({"simulate", "s"}).plan.degree.has_value());
  EXPECT_TRUE(parse_as<SimulateOptions>({"simulate", "s", "--degree", "auto"}).plan.degree);
}

TEST(CommandLineTest, ListsOfSchedules) {
  const auto options =
      parse_as<CompareOptions>({"compare", "--schedules", "tutel,fsmoe", "s", "--baseline", "x"});
  EXPECT_THAT(options.schedules, ElementsAre("tutel", "fsmoe"));
  EXPECT_EQ(options.input.scenario, "s");
  EXPECT_EQ(options.baseline, "x");
}

TEST(CommandLineTest, OtherCommands) {
  const auto sweep = parse_as<SweepOptions>({"sweep", "f", "--workers", "3", "--out", "o.csv"});
  EXPECT_EQ(sweep.workers, 3);
  EXPECT_EQ(sweep.out, "o.csv");
  const auto verify = parse_as<VerifyOptions>({"verify", "--program", "p.json", "--json"});
  EXPECT_EQ(verify.program, "p.json");
  EXPECT_TRUE(verify.json);
  EXPECT_EQ(parse_as<ProgramOptions>({"program", "s", "--out", "o"}).out, "o");
  EXPECT_THAT(parse_as<CheckOptions>({"check", "a", "b", "--update"}).paths, ElementsAre("a", "b"));
  EXPECT_EQ(parse_as<ValidateOptions>({"validate", "speed"}).section, "speed");
  EXPECT_EQ(parse_as<ValidateOptions>({"validate"}).section, "");
}

TEST(CommandLineTest, MistakesSayWhereHelpIs) {
  EXPECT_THAT(refusal({}), EndsWith("see moesim --help"));
  EXPECT_EQ(refusal({"simulatte", "s"}),
            "there is no command \"simulatte\"; did you mean \"simulate\"?");
  EXPECT_THAT(refusal({"simulate", "s", "--jsno"}), EndsWith("see moesim simulate --help"));
  EXPECT_THAT(refusal({"simulate", "s", "t"}), EndsWith("see moesim simulate --help"));
  EXPECT_THAT(refusal({"sweep", "s", "--workers", "0"}), EndsWith("see moesim sweep --help"));
  EXPECT_THAT(refusal({"sweep", "s", "--workers", "two"}), HasSubstr("--workers"));
}

TEST(CommandLineTest, OptionsThatDoNotGoTogether) {
  EXPECT_THAT(refusal({"simulate"}), HasSubstr("name a scenario file or give --program"));
  EXPECT_THAT(refusal({"simulate", "s", "--program", "p"}), HasSubstr("leave one out"));
  EXPECT_THAT(refusal({"verify", "s", "--program", "p"}), HasSubstr("leave one out"));
  EXPECT_THAT(refusal({"simulate", "--program", "p", "--schedule", "x"}), HasSubstr("--schedule"));
  EXPECT_THAT(refusal({"simulate", "--program", "p", "--degree", "2"}), HasSubstr("--degree"));
  EXPECT_THAT(refusal({"simulate", "s", "--spans"}), HasSubstr("give --json as well"));
  EXPECT_THAT(refusal({"simulate", "s", "--layers", "0..1"}), HasSubstr("give --svg FILE"));
  EXPECT_THAT(refusal({"execute"}), HasSubstr("name a scenario file or give --program"));
  EXPECT_THAT(refusal({"execute", "--program", "p", "--policy", "paper"}), HasSubstr("--policy"));
  EXPECT_THAT(refusal({"execute", "s", "--spans"}), HasSubstr("give --json as well"));
  EXPECT_THAT(refusal({"calibrate"}), HasSubstr("no scenario is given"));
  EXPECT_THAT(refusal({"crosscheck"}), HasSubstr("no scenario is given"));
  EXPECT_THAT(refusal({"compare"}), HasSubstr("no scenario is given"));
  EXPECT_THAT(refusal({"program"}), HasSubstr("no scenario is given"));
  EXPECT_THAT(refusal({"sweep"}), HasSubstr("no sweep is given"));
}

TEST(CommandLineTest, CalibrateTakesNoMeasuredCosts) {
  EXPECT_THAT(refusal({"execute", "s", "--dilation", "nan"}), HasSubstr("takes a number"));
  EXPECT_THAT(refusal({"execute", "s", "--spread", "inf"}), HasSubstr("a share"));
  EXPECT_THAT(refusal({"calibrate", "--nccl-tests", "l", "--cluster", "c", "--runs", "3"}),
              HasSubstr("no effect"));
  EXPECT_THAT(refusal({"calibrate", "s", "--profile", "p"}), HasSubstr("leave it out"));
  EXPECT_EQ(refusal({"calibrate", "s", "--profile", "p", "--modelled"}), "accepted");
}

TEST(CommandLineTest, BackendOptionsThatDoNotGoTogether) {
  for (const char* command : {"execute", "calibrate", "crosscheck"}) {
    EXPECT_THAT(refusal({command, "s", "--clock", "raw", "--dilation", "2"}),
                HasSubstr("--dilation has no effect with --clock raw"));
    EXPECT_THAT(refusal({command, "s", "--clock", "raw", "--modelled"}),
                HasSubstr("--modelled has no effect with --clock raw"));
    EXPECT_THAT(refusal({command, "s", "--dilation", "2", "--modelled"}), HasSubstr("--modelled"));
    EXPECT_THAT(refusal({command, "s", "--backend", "gpu"}), HasSubstr("--backend"));
    EXPECT_EQ(refusal({command, "s", "--clock", "raw"}), "accepted");
    // Exactly five runs end when they end; between five and nine the spread decides.
    EXPECT_THAT(refusal({command, "s", "--runs", "5", "--spread", "2%"}),
                HasSubstr("give a larger --max-runs"));
    EXPECT_EQ(refusal({command, "s", "--runs", "5", "--max-runs", "9", "--spread", "2%"}),
              "accepted");
  }
}

TEST(CommandLineTest, ProbesThatAreWrittenRunNowhere) {
  EXPECT_EQ(refusal({"calibrate", "s", "--probes", "d"}), "accepted");
  for (const std::vector<const char*>& option : std::vector<std::vector<const char*>>{
           {"--backend", "cpu"}, {"--runs", "5"}, {"--modelled"}, {"--out", "p"}}) {
    std::vector<const char*> words = {"calibrate", "s", "--probes", "d"};
    words.insert(words.end(), option.begin(), option.end());
    EXPECT_THAT(refusal(words), HasSubstr(std::string(option[0]) + " has no effect with --probes"));
  }
}

TEST(CommandLineTest, ExecuteRunsOnThreadsOrOnTheProcessesOfMpirun) {
  EXPECT_FALSE(parse_as<ExecuteOptions>({"execute", "s"}).in_processes);
  EXPECT_FALSE(parse_as<ExecuteOptions>({"execute", "s", "--transport", "threads"}).in_processes);
  const auto options =
      parse_as<ExecuteOptions>({"execute", "s", "--transport", "mpi", "--results", "r"});
  EXPECT_TRUE(options.in_processes);
  EXPECT_EQ(options.results, "r");
  EXPECT_THAT(refusal({"execute", "s", "--transport", "tcp"}), HasSubstr("give threads or mpi"));
  EXPECT_THAT(refusal({"execute", "s", "--transport", "mpi", "--launcher", "l"}),
              HasSubstr("leave one out"));
}

TEST(CommandLineTest, ALauncherIsAskedForNothingThatItCannotDo) {
  for (const char* command : {"execute", "calibrate", "crosscheck"}) {
    EXPECT_THAT(refusal({command, "s", "--launcher", "l", "--modelled"}),
                HasSubstr("--modelled has no effect with --launcher"));
    EXPECT_THAT(refusal({command, "s", "--launcher", "l", "--clock", "anchored"}),
                HasSubstr("use --clock free or raw"));
    EXPECT_EQ(refusal({command, "s", "--launcher", "l", "--clock", "raw"}), "accepted");
  }
}

TEST(CommandLineTest, HelpAndVersionAreTexts) {
  EXPECT_THAT(parse_as<TextRequest>({"--version"}).text, testing::StartsWith("moesim "));
  EXPECT_THAT(parse_as<TextRequest>({"--help"}).text, HasSubstr("Usage: moesim COMMAND"));
  EXPECT_THAT(parse_as<TextRequest>({"sweep", "--help"}).text,
              HasSubstr("Usage: moesim sweep FILE [OPTIONS]"));
}

}  // namespace
}  // namespace moesim
