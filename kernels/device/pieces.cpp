#include "kernels/device/pieces.h"

#include <algorithm>

#include "sim/base/check.h"

namespace moesim {
namespace {

// Where a list of runs has been read up to.
class RunReader {
 public:
  explicit RunReader(const std::vector<ElementRun>& runs) : runs_(runs) { skip_empty(); }

  bool at_end() const { return run_ == runs_.size(); }
  int64_t left_in_run() const { return at_end() ? 0 : runs_[run_].count - done_; }
  Elements at() const { return runs_[run_].at.from(done_); }
  void advance(int64_t count) {
    done_ += count;
    skip_empty();
  }

 private:
  void skip_empty() {
    while (run_ < runs_.size() && done_ == runs_[run_].count) {
      ++run_;
      done_ = 0;
    }
  }

  const std::vector<ElementRun>& runs_;
  size_t run_ = 0;
  int64_t done_ = 0;
};

}  // namespace

std::vector<ElementRun> joined(const std::vector<ElementRun>& runs) {
  std::vector<ElementRun> result;
  for (const ElementRun& run : runs) {
    if (run.count == 0) {
      continue;
    }
    if (!result.empty() && result.back().end() == run.at.address &&
        result.back().at.type == run.at.type) {
      result.back().count += run.count;
    } else {
      result.push_back(run);
    }
  }
  return result;
}

void PieceList::add(const ElementRun& to, const std::vector<Elements>& sources) {
  for (int64_t begin = 0; begin < to.count; begin += CombinePieces::kMostElements) {
    const int64_t count = std::min<int64_t>(CombinePieces::kMostElements, to.count - begin);
    pieces_.push_back({to.at.from(begin),
                       static_cast<int>(count),
                       static_cast<int>(sources_.size()),
                       static_cast<int>(sources.size())});
    for (const Elements& source : sources) {
      sources_.push_back(source.from(begin));
    }
  }
}

void PieceList::add(const std::vector<ElementRun>& to,
                    const std::vector<std::vector<ElementRun>>& sources) {
  RunReader target(to);
  std::vector<RunReader> readers(sources.begin(), sources.end());
  while (!target.at_end()) {
    int64_t count = target.left_in_run();
    for (const RunReader& reader : readers) {
      count = std::min(count, reader.left_in_run());
    }
    CHECK(count > 0, "sources have fewer elements than what comes from them");
    std::vector<Elements> at;
    for (RunReader& reader : readers) {
      at.push_back(reader.at());
      reader.advance(count);
    }
    add({target.at(), count}, at);
    target.advance(count);
  }
}

DeviceStep PieceList::step(Combination combination, Rounding rounding, LoweringSpace& space) const {
  StepWork work;
  for (const Piece& piece : pieces_) {
    work.bytes += piece.count * size_of(piece.to.type);
    for (int source = 0; source < piece.num_sources; ++source) {
      const Elements& from = sources_[static_cast<size_t>(piece.first_source + source)];
      work.bytes += piece.count * size_of(from.type);
    }
  }
  const CombinePieces body{space.table(pieces_), space.table(sources_), combination, rounding};
  return {Kernel{body, static_cast<int64_t>(pieces_.size())}, work};
}

}  // namespace moesim
