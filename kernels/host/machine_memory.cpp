#include "kernels/host/machine_memory.h"

#include <string>

#include <unistd.h>

#include "sim/io/files.h"

namespace moesim {

// "MemAvailable:   123456 kB": unlike the free pages, with what caches would give back.
int64_t available_memory() {
  const std::string text = read_file("/proc/meminfo");
  const std::string key = "MemAvailable:";
  const size_t at = text.find(key);
  if (at == std::string::npos) {
    return int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  }
  return std::stoll(text.substr(at + key.size())) * 1024;
}

}  // namespace moesim
