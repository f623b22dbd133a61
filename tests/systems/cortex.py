"""A Cortex-M4F in an emulator: exported laws are compiled for it, linked with nothing but the C library, and run."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PROGRAMS = ("arm-none-eabi-gcc", "arm-none-eabi-nm", "arm-none-eabi-size", "qemu-system-arm")
PROCESSOR = ("-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Wfloat-conversion", "-Wdouble-promotion",
          "-Wstrict-prototypes", "-ffunction-sections", "-fdata-sections", "-fstack-usage")
MACHINE = ("-M", "mps2-an386", "-cpu", "cortex-m4", "-display", "none", "-serial", "none", "-monitor", "none",
           "-chardev", "stdio,id=out", "-semihosting-config", "enable=on,target=native,chardev=out")

MEMORY = """
ENTRY(reset)
SECTIONS {
  .text 0x00000000 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) *(.ARM.*) }
  .data 0x20000000 : { *(.data*) *(.bss*) *(COMMON) }
}
"""
# What a board's own startup does: the stack, the floating-point unit; and words to the emulator (semihosting).
START = r"""
#include <stdint.h>
#include <string.h>
#include "@law@.h"

#define PAINT 0xA5A5A5A5u
#define PAINTED 8192 /* words below the stack of the loop */

static const uint32_t rows[@rows@][@width@] = {@values@};

static void ask(int what, const void *with)
{
    register int r0 __asm__("r0") = what;
    register const void *r1 __asm__("r1") = with;
    __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
}

static void say(const void *floats, int count)
{
    char line[9];
    for (int k = 0; k < count; ++k) {
        uint32_t word;
        memcpy(&word, (const char *)floats + 4 * k, 4);
        for (int d = 0; d < 8; ++d) line[d] = "0123456789abcdef"[word >> (28 - 4 * d) & 15u];
        line[8] = '\0';
        ask(4, line);
        ask(4, " ");
    }
}

static __attribute__((noinline)) uint32_t used(const volatile uint32_t *lowest)
{
    uint32_t k = 0;
    while (k < PAINTED && lowest[k] == PAINT) ++k;
    return 4u * (PAINTED - k);
}

static void loop(void)
{
    @state@
    uint32_t deepest = 0;
    @outputs@
    for (int k = 0; k < @rows@; ++k) {
        const float *row = (const float *)(const void *)rows[k];
        volatile uint32_t *top;
        __asm__ volatile("mov %0, sp" : "=r"(top));
        for (int d = 1; d <= PAINTED; ++d) top[-d] = PAINT;
        @call@
        const uint32_t depth = used(top - PAINTED);
        deepest = depth > deepest ? depth : deepest;
        @say@
        ask(4, "\n");
    }
    say(&deepest, 1);
}

void reset(void);
void reset(void)
{
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* the floating-point unit */
    __asm__ volatile("dsb\nisb");
    loop();
    ask(0x18, (const void *)0x20026u);
    for (;;) { }
}

static void fault(void)
{
    ask(4, "fault\n");
    ask(0x18, (const void *)0x20023u);
    for (;;) { }
}

__attribute__((section(".vectors"), used)) static void (*const vectors[])(void) = {
    (void (*)(void))0x20080000u, reset, fault, fault, fault, fault, fault};
"""


@dataclass(frozen=True)
class Ran:
    """What a law gave out, row by row, and what it takes: bytes of `code` and constants of its own and of what the C
    `library` adds, of the stack frames of its functions by the compiler, and of the `stack` in the deepest call, the
    library's included; `symbols` are all that was linked."""

    outputs: dict[str, np.ndarray]
    code: int
    library: int
    frames: dict[str, int]
    stack: int
    symbols: frozenset[str]

    def __str__(self) -> str:
        frames = ", ".join(f"{name} {size}" for name, size in self.frames.items())
        return (f"{self.code} bytes of code and constants, {self.library} of the C library, {self.stack} bytes of "
                f"stack ({frames})")


def run(law, name: str, rows: dict[str, np.ndarray], folder: Path) -> Ran:
    """Run a system's step in the emulator, a row of inputs a period; the state begins and goes on as C keeps it."""
    files = law.c_source(name, dtype="float32").write(folder)
    keeps = bool(law.blocks)
    columns = np.concatenate([np.asarray(rows[port], dtype=np.float32).reshape(len(rows[port]), -1)
                              for port in rows], axis=1)
    results = {port: each.size for port, each in law.output_ports.items()}
    (folder / "main.c").write_text(_main(law, name, rows, columns, results))
    (folder / "memory.ld").write_text(MEMORY)
    for source in (files[0], folder / "main.c"):
        _done([PROGRAMS[0], *PROCESSOR, *STRICT, "-I", folder, "-c", source, "-o", source.with_suffix(".o")], folder)
    _done([PROGRAMS[0], *PROCESSOR, "-nostartfiles", "-Wl,--gc-sections", "-Wl,--fatal-warnings", "-T", "memory.ld",
           "-o", "run.elf", f"{name}.o", "main.o", "-lm", "-lc", "-lgcc"], folder)
    said = _done(["qemu-system-arm", *MACHINE, "-kernel", "run.elf"], folder)
    lines = [[int(word, 16) for word in line.split()] for line in said.splitlines()]
    numbers = np.array(lines[:-1], dtype=np.uint32).view(np.float32)
    sizes = {**results, **({"x": law.layout.size} if keeps else {})}
    ends = np.cumsum([0, *sizes.values()])
    outputs = {port: numbers[:, a:b] for port, a, b in zip(sizes, ends[:-1], ends[1:], strict=True)}
    code, main, whole = (int(_done(["arm-none-eabi-size", file], folder).splitlines()[1].split()[0])
                         for file in (f"{name}.o", "main.o", "run.elf"))
    usage = [line.split("\t") for line in (folder / f"{name}.su").read_text().splitlines()]
    assert {kind for *_, kind in usage} == {"static"}
    frames = {place.rpartition(":")[2]: int(size) for place, size, _ in usage}
    symbols = frozenset(line.split()[-1] for line in _done(["arm-none-eabi-nm", "run.elf"], folder).splitlines())
    return Ran(outputs, code, max(whole - code - main, 0), frames, lines[-1][0], symbols)


def _main(law, name, rows, columns, results) -> str:
    keeps = bool(law.blocks)
    arguments, offset = [], 0
    for values in rows.values():
        shape = np.shape(values)[1:]
        arguments.append(f"row + {offset}" if shape else f"row[{offset}]")
        offset += int(np.prod(shape, dtype=int))
    outputs = [f"{port}_now" for port in results]
    call = ", ".join([*(["&state"] if keeps else []), *arguments, *outputs])
    values = ",".join("{" + ",".join(f"{word}u" for word in row) + "}" for row in
                      np.ascontiguousarray(columns).view(np.uint32).tolist())
    say = "".join(f"say({each}, {size}); " for each, size in zip(outputs, results.values(), strict=True))
    words = {
        "law": name, "rows": str(len(columns)), "width": str(columns.shape[1]), "values": values,
        "state": f"{name}_state state;\n    {name}_init(&state);" if keeps else "",
        "outputs": " ".join(f"float {each}[{size}];" for each, size in zip(outputs, results.values(), strict=True)),
        "call": f"{name}_step({call});" if keeps else f"{name}({call});",
        "say": say + (f"say(&state, {law.layout.size});" if keeps else "")}
    text = START
    for word, meaning in words.items():
        text = text.replace(f"@{word}@", meaning)
    return text


def _done(command, folder) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder, timeout=60)
    assert done.returncode == 0, f"{command[0]}: {done.stderr or done.stdout}"
    return done.stdout
