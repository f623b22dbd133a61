// A model of Pinocchio from numbers.
#pragma once

#include <string>

#include <pinocchio/multibody.hpp>

// kinds: 0, 1, 2 turn about x, y, z, 3 floats; placements: 3 x 4 by rows; inertias: mass, centre, 3 x 3 about it
inline pinocchio::Model new_model(int joints, const int* parents, const int* kinds, const double* placements, const double* inertias) {
    pinocchio::Model model;
    for (int i = 0; i < joints; ++i) {
        const Eigen::Map<const Eigen::Matrix<double, 3, 4, Eigen::RowMajor>> T(placements + 12 * i);
        const pinocchio::SE3 placement(T.leftCols<3>(), T.col(3));
        const double* p = inertias + 13 * i;
        const pinocchio::Inertia inertia(p[0], Eigen::Vector3d(p[1], p[2], p[3]),
                                         Eigen::Map<const Eigen::Matrix3d>(p + 4));
        const std::string name = "joint" + std::to_string(i);
        pinocchio::JointIndex joint = 0;
        switch (kinds[i]) {
            case 0: joint = model.addJoint(parents[i], pinocchio::JointModelRX(), placement, name); break;
            case 1: joint = model.addJoint(parents[i], pinocchio::JointModelRY(), placement, name); break;
            case 2: joint = model.addJoint(parents[i], pinocchio::JointModelRZ(), placement, name); break;
            case 3: joint = model.addJoint(parents[i], pinocchio::JointModelFreeFlyer(), placement, name); break;
        }
        model.appendBodyToJoint(joint, inertia, pinocchio::SE3::Identity());
    }
    return model;
}
