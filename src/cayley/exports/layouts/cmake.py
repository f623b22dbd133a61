"""A library for CMake: `add_subdirectory` it, or install it and `find_package` it; `ctest` checks it."""

from __future__ import annotations

from cayley.exports.layouts.layout import Layout, Library

_LISTS = """\
# Written by Cayley.
cmake_minimum_required(VERSION 3.10)
project(@ LANGUAGES C)
include(CTest)

add_library(@ STATIC
@sources)
target_include_directories(@ PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:include>)
set_target_properties(@ PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
if(UNIX)
    target_link_libraries(@ PUBLIC m)
endif()

if(BUILD_TESTING)
    add_executable(@_check tests/check.c)
    set_target_properties(@_check PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
    target_link_libraries(@_check PRIVATE @)
    add_test(NAME @_check COMMAND @_check)
endif()

install(TARGETS @ EXPORT @-config ARCHIVE DESTINATION lib)
install(DIRECTORY include/ DESTINATION include)
install(EXPORT @-config DESTINATION lib/cmake/@)
"""
_MAIN = """\
/* Compares @ with its test vectors. Written by Cayley. */

#include <stdio.h>

#include "@_check.h"

static void say(const char *what, int state, int element, double found, double right)
{
    printf("%s[%d] of state %d is %.9g, not %.9g\\n", what, element, state, found, right);
}

int main(void)
{
    const int wrong = @_check(say);
    printf("@: %d states, %d wrong numbers\\n", @upper_STATES, wrong);
    return wrong ? 1 : 0;
}
"""


class CMake(Layout):
    """CMakeLists.txt, include/, src/, tests/."""

    title = "CMake"
    real = "float64"
    rows = 8

    def files(self, library: Library) -> dict[str, str]:
        name = library.name
        sources = "\n".join(f"    src/{part.source.name}.c" for part in library.parts)
        return {
            "CMakeLists.txt": _LISTS.replace("@sources", sources).replace("@", name),
            "README.md": library.readme("```\n" + "\n".join(self.commands(library)) + "\n```"),
            f"include/{name}.h": library.umbrella,
            **{f"include/{part.source.name}.h": part.source.header for part in library.parts},
            **{f"src/{part.source.name}.c": part.source.source for part in library.parts},
            f"tests/{name}_vectors.h": library.vectors, f"tests/{name}_check.h": library.check,
            "tests/check.c": _MAIN.replace("@upper", name.upper()).replace("@", name)}

    def commands(self, library: Library) -> tuple[str, ...]:
        return "cmake -S . -B build", "cmake --build build", "ctest --test-dir build --output-on-failure"
