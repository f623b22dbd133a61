"""Names for exported text that meet neither each other, nor what the user named, nor the words of a language.

A parameter may hide a function that is not called, so `gamma` and `index` stay as they are; a function may not be
called like any function that compilers know, declared or not."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import chain, count

from cayley.compiler.operations import OPERATIONS

_PREFIXES = ("t", "u", "v", "w", "x", "y", "z", "tmp", "temporary")


def free_prefix(taken: Iterable[str]) -> str:
    """A prefix such that no taken name is the prefix with a number after it, with or without an underscore between."""
    used = {match[1] for name in taken if (match := re.fullmatch(r"(.*?)_?[\d_]*", name))}
    candidates = chain(_PREFIXES, (f"temporary{'_x' * k}" for k in count(1)))
    return next(prefix for prefix in candidates if prefix not in used)


def unique(name: str, taken: Collection[str], mark: str = "_") -> str:
    """The name, with marks added until it is not taken."""
    while name in taken:
        name += mark
    return name


def identifier(name: str, reserved: Collection[str], taken: Collection[str] = ()) -> str:
    """The name as an identifier of C: letters spelled out in ASCII, no leading underscore, no reserved word, not taken.

    >>> identifier("θ", ()), identifier("<lambda>", ()), identifier("int", {"int"}), identifier("_x", ())
    ('theta', 'lambda', 'int_', 'v_x')
    """
    text = re.sub(r"\W+", "_", "".join(map(_ascii, name)),
                  flags=re.ASCII).strip("_" if not name.startswith("_") else " ")
    text = text if re.match(r"[A-Za-z]", text) else f"v{text}"
    return unique(text, {*reserved, *taken})


def _ascii(character: str) -> str:
    if character.isascii():
        return character
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or unicodedata.name(character, f"u{ord(character):x}").rpartition(" ")[2].lower()


_LANGUAGE = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class co_await
co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue decltype default
delete do double dynamic_cast else enum explicit export extern false float for friend goto if imaginary import inline
int long main module mutable namespace new noexcept noreturn not not_eq nullptr operator or or_eq private protected
public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast struct
switch template this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void
volatile wchar_t while xor xor_eq linux unix i386 NULL EOF I std
"""
_CUDA = """
threadIdx blockIdx blockDim gridDim warpSize half float2 float3 float4 double2 double3 double4 int2 int3 int4 dim3
"""
_CALLED = ("fmod", "copysign", "sincos", *{o.c_function for o in OPERATIONS.values() if o.c_function})
_MATHEMATICS = """
acosh asinh atanh cbrt ceil cosh drem erf erfc exp10 exp2 expm1 fdim fma fmax fmin frexp gamma ilogb j0 j1 jn ldexp
lgamma llrint llround log10 log1p log2 logb lrint lround modf nan nearbyint nextafter nexttoward pow pow10 remainder
remquo rint round scalb scalbln scalbn significand sinh tanh tgamma trunc y0 y1 yn
"""
_MACROS = """
HUGE_VAL HUGE_VALF HUGE_VALL INFINITY NAN FP_INFINITE FP_NAN FP_NORMAL FP_SUBNORMAL FP_ZERO FP_FAST_FMA FP_FAST_FMAF
FP_FAST_FMAL FP_ILOGB0 FP_ILOGBNAN MATH_ERRNO MATH_ERREXCEPT math_errhandling fpclassify isfinite isinf isnan isnormal
signbit isgreater isgreaterequal isless islessequal islessgreater isunordered finite signgam float_t double_t M_E
M_LOG2E M_LOG10E M_LN2 M_LN10 M_PI M_PI_2 M_PI_4 M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 MAXFLOAT
"""
_KNOWN = """
abort abs alloca bcmp bcopy bzero cabs cacos cacosh carg casin casinh catan catanh ccos ccosh cexp cimag calloc clog
conj cpow cproj creal csin csinh csqrt ctan ctanh dcgettext dgettext execl execle execlp execv execve execvp exit ffs
fork fprintf fputc fputs free fscanf fwrite gettext imaxabs index isalnum isalpha isascii isblank iscntrl isdigit
isgraph islower isprint ispunct isspace isupper iswalnum iswalpha iswblank iswcntrl iswdigit iswgraph iswlower
iswprint iswpunct iswspace iswupper iswxdigit isxdigit labs llabs malloc memchr memcmp memcpy memmove mempcpy memset
posix_memalign printf putc putchar puts realloc rindex scanf snprintf sprintf sscanf stpcpy stpncpy strcasecmp strcat
strchr strcmp strcpy strcspn strdup strfmon strftime strlen strncasecmp strncat strncmp strncpy strndup strnlen
strpbrk strrchr strspn strstr toascii tolower toupper towlower towupper vfprintf vfscanf vprintf vscanf vsnprintf
vsprintf vsscanf
"""


def _with_endings(words: Iterable[str]) -> list[str]:
    return [word + ending for word in words for ending in ("", "f", "l")]


FOR_PARAMETERS = frozenset([*_LANGUAGE.split(), *_CUDA.split(), *_MACROS.split(), *_with_endings(_CALLED)])
FOR_FUNCTIONS = FOR_PARAMETERS.union(_with_endings(_MATHEMATICS.split()), _KNOWN.split())
