# SPDX-License-Identifier: MIT
"""Processes that tokenize blocks and return the results in order."""

from __future__ import annotations

import collections
import os
import pickle
import queue
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Deque, Iterable, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from ..errors import LoaderxError
from ._inputs import Block
from ._texts import BadText, encode
from ._tokenizer import Encoder, load

__all__ = ['Pool', 'Setup', 'serve']

Encoded = Tuple['np.ndarray[Any, Any]', 'np.ndarray[Any, Any]']


class Setup(NamedTuple):
    """The settings of a tokenizer process."""

    tokenizer: str    # as JSON
    end: Optional[int]
    special: bool
    errors: str
    dtype: str

    def encoder(self) -> Encoder:
        from tokenizers import Tokenizer
        return Encoder(load(Tokenizer.from_str(self.tokenizer)), self.end, self.special)


def run(setup: Setup, encoder: Encoder, key: Optional[str], data: List[Any]) -> Encoded:
    """Return the tokens of a block, in the dtype to store, and the number of tokens per text."""
    tokens, lengths = encode(encoder, data, key, setup.errors)
    largest = int(tokens.max(initial=0))
    if largest > np.iinfo(setup.dtype).max:
        raise LoaderxError(f"the tokenizer's post-processor adds token {largest}, which "
                           f'does not fit in {setup.dtype}: choose a different dtype')
    return tokens.astype(setup.dtype), lengths


class Pool:
    """A pool of processes, each with a thread that waits for results.

    With 0 processes, a thread of this process tokenizes. A tokenizer uses many threads, but a batch
    takes as long as its longest text, and the results are converted to Python objects sequentially.
    Separate processes have neither limitation.

    A new process starts when all existing processes are busy. Each process exits when its pipe is
    closed, which happens when this process exits, if not before.
    """

    def __init__(self, setup: Setup, processes: int) -> None:
        self._setup = setup
        self._count = processes
        self._encoder = setup.encoder() if processes == 0 else None
        self._threads = ThreadPoolExecutor(processes or 1)
        self._idle: queue.SimpleQueue[subprocess.Popen[bytes]] = queue.SimpleQueue()
        self._all: List[subprocess.Popen[bytes]] = []
        self._closed = False

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *details: object) -> None:
        """Kill the processes immediately."""
        self._closed = True
        for process in self._all:
            process.kill()
        self._threads.shutdown(wait=True, cancel_futures=True)
        for process in self._all:
            process.kill()    # for processes that have just been started
            process.wait()
            for pipe in process.stdin, process.stdout:
                if pipe is not None:
                    try:
                        pipe.close()
                    except OSError:
                        pass    # some blocks have not been sent

    def map(self, blocks: Iterable[Block]) -> Iterator[Tuple[Block, Encoded]]:
        """Yield each block with its tokens; up to two blocks per process are in progress."""
        waiting: Deque[Tuple[Block, Future[Encoded]]] = collections.deque()
        for block in blocks:
            waiting.append((block, self._threads.submit(self._tokenize, block)))
            if len(waiting) > 2 * self._count:
                yield self._result(*waiting.popleft())
        while waiting:
            yield self._result(*waiting.popleft())

    @staticmethod
    def _result(block: Block, future: Future[Encoded]) -> Tuple[Block, Encoded]:
        try:
            return block, future.result()
        except BadText as error:
            raise block.texts[error.number].make_error(error.message, error.at) from None

    def _tokenize(self, block: Block) -> Encoded:
        data = [text.data for text in block.texts]
        if self._encoder is not None:
            return run(self._setup, self._encoder, block.key, data)
        process = self._find()
        try:
            made = _request(process, (block.key, data))
        finally:
            self._idle.put(process)
        if isinstance(made, BaseException):
            raise made
        return made    # type: ignore[no-any-return]

    def _find(self) -> subprocess.Popen[bytes]:
        try:
            return self._idle.get_nowait()
        except queue.Empty:
            pass
        if self._closed:
            raise LoaderxError('tokenization was stopped')
        process = _start()
        self._all.append(process)
        _send(process, self._setup)
        return process


# ---- one process


def _start() -> subprocess.Popen[bytes]:
    """Start a process that has our import path, and that Ctrl-C does not interrupt."""
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(os.path.abspath, sys.path)),
                   'TOKENIZERS_PARALLELISM': 'false'}
    script = 'from loaderx.tokenize._pool import serve; serve()'
    return subprocess.Popen([sys.executable, '-c', script], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, env=environment, start_new_session=True)


def _send(process: subprocess.Popen[bytes], what: Any) -> None:
    assert process.stdin is not None
    try:
        pickle.dump(what, process.stdin, pickle.HIGHEST_PROTOCOL)
        process.stdin.flush()
    except BrokenPipeError:
        raise _lost(process) from None


def _request(process: subprocess.Popen[bytes], what: Any) -> Any:
    assert process.stdout is not None
    _send(process, what)
    try:
        return pickle.load(process.stdout)
    except (EOFError, pickle.UnpicklingError):
        raise _lost(process) from None


def _lost(process: subprocess.Popen[bytes]) -> LoaderxError:
    status = process.wait()
    how = f'was killed by signal {-status}' if status < 0 else f'exited with status {status}'
    return LoaderxError(f'a tokenizer process {how}: if memory ran out, use fewer '
                        'processes')


def serve() -> None:
    """Tokenize blocks until the pipe is closed: the main function of a tokenizer process."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), 'wb')
    os.dup2(2, 1)    # keep the library's output out of the replies
    try:
        setup: Setup = pickle.load(requests)
        encoder = setup.encoder()
        while True:
            key, data = pickle.load(requests)
            try:
                made: Any = run(setup, encoder, key, data)
            except (BadText, LoaderxError, MemoryError) as error:
                made = error
            except BaseException as error:    # a panic in the library cannot be pickled
                made = LoaderxError(f'the tokenizer failed: {error!r}')
            pickle.dump(made, replies, pickle.HIGHEST_PROTOCOL)
            replies.flush()
    except (EOFError, BrokenPipeError, pickle.UnpicklingError):
        os._exit(0)    # the parent process has ended
