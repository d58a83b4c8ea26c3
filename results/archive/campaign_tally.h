// A campaign's results so far: verdicts, and the best confirmed speed-up against attempts, time and money.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/archive/recorder.h"

namespace results::archive {

class Database;

// Attempts at a problem on a device, the seconds since the first of them, and the models' cost so far.
struct CurvePoint {
  int64_t attempts = 0;
  double seconds = 0, dollars = 0;
  int64_t tokens = 0;
  verifier::statistics::SpeedUp speed_up;  // over naive
  int64_t attempt = 0;                     // the attempt of this step
  std::string solution, hash;
};

struct Curve {
  std::string problem, device;
  std::vector<CurvePoint> steps;  // each a confirmed win whose interval begins higher than any before it
  CurvePoint now;                 // the current state; its speed-up is the last step's, 1 without steps
};

// Attempts are only ever added, so updates are incremental.
class CampaignTally {
 public:
  explicit CampaignTally(int64_t campaign) : campaign_(campaign) {}

  // Reads everything added since the last call. The caller holds one Moment of the archive meanwhile.
  void update(const Reader& archive);

  int64_t attempts() const { return attempts_; }
  const std::map<std::string, int64_t>& verdicts() const { return verdicts_; }
  const std::vector<Curve>& curves() const { return curves_; }
  std::vector<int64_t> latest() const { return latest_; }  // ids of the last attempts, the newest first

 private:
  struct Win {
    verifier::statistics::SpeedUp speed_up;
    std::string solution, hash;
  };
  struct Spent {
    std::string arrived;
    double dollars = 0;
    int64_t tokens = 0;
  };
  Curve& curve_of(int64_t problem, const std::string& device, const std::string& made);
  std::map<int64_t, Win> new_wins(Database& database) const;
  void read_spending(Database& database);
  void place(Curve& curve, const std::string& made) const;

  int64_t campaign_, last_ = 0, attempts_ = 0;
  std::map<std::string, int64_t> verdicts_;
  std::vector<Curve> curves_;
  std::map<std::pair<int64_t, std::string>, size_t> places_;  // index into curves_, by problem id and device
  std::vector<std::string> began_;                            // start time of each curve
  std::map<int64_t, std::string> problems_;
  std::map<std::string, std::vector<Spent>> spent_;  // per problem, cumulative
  std::vector<int64_t> latest_;
};

}  // namespace results::archive
