# Draws cost_against_gpus.csv: CPU seconds over GPUs, both logarithmic, a line for each model,
# schedule and kind of NICs.
function x_of(gpus) { return 70 + 560 * log(gpus / 64) / log(1024) }
function y_of(seconds) { return 340 - 300 * log(seconds / 0.02) / log(500) }
function text(x, y, anchor, words) {
  printf "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\" fill=\"#222222\">%s</text>\n", x, y, anchor,
         words
}
BEGIN {
  FS = ","
  colour["mixtral"] = "#0072b2"
  colour["deepseek"] = "#d55e00"
  label["mixtral"] = "Mixtral, ep 8"
  label["deepseek"] = "256 experts, ep 64"
  print "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"960\" height=\"400\"" \
        " font-family=\"sans-serif\" font-size=\"12\">"
  print "<rect width=\"960\" height=\"400\" fill=\"#ffffff\"/>"
  text(70, 24, "start", "CPU seconds of one simulation, all included, against GPUs")
  for (gpus = 64; gpus <= 65536; gpus *= 4) {
    printf "<line x1=\"%.1f\" y1=\"40\" x2=\"%.1f\" y2=\"340\" stroke=\"#dddddd\"/>\n", x_of(gpus),
           x_of(gpus)
    text(x_of(gpus), 358, "middle", gpus)
  }
  text(350, 382, "middle", "GPUs")
  split("0.02 0.05 0.1 0.2 0.5 1 2 5 10", ticks, " ")
  for (i = 1; i in ticks; ++i) {
    printf "<line x1=\"70\" y1=\"%.1f\" x2=\"630\" y2=\"%.1f\" stroke=\"#dddddd\"/>\n", y_of(ticks[i]),
           y_of(ticks[i])
    text(62, y_of(ticks[i]) + 4, "end", ticks[i] " s")
  }
}
FNR > 1 {
  key = $1 "," $2 "," $3
  if (!(key in points)) {
    keys[++count] = key
  }
  point = sprintf("%.1f,%.1f", x_of($4), y_of($6))
  points[key] = points[key] " " point
}
END {
  for (i = 1; i <= count; ++i) {
    split(keys[i], part, ",")
    dashes = part[3] == "slow" ? " stroke-dasharray=\"6 4\"" : ""
    width = part[2] == "fsmoe" ? 2.6 : 1.2
    style = sprintf("fill=\"none\" stroke=\"%s\" stroke-width=\"%.1f\"%s", colour[part[1]], width,
                    dashes)
    printf "<polyline points=\"%s\" %s/>\n", substr(points[keys[i]], 2), style
    y = 56 + 22 * (i - 1)
    printf "<line x1=\"646\" y1=\"%d\" x2=\"676\" y2=\"%d\" %s/>\n", y, y, style
    text(682, y + 4, "start", label[part[1]] ", " part[2] (part[3] == "slow" ? ", slow NIC" : ""))
  }
  print "</svg>"
}
