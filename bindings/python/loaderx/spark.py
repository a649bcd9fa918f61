# SPDX-License-Identifier: MIT
"""Datasets written by Spark: each task of a job writes a part.

Only this module requires PySpark, in version 4.0 or newer, with pyarrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Iterator, List, Mapping, Optional

from . import _installation    # raises ImportError if another package has replaced ours
from .field import Field
from .parts import Part, PartJob

try:
    from pyspark import TaskContext as _TaskContext
    from pyspark.sql import datasource as _datasource
except ImportError as error:
    raise ImportError(f'loaderx.spark needs PySpark 4.0 or newer, with pyarrow ({error}): install '
                      "'pyspark[sql]>=4'", name=error.name) from None

__all__ = ['register']


def register(spark: Any, fields: Optional[Mapping[str, Field]] = None, **options: Any) -> None:
    """Make the format 'loaderx' known to a session, for writing.

    ``frame.write.format('loaderx').mode('append').save(url)`` then writes a dataset. Each task
    writes a part; the parts are in the order of the partitions. Attempts that fail and speculative
    ones do no harm. If the job fails, nothing is published.

    The only mode is 'append', although it appends to no dataset: there must be none at the URL.

    Parameters
    ----------
    spark : pyspark.sql.SparkSession
        The session.
    fields : dict of str to Field, optional
        All fields, by name; by default, those of the columns, with the types of `import_arrow`.
    **options
        Other arguments of `PartWriter`.

    Examples
    --------
    >>> loaderx.spark.register(spark, endpoint='https://s3.example.org')           # doctest: +SKIP
    >>> frame.write.format('loaderx').mode('append').save('s3://bucket/train')     # doctest: +SKIP
    """
    PartJob('', {'fields': fields, **options})    # checks the options
    spark.dataSource.register(type('DataSource', (_DataSource,), {
        'given': {'fields': fields, **options}}))


class _DataSource(_datasource.DataSource):
    """A destination; a subclass for each call of register() has its options."""

    given: Mapping[str, Any]

    @classmethod
    def name(cls) -> str:
        return 'loaderx'

    def writer(self, schema: Any, overwrite: bool) -> _Writer:
        unknown = [name for name in self.options if name.lower() != 'path']
        if unknown:
            raise ValueError(f'the option {unknown[0]!r} is unknown: pass it to '
                             'loaderx.spark.register()')
        if overwrite:
            raise ValueError("the mode 'overwrite' is not supported: others may read the dataset, so "
                             "write to another URL in the mode 'append'")
        job = PartJob(self.options['path'], self.given)
        job.check()
        return _Writer(job)


@dataclass
class _Message(_datasource.WriterCommitMessage):
    part: Part


class _Writer(_datasource.DataSourceArrowWriter):
    def __init__(self, job: PartJob) -> None:
        self.job = job

    def write(self, iterator: Iterator[Any]) -> _Message:
        """Write the batches of a task; Spark calls this in the task."""
        return _Message(self.job.write(_TaskContext.get().partitionId(), iterator))

    def commit(self, messages: List[Any]) -> None:
        """Publish the dataset; Spark calls this after the last task."""
        self.job.publish(message.part for message in messages)
