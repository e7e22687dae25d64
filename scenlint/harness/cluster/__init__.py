"""Trials on other machines: a Dask cluster's workers run them, and the driver here alone keeps the ledger.

`Cluster.run` stands in for `trial.run`. What a trial needs goes out as a `Parcel`, `errand` runs it there, and what it
produced comes back.
"""


class ClusterError(Exception):
    """The cluster that was named cannot be used; the message says why and what to do."""
