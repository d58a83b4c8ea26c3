// NVRTC, opened at run time: building and starting the program needs no CUDA Toolkit.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sandbox::cuda::compiler {

struct NvrtcOutput {
  bool built = false;
  std::string log;    // raw and untrusted
  std::string cubin;  // empty unless built
  std::string ptx;    // the cubin's source; empty unless built
  bool out_of_memory = false;
};

class Nvrtc {
 public:
  // Opens the newest NVRTC below `cuda_home` if given, else the one that the dynamic linker finds or one below
  // /usr/local/cuda. Throws core::SystemError with the remedy if there is none.
  static Nvrtc open(const std::filesystem::path& cuda_home = {});

  std::pair<int, int> version() const;  // 13, 0
  // The toolkit's headers (cuda_fp16.h and others); below cccl/ the C++ library.
  const std::vector<std::filesystem::path>& include_folders() const { return include_folders_; }
  // The folder of the library and of the one that it loads while compiling.
  std::filesystem::path library_folder() const { return library_folder_; }
  // Supported architectures ("sm_90"), in ascending order.
  std::vector<std::string> architectures() const;

  // Compiles one program. `headers`: contents by name, found before any file. Throws core::SystemError when NVRTC
  // itself fails.
  NvrtcOutput compile(const std::string& source, const std::string& name,
                      const std::map<std::string, std::string>& headers, const std::vector<std::string>& options) const;

 private:
  struct Functions {
    int (*version)(int*, int*);
    const char* (*error_string)(int);
    int (*architecture_count)(int*);
    int (*architectures)(int*);
    int (*create)(void**, const char*, const char*, int, const char* const*, const char* const*);
    int (*destroy)(void**);
    int (*compile)(void*, int, const char* const*);
    int (*log_size)(void*, size_t*);
    int (*log)(void*, char*);
    int (*cubin_size)(void*, size_t*);
    int (*cubin)(void*, char*);
    int (*ptx_size)(void*, size_t*);
    int (*ptx)(void*, char*);
  };

  void require(int result, const char* what) const;
  using Size = int (*)(void*, size_t*);
  using Text = int (*)(void*, char*);
  std::string take(void* program, Size size, Text text, const char* what) const;

  Functions functions_{};
  std::filesystem::path library_folder_;
  std::vector<std::filesystem::path> include_folders_;
};

}  // namespace sandbox::cuda::compiler
