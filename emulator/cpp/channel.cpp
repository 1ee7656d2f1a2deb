#include "channel.h"

#include <cerrno>
#include <unistd.h>

namespace emu {

namespace {
constexpr int SOCKET = 0;
}

bool read_line(std::string& line) {
    static char buffer[64 << 10];
    static size_t start = 0, end = 0;
    line.clear();
    for (;;) {
        while (start < end) {
            char c = buffer[start++];
            if (c == '\n') return true;
            line.push_back(c);
        }
        ssize_t got = read(SOCKET, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        start = 0;
        end = size_t(got);
    }
}

void send_bytes(const char* data, size_t size) {
    while (size > 0) {
        ssize_t sent = write(SOCKET, data, size);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) _exit(2);
        data += sent;
        size -= size_t(sent);
    }
}

void fail(const std::string& text) {
    std::string line = "error " + text + "\n";
    send_bytes(line.data(), line.size());
    _exit(2);
}

}  // namespace emu
