// The C that CppADCodeGen makes of functions of Pinocchio, compiled by gcc into a library. It is not timed itself.

#include <string>

#include <cppad/cg.hpp>
#include <pinocchio/codegen/cppadcg.hpp>

#include "pinocchio_model.hpp"

// Its assertion that no template is instantiated fails in GCC 12 without any instance; it leaves GCC 11 alone.
#pragma push_macro("__GNUC__")
#undef __GNUC__
#define __GNUC__ 11
#include <pinocchio/constraints.hpp>
#pragma pop_macro("__GNUC__")

#include <pinocchio/codegen/cppadcg-algo.hpp>

namespace {

template <template <typename> class Kind>
struct Compiled : Kind<double> {
    Compiled(const pinocchio::Model& model, const std::string& library)
        : Kind<double>(model, "f", library) {
        this->build_jacobian = false;
        this->initLib();
        CppAD::cg::GccCompiler<double> compiler("/usr/bin/gcc");
        compiler.setCompileFlags({"-Ofast", "-march=native"});  // the first is what Pinocchio takes, too
        this->dynamicLibManager_ptr->createDynamicLibrary(compiler, false);
    }
};

}  // namespace

// number: 0 rnea, 1 aba, 2 crba, 3 computeRNEADerivatives, 4 computeABADerivatives
extern "C" void generate(int joints, const int* parents, const int* kinds, const double* placements,
                         const double* inertias, int number, const char* library) {
    const auto model = new_model(joints, parents, kinds, placements, inertias);
    switch (number) {
        case 0: Compiled<pinocchio::CodeGenRNEA>(model, library); break;
        case 1: Compiled<pinocchio::CodeGenABA>(model, library); break;
        case 2: Compiled<pinocchio::CodeGenCRBA>(model, library); break;
        case 3: Compiled<pinocchio::CodeGenRNEADerivatives>(model, library); break;
        case 4: Compiled<pinocchio::CodeGenABADerivatives>(model, library); break;
    }
}
