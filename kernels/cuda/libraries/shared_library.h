#pragma once

#include <string>

namespace moesim {

// A library that is opened when it is first called, and stays: a program that never calls it
// neither loads it nor needs it to start.
class SharedLibrary {
 public:
  // `file` as the dynamic loader looks for it: "libnccl.so.2". `product` is what to install.
  // Throws Failure where it is not found or cannot be loaded.
  SharedLibrary(std::string file, const std::string& product);

  // Throws Failure where the library, of another version, has no such function.
  template <typename Function>
  Function* function(const char* name) const {
    return reinterpret_cast<Function*>(symbol(name));
  }

 private:
  void* symbol(const char* name) const;

  std::string file_;
  void* handle_;  // never closed: what it started may still run
};

}  // namespace moesim
