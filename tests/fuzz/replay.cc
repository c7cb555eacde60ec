// SPDX-License-Identifier: MIT
// Runs a fuzz target without a fuzzer:
//
//   fuzz_TARGET DIRECTORY [MUTATIONS]   every file of the directory, then mutations of them
//   fuzz_TARGET FILE                    that input alone
//
// Mutations come from a fixed seed, so a failure comes again; the input of a failure is written to
// ./crash-TARGET. What targets print is dropped.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "fuzz.h"

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*)(void));

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kLongest = 1024;

int standard_error = -1;
std::string crash_name;
Input current;

void save_input() {
  static const char kText[] = "the input that failed: ./";
  (void)!::write(standard_error, kText, sizeof kText - 1);
  (void)!::write(standard_error, crash_name.data(), crash_name.size());
  (void)!::write(standard_error, "\n", 1);
  const int fd = ::open(crash_name.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (fd >= 0) (void)!::write(fd, current.data(), current.size());
}

void on_signal(int number) {
  save_input();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void be_silent() {
  standard_error = ::dup(STDERR_FILENO);
  const int null = ::open("/dev/null", O_WRONLY);
  ::dup2(null, STDOUT_FILENO);
  ::dup2(null, STDERR_FILENO);
}

Input read_input(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Input(std::istreambuf_iterator<char>(file), {});
}

void run(const Input& input) {
  current = input;
  (void)LLVMFuzzerTestOneInput(current.data(), current.size());
}

// Bytes and words at which parsers turn.
const char* const kTokens[] = {"0",
                               "-1",
                               "18446744073709551615",
                               "18446744073709551616",
                               "4096",
                               "K",
                               "G",
                               "\n",
                               "\n\n",
                               ",",
                               "=",
                               ":",
                               "/",
                               " ",
                               "--",
                               "-",
                               "max",
                               "true",
                               "\xff",
                               "9999999999999999999999"};

class Mutator {
 public:
  explicit Mutator(const std::vector<Input>& seeds) : seeds_(seeds) {}

  Input next() {
    Input input = seeds_[below(seeds_.size())];
    for (size_t left = 1 + below(4); left != 0; --left) mutate(input);
    input.resize(std::min(input.size(), kLongest));
    return input;
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  ptrdiff_t place(const Input& input) { return static_cast<ptrdiff_t>(below(input.size() + 1)); }

  void mutate(Input& input) {
    switch (below(5)) {
      case 0:
        if (!input.empty()) input[below(input.size())] = static_cast<uint8_t>(below(256));
        break;
      case 1:
        input.insert(input.begin() + place(input), static_cast<uint8_t>(below(256)));
        break;
      case 2: {
        ptrdiff_t begin = place(input), end = place(input);
        if (begin > end) std::swap(begin, end);
        input.erase(input.begin() + begin, input.begin() + end);
        break;
      }
      case 3: {
        const std::string token = kTokens[below(std::size(kTokens))];
        input.insert(input.begin() + place(input), token.begin(), token.end());
        break;
      }
      default: {
        const Input& other = seeds_[below(seeds_.size())];
        const ptrdiff_t from = place(other);
        input.insert(input.begin() + place(input), other.begin() + from, other.end());
      }
    }
  }

  const std::vector<Input>& seeds_;
  std::mt19937_64 random_{1};
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  crash_name = "crash-" + std::filesystem::path(argv[0]).filename().string();
  std::vector<Input> seeds;
  if (std::filesystem::is_directory(argv[1])) {
    std::vector<std::filesystem::path> paths;
    for (const auto& entry : std::filesystem::directory_iterator(argv[1])) paths.push_back(entry);
    std::sort(paths.begin(), paths.end());
    for (const auto& path : paths) seeds.push_back(read_input(path));
  } else {
    seeds.push_back(read_input(argv[1]));
  }
  if (seeds.empty()) return 2;
  be_silent();
  for (const int number : {SIGABRT, SIGSEGV, SIGFPE}) std::signal(number, on_signal);
  if (__sanitizer_set_death_callback != nullptr) __sanitizer_set_death_callback(save_input);
  for (const Input& seed : seeds) run(seed);
  const unsigned long mutations = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 0;
  Mutator mutator(seeds);
  for (unsigned long at = 0; at < mutations; ++at) run(mutator.next());
  return 0;
}
