// Lets several processes of test-backend-ops share the rows: scripts/llama-on-linux.mk compiles it into the program.
//
// ROWS_TAKEN names a file of 8 bytes with the number of rows that are taken; without it, a process takes all. Rows that need
// the same pipelines come one after the other, so that one process compiles them.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shared_rows {

// Rows that a process takes at a time.
constexpr size_t CHUNK = 6;

inline std::atomic<size_t> & taken() {
    static std::atomic<size_t> own = 0;
    const char * path = getenv("ROWS_TAKEN");
    if (path == nullptr) {
        return own;
    }
    const int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof(own)) != 0) {
        abort();
    }
    void * memory = mmap(nullptr, sizeof(own), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED) {
        abort();
    }
    return *static_cast<std::atomic<size_t> *>(memory);
}

inline std::string field(const std::string & row, const char * name) {
    const size_t start = row.find(name);
    return start == std::string::npos ? std::string() : row.substr(start, row.find(',', start) - start);
}

// Equal for rows of attention and of products that differ in sizes alone; empty for other rows.
inline std::string pipelines(const std::string & row) {
    std::string key;
    if (row.rfind("hsk=", 0) == 0) {
        for (const char * name : {"hsk=", "hsv=", "type_K=", "type_V=", "mask=", "sinks=", "max_bias=", "logit_softcap="}) {
            key += field(row, name) + ",";
        }
    } else if (row.rfind("type_a=", 0) == 0) {
        key = field(row, "type_a=") + "," + field(row, "type_b=");
    }
    return key;
}

template <typename Case> void sort(std::vector<std::unique_ptr<Case>> & cases) {
    std::vector<std::pair<std::string, std::unique_ptr<Case>>> keyed;
    for (auto & row : cases) {
        keyed.emplace_back(pipelines(row->vars()), std::move(row));
    }
    std::stable_sort(keyed.begin(), keyed.end(), [](const auto & a, const auto & b) { return a.first < b.first; });
    cases.clear();
    for (auto & [key, row] : keyed) {
        cases.push_back(std::move(row));
    }
}

}  // namespace shared_rows
