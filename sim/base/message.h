#pragma once

#include <string>
#include <string_view>

// What users wrote, made fit for a message.
namespace moesim {

// Control characters other than line ends as \x1b, byte order marks as \ufeff: what a terminal
// would obey or hide.
std::string visible(std::string_view text);

// The first 60 characters and an ellipsis; shorter texts as they are.
std::string abbreviated(std::string_view text);

// An abbreviated text in double quotes.
std::string in_quotes(std::string_view text);

}  // namespace moesim
