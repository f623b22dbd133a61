"""Costs of the methods of inverse dynamics, equation by equation: published figures, counted figures, compiled figures.

    >>> import cayley as cy
    >>> operations_by_equation("augmented-links", cy.load("s1_f4").tree)["5.3.45f"]
    Cost(multiplications=56, additions=48, divisions=0, functions=0)
"""

from cayley.dynamics.accounting import formulas as published
from cayley.dynamics.accounting.break_even import break_even, forward_figures, steps_that_pay
from cayley.dynamics.accounting.counted_run import (
    GENERAL,
    CountedRun,
    count_operations,
    generic_arm,
    nothing_idle,
    operations_by_equation,
    total,
)
from cayley.dynamics.accounting.counting_scalar import Cost, CountingScalar, Tape
from cayley.dynamics.accounting.formulas import Figures, Formula
from cayley.dynamics.accounting.operation_table import OperationTable, OperationTables
from cayley.dynamics.accounting.tables import (
    ALGORITHM_53,
    ALGORITHM_56,
    ALGORITHM_57,
    joint_kind_table,
    method_table,
    operation_tables,
    table_2,
    table_3,
    table_51,
    table_52,
    table_53,
    table_rules,
)

__all__ = [
    "ALGORITHM_53", "ALGORITHM_56", "ALGORITHM_57", "GENERAL", "Cost", "CountedRun", "CountingScalar", "Figures",
    "Formula", "OperationTable", "OperationTables", "Tape", "break_even", "count_operations", "forward_figures",
    "generic_arm", "joint_kind_table", "method_table", "nothing_idle", "operation_tables", "operations_by_equation",
    "published", "steps_that_pay", "table_2", "table_3", "table_51", "table_52", "table_53", "table_rules", "total"]
