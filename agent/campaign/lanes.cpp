#include "agent/campaign/lanes.h"

#include <algorithm>

#include "agent/campaign/calibrations.h"
#include "agent/campaign/device_text.h"

namespace agent::campaign {
namespace {
size_t lanes_for(const core::Paths& paths, const DeviceChoice& choice, size_t problems) {
  return choice.all ? std::max<size_t>(1, std::min(gpu_devices(paths, choice.backend).size(), problems)) : 1;
}

int compile_workers_for(const DeviceChoice& choice) {
  return std::max(1, background_compile_workers() / static_cast<int>(choice.lanes));
}
}  // namespace

LiveLanes::Lane::Lane(results::archive::Recorder& archive, int64_t campaign, const core::Paths& paths,
                      const DeviceChoice& choice, bool hot, search::EventLoop& event_loop)
    : session(paths, choice, hot, compile_workers_for(choice), &event_loop),
      runner(archive, session, campaign, newest_or_new_calibration(archive, paths, choice, session.device())) {}

LiveLanes::LiveLanes(results::archive::Recorder& archive, int64_t campaign, const core::Paths& paths,
                     const CampaignSettings& settings) {
  DeviceChoice choice = parse_device(settings.device);
  choice.lanes = lanes_for(paths, choice, settings.problems.size());
  for (; choice.lane < choice.lanes; ++choice.lane) {
    lanes_.emplace_back(archive, campaign, paths, choice, settings.hot, event_loop_);
    lanes_.back().runner.share_time(lanes_.front().runner);
  }
}

void LiveLanes::look_closer() {
  for (Lane& lane : lanes_) lane.runner.look_closer();
}

void LiveLanes::on_trouble(const std::function<void(const std::string&)>& listener) {
  for (Lane& lane : lanes_) lane.runner.on_trouble(listener);
}

prompting::DeviceText LiveLanes::device_text() const {
  return campaign::device_text(lanes_.front().session, lanes_.front().runner.calibration());
}

}  // namespace agent::campaign
