// The HTML page of a run with its profile. Above the profile the page says what ran, how long it
// took, what the run waited for, and what the guide says about it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "groma/profile.h"

namespace groma {

// What the page of a run says beside the profile. All texts may come from other programs.
struct RunSummary {
  // The names of the application and of the machine.
  std::string application, machine;
  // The mapping's file. The page shows its name without its folders. Empty: the default mapper.
  std::string mapping;
  // True for a run in the simulator, false for one that was measured by the clock.
  bool simulated = false;
  // The time that the command prints, with its unit, and what it is the time of. If the application
  // measures a phase, this is the time of the phase.
  std::string time, time_of;
  // The work of the application divided by the time, with its unit; may be empty.
  std::string rate;
  // The sentences of the guide, as the command prints them.
  std::vector<std::string> explain, suggest;
  // Some lines of the mapping before and after a change, without their line ends.
  struct LineChange {
    std::vector<std::string> before, after;
  };
  // For each of `suggest`, the lines that it changes. May be shorter than `suggest`.
  std::vector<std::vector<LineChange>> changes = {};
  // What the command was given, such as {"machine", "lassen:nodes=2"}. Shown at the end of the
  // page.
  std::vector<std::pair<std::string, std::string>> inputs = {};
};

// Returns one HTML file that needs no network and no other file. The limits of to_html() in
// profile.h apply.
std::string to_html(const Profile& profile, const ProfileWords& words, const RunSummary& summary);

}  // namespace groma
