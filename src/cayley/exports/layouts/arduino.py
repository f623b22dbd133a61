"""A library for the Arduino tools: library.properties, src/, and a sketch that checks it on the board."""

from __future__ import annotations

from cayley.exports.layouts.layout import Layout, Library
from cayley.wording import printable

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


class Arduino(Layout):
    """library.properties, src/, examples/Check/. Numbers are `float`, unless it is said otherwise."""

    title = "Arduino"
    real = "float32"
    rows = 4

    def files(self, library: Library) -> dict[str, str]:
        name = library.name
        functions = ", ".join(part.source.name for part in library.parts)
        about = " ".join(printable(library.about).split())
        return {
            "library.properties": "".join(f"{key}={value}\n" for key, value in {
                "name": name, "version": "1.0.0", "author": "Cayley", "maintainer": "Cayley", "sentence": about,
                "paragraph": f"Functions: {functions}.", "category": "Device Control",
                "url": "", "architectures": "*", "includes": f"{name}.h"}.items()),
            "README.md": library.readme(_README),
            f"src/{name}.h": library.umbrella,
            **{f"src/{part.source.name}{ending}": text for part in library.parts
               for ending, text in ((".h", part.source.header), (".c", part.source.source))},
            f"examples/Check/{name}_vectors.h": library.vectors, f"examples/Check/{name}_check.h": library.check,
            "examples/Check/Check.ino": _SKETCH.replace("@upper", name.upper()).replace("@", name)}

    def commands(self, library: Library) -> tuple[str, ...]:
        return ("arduino-cli compile --library . --fqbn arduino:mbed_nano:nanorp2040connect examples/Check",)
