#pragma once

#include <functional>
#include <string>

#include "sim/base/error.h"

namespace moesim {

// "location: text" of the Error that `action` throws; empty where it throws none.
inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace moesim
