// SPDX-License-Identifier: MIT
//
// What the configuration says about the choice of a backend.
#pragma once

namespace hipfile {

struct BackendOptions {
  bool allow_compat = true;      ///< HIPFILE_ALLOW_COMPAT_MODE: the bounce backend may be used
  bool force_compat = false;     ///< HIPFILE_FORCE_COMPAT_MODE: the fastpath is never used
  bool any_file_system = false;  ///< HIPFILE_UNSUPPORTED_FILE_SYSTEMS: no file-system rule
  bool allow_host = true;        ///< HIPFILE_HOST: host memory is accepted
};

}  // namespace hipfile
