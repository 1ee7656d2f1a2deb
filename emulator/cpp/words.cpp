#include "words.h"

#include <cerrno>
#include <cstdlib>

#include "channel.h"

namespace emu {

std::string Words::word() {
    size_t end = line.find(' ', at);
    if (end == std::string::npos) end = line.size();
    if (at >= end) fail("a word is missing: " + line);
    std::string found = line.substr(at, end - at);
    at = end + 1;
    return found;
}

uint64_t Words::number() {
    std::string text = word();
    char* end;
    errno = 0;
    uint64_t value = strtoull(text.c_str(), &end, 10);
    if (*end != 0 || errno != 0 || text[0] == '-') fail("no number: " + text);
    return value;
}

int64_t Words::signed_number() {
    std::string text = word();
    char* end;
    errno = 0;
    int64_t value = strtoll(text.c_str(), &end, 10);
    if (*end != 0 || errno != 0) fail("no number: " + text);
    return value;
}

void Words::end() {
    if (at < line.size()) fail("too many words: " + line);
}

}  // namespace emu
