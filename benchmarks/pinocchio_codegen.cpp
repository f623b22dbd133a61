// Pinocchio in C++ over rows of states, as it is and through CppADCodeGen, for benchmarks/strangers.py to call.
// A row of the input is (q, v, a or tau); the generated C is compiled by gcc with the flags that it is given.

#include <memory>
#include <string>
#include <vector>

#include <cppad/cg.hpp>
#include <pinocchio/codegen/cppadcg.hpp>
#include <pinocchio/multibody.hpp>

// Its assertion that no template is instantiated is met by GCC 12 without any instance; it leaves GCC 11 alone.
#pragma push_macro("__GNUC__")
#undef __GNUC__
#define __GNUC__ 11
#include <pinocchio/constraints.hpp>
#pragma pop_macro("__GNUC__")

#include <pinocchio/codegen/cppadcg-algo.hpp>

using Model = pinocchio::Model;
using Data = pinocchio::Data;
using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

// What all generated functions have in common, with its protected members opened.
struct Generated {
    virtual ~Generated() = default;
    virtual void operator()(const double* x, double* y) = 0;
};

template <template <typename> class Kind>
struct GeneratedAs : Generated, Kind<double> {
    GeneratedAs(const Model& model, const std::string& name, const std::string& flags)
        : Kind<double>(model, "f", name) {
        this->build_jacobian = false;
        this->initLib();
        this->compileLib("/usr/bin/gcc", flags);
        this->loadLib(false);
    }
    void operator()(const double* x, double* y) override {
        this->generatedFun_ptr->ForwardZero(
            CppAD::cg::ArrayView<const double>(x, this->getInputDimension()),
            CppAD::cg::ArrayView<double>(y, this->getOutputDimension()));
    }
};

struct Function {
    int number;
    Model model;
    Data data;
    Matrix parts[3];
    std::unique_ptr<Generated> generated;

    explicit Function(int number, const Model& model) : number(number), model(model), data(model) {
        for (auto& part : parts) part = Matrix::Zero(model.nv, model.nv);
    }

    void plain(const double* x, double* y) {
        const int nq = model.nq, nv = model.nv;
        const Eigen::Map<const Vector> q(x, nq), v(x + nq, nv), a(x + nq + nv, nv);
        switch (number) {
            case 0: Eigen::Map<Vector>(y, nv) = pinocchio::rnea(model, data, q, v, a); break;
            case 1: Eigen::Map<Vector>(y, nv) = pinocchio::aba(model, data, q, v, a); break;
            case 2: Eigen::Map<Matrix>(y, nv, nv) = pinocchio::crba(model, data, q); break;
            case 3: pinocchio::computeRNEADerivatives(model, data, q, v, a, parts[0], parts[1], parts[2]); break;
            case 4: pinocchio::computeABADerivatives(model, data, q, v, a, parts[0], parts[1], parts[2]); break;
        }
        if (number > 2)
            for (int k = 0; k < 3; ++k) Eigen::Map<Matrix>(y + k * nv * nv, nv, nv) = parts[k].transpose();  // by rows
    }
};

extern "C" {

// kinds: 0, 1, 2 turn about x, y, z, 3 floats; placements: 3 x 4 by rows; inertias: mass, centre, 3 x 3 about it
Model* new_model(int joints, const int* parents, const int* kinds, const double* placements, const double* inertias) {
    auto* model = new Model;
    for (int i = 0; i < joints; ++i) {
        const Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>> T(placements + 12 * i);
        const pinocchio::SE3 placement(T.leftCols<3>(), T.col(3));
        const double* p = inertias + 13 * i;
        const pinocchio::Inertia inertia(p[0], Eigen::Vector3d(p[1], p[2], p[3]),
                                         Eigen::Map<const Eigen::Matrix3d>(p + 4));
        const std::string name = "joint" + std::to_string(i);
        pinocchio::JointIndex joint = 0;
        switch (kinds[i]) {
            case 0: joint = model->addJoint(parents[i], pinocchio::JointModelRX(), placement, name); break;
            case 1: joint = model->addJoint(parents[i], pinocchio::JointModelRY(), placement, name); break;
            case 2: joint = model->addJoint(parents[i], pinocchio::JointModelRZ(), placement, name); break;
            case 3: joint = model->addJoint(parents[i], pinocchio::JointModelFreeFlyer(), placement, name); break;
        }
        model->appendBodyToJoint(joint, inertia, pinocchio::SE3::Identity());
    }
    return model;
}

// number: 0 rnea, 1 aba, 2 crba, 3 computeRNEADerivatives, 4 computeABADerivatives
Function* new_function(const Model* model, int number, const char* library, const char* flags) {
    auto* f = new Function(number, *model);
    switch (number) {
        case 0: f->generated = std::make_unique<GeneratedAs<pinocchio::CodeGenRNEA>>(*model, library, flags); break;
        case 1: f->generated = std::make_unique<GeneratedAs<pinocchio::CodeGenABA>>(*model, library, flags); break;
        case 2: f->generated = std::make_unique<GeneratedAs<pinocchio::CodeGenCRBA>>(*model, library, flags); break;
        case 3:
            f->generated = std::make_unique<GeneratedAs<pinocchio::CodeGenRNEADerivatives>>(*model, library, flags);
            break;
        case 4:
            f->generated = std::make_unique<GeneratedAs<pinocchio::CodeGenABADerivatives>>(*model, library, flags);
            break;
    }
    return f;
}

void run_plain(Function* f, const double* x, int inputs, double* y, int outputs, int count) {
    for (int k = 0; k < count; ++k) f->plain(x + k * inputs, y + k * outputs);
}

void run_generated(Function* f, const double* x, int inputs, double* y, int outputs, int count) {
    for (int k = 0; k < count; ++k) (*f->generated)(x + k * inputs, y + k * outputs);
}
}
