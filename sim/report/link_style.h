#pragma once

#include <string_view>

#include "sim/cluster/element.h"
#include "sim/io/wiring.h"

namespace moesim {

// How parts and links of a cluster look in pictures. Colours from Okabe and Ito (2008) and Tol
// (2021), which people tell apart whatever their colour vision.

// Of a box: pale, to be written on in black.
std::string_view colour(ElementKind kind);
// Of a line.
std::string_view colour(LinkKind kind);

// Pixels for a rate in bytes per second: 0.6 more for each factor of two above 2 GB/s, 0.8 to 8.
double width_of_link(double rate);

}  // namespace moesim
