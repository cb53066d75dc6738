#include "tools/bisect.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "backends/tosa/program_file.h"
#include "ir/status.h"

namespace tare {
namespace {

// A directory for the files the command gets; goes away with this value.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    std::error_code ignored;
    path_ = (std::filesystem::temp_directory_path(ignored) / "tare-bisect-XXXXXX").string();
    if (mkdtemp(path_.data()) == nullptr) path_.clear();
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

absl::StatusOr<bool> IsGood(const Version& version, const std::string& command, const std::string& file) {
  TARE_RETURN_IF_ERROR(WriteAnyProgramFile(version.program, file));
  const int status = std::system(absl::StrCat(command, " '", file, "' >&2").c_str());
  if (status == -1 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    return absl::NotFoundError(absl::StrCat("cannot run ", command));
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

absl::StatusOr<int> FirstBad(const std::vector<Version>& versions, const std::string& command) {
  const ScratchDirectory scratch;
  if (scratch.path().empty()) return absl::ErrnoToStatus(errno, "cannot make a temporary directory");
  const std::string file = scratch.path() + "/program.pt2";
  int good = 0, bad = static_cast<int>(versions.size()) - 1;
  TARE_ASSIGN_OR_RETURN(const bool first_is_good, IsGood(versions[0], command, file));
  if (!first_is_good) return 0;
  TARE_ASSIGN_OR_RETURN(const bool last_is_good, IsGood(versions[bad], command, file));
  if (last_is_good) return -1;
  while (bad - good > 1) {
    const int middle = good + (bad - good) / 2;
    TARE_ASSIGN_OR_RETURN(const bool is_good, IsGood(versions[middle], command, file));
    (is_good ? good : bad) = middle;
  }
  return bad;
}

}  // namespace tare
