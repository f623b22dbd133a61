// Loops over rows of states: functions of Pinocchio in C++, and C that was generated from them. A row is (q, v, a or tau).

#include "pinocchio_model.hpp"

#include <pinocchio/algorithm/aba-derivatives.hpp>
#include <pinocchio/algorithm/aba.hpp>
#include <pinocchio/algorithm/crba.hpp>
#include <pinocchio/algorithm/rnea-derivatives.hpp>
#include <pinocchio/algorithm/rnea.hpp>

namespace {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

struct Robot {
    pinocchio::Model model;
    pinocchio::Data data;
    Matrix parts[3];

    explicit Robot(const pinocchio::Model& model) : model(model), data(model) {
        for (auto& part : parts) part = Matrix::Zero(model.nv, model.nv);
    }
};

struct Atomics {  // of generated code that calls others: none here
    void* model = nullptr;
    void* forward = nullptr;
    void* reverse = nullptr;
};

}  // namespace

extern "C" {

Robot* new_robot(int joints, const int* parents, const int* kinds, const double* placements, const double* inertias) {
    return new Robot(new_model(joints, parents, kinds, placements, inertias));
}

// number: 0 rnea, 1 aba, 2 crba, 3 computeRNEADerivatives, 4 computeABADerivatives; matrices are written by columns
void run_plain(Robot* robot, int number, const double* x, int inputs, double* y, int outputs, int count) {
    auto& [model, data, parts] = *robot;
    const int nq = model.nq, nv = model.nv;
    for (int k = 0; k < count; ++k, x += inputs, y += outputs) {
        const Eigen::Map<const Vector> q(x, nq), v(x + nq, nv), a(x + nq + nv, nv);
        switch (number) {
            case 0: Eigen::Map<Vector>(y, nv) = pinocchio::rnea(model, data, q, v, a); break;
            case 1: Eigen::Map<Vector>(y, nv) = pinocchio::aba(model, data, q, v, a); break;
            case 2: Eigen::Map<Matrix>(y, nv, nv) = pinocchio::crba(model, data, q); break;
            case 3: pinocchio::computeRNEADerivatives(model, data, q, v, a, parts[0], parts[1], parts[2]); break;
            case 4: pinocchio::computeABADerivatives(model, data, q, v, a, parts[0], parts[1], parts[2]); break;
        }
        for (int part = 0; number > 2 && part < 3; ++part)
            Eigen::Map<Matrix>(y + part * nv * nv, nv, nv) = parts[part];
    }
}

void run_generated(void (*f)(const double* const*, double* const*, Atomics), const double* x, int inputs, double* y,
                   int outputs, int count) {
    for (int k = 0; k < count; ++k, x += inputs, y += outputs) f(&x, &y, Atomics());
}
}
