"""Words that exported C must not use as names.

A parameter may hide a function that is not called, so `gamma` and `index` stay as they are; a function may not be
called like any function that compilers know, declared or not.
"""

from __future__ import annotations

from collections.abc import Iterable

from cayley.compiler.operations import OPERATIONS

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
