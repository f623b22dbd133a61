"""The layouts of a C library in a folder, for the tools that build it: CMake, or those of Arduino. One line in
`LAYOUTS` each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from cayley.errors import printable
from cayley.exports.check_text import check_text, vectors_text

if TYPE_CHECKING:
    from cayley.exports.vectors import TestedFunction

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
_README = ("Copy the folder into the `libraries` folder of your sketchbook, and upload the example `Check`: the serial "
           "monitor, at 115200 baud, tells what it finds.")
_SKETCH = """\
// Compares @ with its test vectors, and measures how long a pass over them takes. Written by Cayley.

#include <@.h>

#include "@_check.h"

static void say(const char *what, int state, int element, double found, double right)
{
    Serial.print(what);
    Serial.print(F(", element "));
    Serial.print(element);
    Serial.print(F(" of state "));
    Serial.print(state);
    Serial.print(F(" is "));
    Serial.print(found, 6);
    Serial.print(F(", not "));
    Serial.println(right, 6);
}

void setup()
{
    Serial.begin(115200);
    const unsigned long begin = micros();
    const int wrong = @_check(say);
    const unsigned long end = micros();
    Serial.print(F("@: "));
    Serial.print(@upper_STATES);
    Serial.print(F(" states, "));
    Serial.print(wrong);
    Serial.print(F(" wrong numbers, "));
    Serial.print((end - begin) / @upper_STATES);
    Serial.println(F(" us a state"));
}

void loop()
{
}
"""


@dataclass(frozen=True)
class Library:
    """A library to be written: its name (an identifier), a description, its functions and the type of its numbers."""

    name: str
    about: str
    parts: Sequence[TestedFunction]
    real: str

    @property
    def umbrella(self) -> str:
        """The header that includes those of all functions."""
        guard = f"CAYLEY_LIBRARY_{self.name.upper()}_H"
        included = "\n".join(f'#include "{part.source.name}.h"' for part in self.parts)
        return (f"/* All of {self.name}. Written by Cayley. */\n\n#ifndef {guard}\n#define {guard}\n\n{included}\n\n"
                "#endif\n")

    @property
    def vectors(self) -> str:
        return vectors_text(self.name, self.parts, self.real)

    @property
    def check(self) -> str:
        return check_text(self.name, self.parts, self.real)

    def readme(self, layout: str) -> str:
        """A description of the folder for a reader."""
        rows = "\n".join(f"- `{part.source.name}.h`: {_first_line(part)}" for part in self.parts)
        about = " ".join(printable(self.about).split())
        return (f"# {self.name}\n\n{about}\n\nC99 in `{self.real}`, without allocation, with nothing but `math.h`.\n"
                "Joints in their order, units, frames and the digest of the model are in the headers.\n\n"
                f"{rows}\n\n{layout}\n")


def _first_line(part: TestedFunction) -> str:
    """The beginning of the comment of a header, its name aside, up to the end of the sentence."""
    comment = " ".join(line.removeprefix(" * ") for line in part.source.header.splitlines()[1:4])
    _, _, words = comment.partition(": ")
    return f"{words.split('. ')[0].split(' *')[0].strip().rstrip('.')}." if words else "a function."


class FolderLayout:
    """The places of the files of a library."""

    title: ClassVar[str]
    real: ClassVar[str]  # the usual precision there, as NumPy calls it
    rows: ClassVar[int]  # how many test vectors of each function
    headers: ClassVar[str]  # folders
    tests: ClassVar[str]
    main: ClassVar[tuple[str, str]]  # name and text of the program that checks, in which @ is the library

    def files(self, library: Library) -> dict[str, str]:
        """The texts, by their paths in the folder."""
        name = library.name
        path, text = self.main
        return {
            **self.project(library), f"{self.headers}/{name}.h": library.umbrella,
            **{f"{self.headers}/{part.source.name}.h": part.source.header for part in library.parts},
            **{f"src/{part.source.name}.c": part.source.source for part in library.parts},
            f"{self.tests}/{name}_vectors.h": library.vectors, f"{self.tests}/{name}_check.h": library.check,
            f"{self.tests}/{path}": text.replace("@upper", name.upper()).replace("@", name)}

    def project(self, library: Library) -> dict[str, str]:
        """The files that build tools read first, and the description for a reader."""
        raise NotImplementedError

    def commands(self, library: Library) -> tuple[str, ...]:
        """The commands that build and check the folder."""
        raise NotImplementedError


class CMake(FolderLayout):
    """CMakeLists.txt, include/, src/, tests/: `add_subdirectory` it, or install it and `find_package` it; `ctest`
    checks it."""

    title = "CMake"
    real = "float64"
    rows = 8
    headers = "include"
    tests = "tests"
    main = "check.c", _MAIN

    def project(self, library: Library) -> dict[str, str]:
        sources = "\n".join(f"    src/{part.source.name}.c" for part in library.parts)
        return {"CMakeLists.txt": _LISTS.replace("@sources", sources).replace("@", library.name),
                "README.md": library.readme("```\n" + "\n".join(self.commands(library)) + "\n```")}

    def commands(self, library: Library) -> tuple[str, ...]:
        return "cmake -S . -B build", "cmake --build build", "ctest --test-dir build --output-on-failure"


class Arduino(FolderLayout):
    """library.properties, src/, and a sketch in examples/Check/ that checks it on the board. Numbers are `float` by
    default."""

    title = "Arduino"
    real = "float32"
    rows = 4
    headers = "src"
    tests = "examples/Check"
    main = "Check.ino", _SKETCH

    def project(self, library: Library) -> dict[str, str]:
        functions = ", ".join(part.source.name for part in library.parts)
        said = {"name": library.name, "version": "1.0.0", "author": "Cayley", "maintainer": "Cayley",
                "sentence": " ".join(printable(library.about).split()), "paragraph": f"Functions: {functions}.",
                "category": "Device Control", "url": "", "architectures": "*", "includes": f"{library.name}.h"}
        return {"library.properties": "".join(f"{key}={value}\n" for key, value in said.items()),
                "README.md": library.readme(_README)}

    def commands(self, library: Library) -> tuple[str, ...]:
        return ("arduino-cli compile --library . --fqbn arduino:mbed_nano:nanorp2040connect examples/Check",)


LAYOUTS: dict[str, FolderLayout] = {"cmake": CMake(), "arduino": Arduino()}
