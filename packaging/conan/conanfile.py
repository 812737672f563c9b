"""Builds Groma as a package of Conan 2: conan create packaging/conan --build=missing."""

import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load
from conan.tools.system.package_manager import Apt


class Groma(ConanFile):
    name = "groma"
    description = "Decides where the tasks and the data of a parallel program go"
    license = "Apache-2.0"
    topics = ("mapping", "legion", "task-based runtime", "hpc")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        # Takes the libraries of the system (Debian's packages) instead of those of ConanCenter.
        "system_libraries": [True, False],
    }
    default_options = {"shared": False, "system_libraries": False}

    @property
    def _source(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._source, "include", "groma", "version.h"))
        self.version = re.search(r'kVersion = "([0-9.]+)"', header).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "dsl/*", "examples/*", "include/*",
                        "lib/*", "packaging/*"):
            copy(self, pattern, self._source, self.export_sources_folder)

    def requirements(self):
        if self.options.system_libraries:
            return
        self.requires("fmt/[>=9 <13]")
        self.requires("hwloc/[>=2.9 <3]")
        self.requires("re2/[>=20220601]")
        self.requires("libcurl/[>=7.85 <9]")
        self.requires("cli11/[>=2.1 <3]", visible=False)
        self.requires("nlohmann_json/[>=3.11 <4]", visible=False)
        self.requires("spdlog/[>=1.10 <2]", visible=False)

    def system_requirements(self):
        if not self.options.system_libraries:
            return
        groups = load(self, os.path.join(self.recipe_folder, "packages.txt"))
        packages = re.search(r"^build: *(.*)$", groups, re.MULTILINE).group(1).split()
        Apt(self).install([each for each in packages if each.endswith("-dev")])

    def export(self):
        copy(self, "packages.txt", os.path.join(self._source, "cmake"), self.export_folder)

    def validate(self):
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables.update({
            "GROMA_WITH_LEGION": "OFF",
            "GROMA_BUILD_TESTS": False,
            "GROMA_BUILD_BENCHMARKS": False,
            "GROMA_BUILD_EXAMPLES": False,
            "CMAKE_UNITY_BUILD": True,
        })
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()

    def package_info(self):
        # Groma's own package file knows the components and what each of them needs.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs.append(os.path.join("lib", "cmake", "groma"))
        self.buildenv_info.append_path("PATH", os.path.join(self.package_folder, "bin"))
        self.runenv_info.append_path("PATH", os.path.join(self.package_folder, "bin"))
