#include "base/system_error.hpp"

#include <cerrno>
#include <system_error>

namespace hone::base {

namespace {

std::string remedy_for(int error_number, const std::string& path) {
  switch (error_number) {
    case ENOSPC: return "free space on the disk that holds it, or choose a folder on another disk";
    case EDQUOT: return "free space below your disk quota, or choose a folder on another disk";
    case EFBIG: return "the file would grow past the limit set here; raise it with 'ulimit -f'";
    case EACCES:
    case EPERM: return "check owner and mode with 'ls -ld' on the path and its parents, or choose a folder of your own";
    case EROFS: return "the disk is mounted read-only; choose a folder on another disk";
    case ENOENT: return "check the spelling of the path";
    case ENOTDIR: return "a part of the path is a file; choose another path, or move that file away";
    case EISDIR: return "the path is a folder; name a file";
    case ENOTEMPTY:
    case EEXIST: return "something stands there already; move it away or choose another path";
    case ENAMETOOLONG: return "choose a shorter path";
    case ELOOP: return "the path runs through symbolic links in a circle; name the file itself";
    case EMFILE:
    case ENFILE: return "too many files are open; raise the limit with 'ulimit -n'";
    case ENOMEM:
    case EAGAIN: return "the machine is out of memory or processes; stop other programs and try again";
    case E2BIG: return "the command line and environment are longer than the system takes; shorten them";
    case ENOEXEC: return "the file is no program of this machine; check its format and its first line";
    case ETXTBSY: return "the file is being written by another program; try again when it is done";
    case EIO: return "the disk reports an error; look at the system's log";
    default: return path.empty() ? "try again" : "check the path and the disk that holds it";
  }
}

}  // namespace

std::string system_words(int error_number) { return std::generic_category().message(error_number); }

Error system_error(int error_number, const std::string& expected, const std::string& path) {
  return {ErrorKind::preflight, expected, system_words(error_number), path, remedy_for(error_number, path)};
}

}  // namespace hone::base
