"""What the tests of sweeps and logs share: two workers, each a process of its own."""

import distributed
import pytest


@pytest.fixture(scope="session")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster, \
            distributed.Client(cluster) as client:
        yield client
