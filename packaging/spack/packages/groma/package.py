# Copyright the authors of Groma.
#
# SPDX-License-Identifier: Apache-2.0

from spack.package import *

try:  # Spack 1.0 and newer
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:  # older releases have the class in spack.package
    pass


class Groma(CMakePackage):
    """Groma decides where the tasks and the data of a parallel program go. It checks mappings,
    shows what they decide, applies them to Legion programs and searches for faster ones."""

    # The sources are given: spack install groma@main dev_path=/path/to/the/clone (docs/install.md).
    has_code = True
    license("Apache-2.0")

    version("main")

    variant("shared", default=False, description="Build shared libraries")
    variant("legion", default=False, description="Run Legion programs under mappings")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("cli11@2.1:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("spdlog@1.10:", type="build")
    depends_on("fmt@9:")
    depends_on("hwloc@2:")
    depends_on("re2")
    depends_on("curl@7.85:")
    depends_on("legion@25.06:", when="+legion")

    conflicts("%gcc@:11", msg="Groma needs C++20 as g++ 12 has it")
    conflicts("%clang@:13", msg="Groma needs C++20 as clang 14 has it")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("GROMA_WITH_LEGION", "legion"),
            self.define("GROMA_BUILD_TESTS", False),
            self.define("GROMA_BUILD_BENCHMARKS", False),
            self.define("GROMA_BUILD_EXAMPLES", False),
        ]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_command(self):
        groma = Executable(join_path(self.prefix.bin, "groma"))
        groma("check", join_path(self.prefix.share, "groma", "mappers", "cannon.mapper"))
