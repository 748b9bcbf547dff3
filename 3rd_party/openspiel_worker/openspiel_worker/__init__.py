"""Search by OpenSpiel as a worker."""
