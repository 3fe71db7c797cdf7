#pragma once

namespace moesim {

// The tags of messages between processes; Transfers makes two of each that it is given. Those of a
// run's collectives begin at kFirstMeetingTag.
inline constexpr int kPulseTag = 1;
inline constexpr int kClockTag = 2;
inline constexpr int kCollectTag = 3;
inline constexpr int kFirstMeetingTag = 16;

}  // namespace moesim
