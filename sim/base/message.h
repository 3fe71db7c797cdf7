#pragma once

#include <string>
#include <string_view>

// What users wrote, made fit for a message.
namespace moesim {

// Control characters other than line ends as \x1b, byte order marks as \ufeff: what a terminal
// would obey or hide.
std::string visible(std::string_view text);

// The same with line ends as \n too: a name in a line of a table or of a message.
std::string visible_in_line(std::string_view text);

// On one line: the first 60 characters and an ellipsis; shorter texts whole.
std::string abbreviated(std::string_view text);

// An abbreviated text in double quotes.
std::string in_quotes(std::string_view text);

}  // namespace moesim
