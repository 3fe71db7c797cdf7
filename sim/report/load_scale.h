#pragma once

#include <string>

#include "sim/report/svg_canvas.h"

namespace moesim {

// Colours of utilisation: from pale blue, what is hardly used, over violet and orange to dark red,
// the busiest; grey is what nobody uses. Blue and red differ for every kind of colour vision.

// "#rrggbb" of a share of the busiest, 0 to 1.
std::string load_colour(double share);

// The scale from 0 to `most`, with its ends in percent; returns where it ends to the right.
double draw_load_scale(SvgCanvas& canvas, double left, double top, double most);

}  // namespace moesim
