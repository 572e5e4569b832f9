"""What is happening, in numbers: from the database, so that they are right for any number of processes."""

from approvals.metrics.exposition import CONTENT_TYPE, read
from approvals.metrics.tally import tally

__all__ = ["CONTENT_TYPE", "read", "tally"]
