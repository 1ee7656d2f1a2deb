// The words of a line of the protocol.
#pragma once

#include <cstdint>
#include <string>

namespace emu {

// Each function takes the next word and fails if it is not there or of another kind.
class Words {
public:
    explicit Words(const std::string& line) : line(line) {}
    std::string word();
    uint64_t number();
    int64_t signed_number();
    // Nothing may be left.
    void end();

private:
    const std::string& line;
    size_t at = 0;
};

}  // namespace emu
