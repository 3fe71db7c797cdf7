// Result files of the GPU check that are damaged in every key: `moesim validate gpu` refuses them
// (exit code 2) or says that something failed (3); where it takes one (0), it says of it what it
// says of the whole file.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sim/base/error.h"
#include "sim/base/random.h"
#include "sim/io/files.h"
#include "tests/unit/cli/recorded_check.h"

namespace moesim {
namespace {

using nlohmann::json;

constexpr std::uint64_t kSeed = 20261201;
constexpr int kInstancesOfKey = 2;
constexpr int kNumCuts = 150;

// What the command would do.
struct Verdict {
  int exit_code = 0;
  std::string text;  // without the first line, which has the file's hash
};

class GpuCheckMutationTest : public testing::Test {
 protected:
  GpuCheckMutationTest()
      : path_(testing::TempDir() + "moesim_gpu_mutant.json"),
        study_(small_gpu_study()),
        whole_(to_json(recorded_check(study_, kSeed))) {
    study_.file = path_;
    expected_ = judge(whole_);
  }

  Verdict judge(const std::string& text) const {
    write_file_atomically(path_, text);
    try {
      const validation::Finding finding = validation::study_gpu(study_);
      return {finding.num_misses == 0 ? 0 : 3, finding.text.substr(finding.text.find('\n'))};
    } catch (const Error& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with(path_ + ":")) << error.what();
      return {2, error.what()};
    }
  }

  void expect_refused_or_same(const std::string& text, const std::string& what) const {
    SCOPED_TRACE(what);
    const Verdict verdict = judge(text);
    if (verdict.exit_code == 0) {
      EXPECT_EQ(verdict.text, expected_.text);
    }
  }

  std::size_t below(std::size_t end) {
    return static_cast<std::size_t>(random_.uniform_int(0, static_cast<std::int64_t>(end) - 1));
  }

  std::string path_;
  validation::GpuStudy study_;
  std::string whole_;
  Verdict expected_;
  Random random_{kSeed};
};

// Where the keys of the file stand, by their path without indices.
using Places = std::map<std::string, std::vector<json::json_pointer>>;

void find_places(const json& value,
                 const json::json_pointer& at,
                 const std::string& path,
                 Places& places) {
  if (value.is_object()) {
    for (const auto& [key, child] : value.items()) {
      places[path + "." + key].push_back(at / key);
      find_places(child, at / key, path + "." + key, places);
    }
  } else if (value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      places[path + "[]"].push_back(at / i);
      find_places(value[i], at / i, path + "[]", places);
    }
  }
}

// The file with another value in a place.
std::string with(json root, const json::json_pointer& at, const json& value) {
  root[at] = value;
  return root.dump();
}

std::string without_key(json root, const json::json_pointer& at) {
  root[at.parent_pointer()].erase(at.back());
  return root.dump();
}

// JSON of the library has a key once: it is written under another name first.
std::string with_key_twice(json root, const json::json_pointer& at) {
  const std::string name = "again " + at.back();
  root[at.parent_pointer()][name] = root[at];
  std::string text = root.dump();
  return text.replace(text.find("\"" + name), name.size() + 1, "\"" + at.back());
}

std::string with_item_twice(json root, const json::json_pointer& at) {
  root[at.parent_pointer()].push_back(root[at]);
  return root.dump();
}

// A number where a text stands counts as that text (sim/io/internal/scalars.h), so that none is
// tried.
std::vector<json> wrong_values(const json& value) {
  std::vector<json> wrong = {nullptr, json::array(), json::object(), true, "text", 5};
  std::erase_if(wrong, [&](const json& other) {
    return other.type() == value.type() ||
           (other.is_number() && (value.is_number() || value.is_string()));
  });
  if (value.is_number()) {
    wrong.insert(wrong.end(), {-1, -4'000'000'000'000, 9'000'000'000'000'000'000, 1e300});
  }
  return wrong;
}

TEST_F(GpuCheckMutationTest, TheWholeFileIsTaken) {
  EXPECT_EQ(expected_.exit_code, 0) << expected_.text;
  EXPECT_NE(expected_.text.find("| fsmoe | "), std::string::npos);
}

TEST_F(GpuCheckMutationTest, DamagedKeysAreRefused) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const json root = json::parse(whole_);
  Places places;
  find_places(root, json::json_pointer(), "", places);
  for (const auto& [path, all] : places) {
    for (int i = 0; i < kInstancesOfKey; ++i) {
      const json::json_pointer& at = all[below(all.size())];
      const std::string place = at.to_string();
      if (root[at.parent_pointer()].is_object()) {
        expect_refused_or_same(without_key(root, at), place + " is missing");
        EXPECT_EQ(judge(with_key_twice(root, at)).exit_code, 2) << place << " stands twice";
      } else if (root[at].is_object()) {
        EXPECT_EQ(judge(with_item_twice(root, at)).exit_code, 2) << place << " stands twice";
      }
      for (const json& value : wrong_values(root[at])) {
        expect_refused_or_same(with(root, at, value), place + " is " + value.dump());
      }
    }
  }
}

TEST_F(GpuCheckMutationTest, FilesThatAreCutOffAreRefused) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  for (int i = 0; i < kNumCuts; ++i) {
    const std::size_t end = below(whole_.size() - 1);  // the last is a line end
    EXPECT_EQ(judge(whole_.substr(0, end)).exit_code, 2) << "cut off at byte " << end;
  }
}

}  // namespace
}  // namespace moesim
