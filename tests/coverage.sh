#!/bin/sh
# Usage: tests/coverage.sh BUILD FOLDER...
# In the repository's root: of each folder's own files (not of folders in it) the lines that what
# ran in BUILD has reached, of all that have code; then the others. BUILD is configured with
# -DCMAKE_CXX_FLAGS=--coverage (CONTRIBUTING.md).
set -eu
readonly build=$1
shift
find "$build/kernels" "$build/tests" -name '*.gcno' -exec gcov --stdout {} + 2> /dev/null |
  awk -v folders="$*" -v root="$PWD/" '
    # "COUNT:LINE:CODE", a file again for each object and each instance of a template.
    {
      first = index($0, ":")
      count = substr($0, 1, first - 1)
      rest = substr($0, first + 1)
      line = substr(rest, 1, index(rest, ":") - 1) + 0
      code = substr(rest, index(rest, ":") + 1)
      gsub(/ /, "", count)
    }
    line == 0 {
      if (code ~ /^Source:/) {
        file = substr(code, 8)
        if (index(file, root) == 1) file = substr(file, length(root) + 1)
        while (sub(/^\.\.\//, "", file)) {}
        folder = file
        sub(/\/[^\/]*$/, "", folder)
      }
      next
    }
    first > 0 && count != "-" && index(" " folders " ", " " folder " ") {
      key = file ":" line
      if (!(key in text)) {
        text[key] = code
        of[key] = folder
        ++lines[folder]
      }
      if (count !~ /[#=]/ && !(key in reached)) {
        reached[key]
        ++num_reached[folder]
      }
    }
    END {
      count = split(folders, wanted, " ")
      for (i = 1; i <= count; ++i) {
        printf "%s: %d of %d lines\n", wanted[i], num_reached[wanted[i]], lines[wanted[i]]
      }
      for (key in text) {
        if (!(key in reached)) printf "%s:%s\n", key, text[key] | "sort -t: -k1,1 -k2,2n"
      }
    }'
