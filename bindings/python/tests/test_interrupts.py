# SPDX-License-Identifier: MIT
"""Signals whose handlers raise while next() waits for a batch must not lose the batch."""

import textwrap

import pytest

from processes import run_script

HEAD = """
    main = threading.main_thread().ident
    waiting = threading.Semaphore(0)
    interrupts, kept, inside, transforming = 0, False, False, False

    def raise_inside(number, frame):
        if inside:
            raise KeyboardInterrupt

    # Interrupts the call of next that waits for this batch, just before the batch is there.
    def transform(batch):
        global transforming
        is_main = threading.get_ident() == main
        transforming = transforming or is_main
        try:
            interrupt_main(is_main)
        finally:
            transforming = transforming and not is_main
        return batch['label'][0]

    def interrupt_main(is_main):
        if waiting.acquire(timeout=0.1):
            time.sleep(0.003)    # the main thread waits now; or leaves the next batch to the other
            if not is_main:
                signal.pthread_kill(main, signal.SIGINT)

    def wait_for_one(loader):
        global interrupts, kept, inside
        while waiting.acquire(blocking=False):
            pass
        if not kept:
            waiting.release()
        kept, inside = False, True
        try:
            return [next(loader)]
        except KeyboardInterrupt:
            interrupts += 1
            kept = True
            return []
        finally:
            inside = False

    signal.signal(signal.SIGINT, raise_inside)
    loader = lx.Loader({'label': np.arange(400)}, batch_size=4, threads=1, transform=transform,
                       prefetch_bytes=256)
"""
END = list(range(0, 400, 4))


def run(text):
    return run_script(textwrap.dedent(HEAD) + textwrap.dedent(text))


def test_the_next_call_returns_the_batch_of_an_interrupted_one():
    run(f"""
        got = []
        while loader.tell() < 400:
            got += wait_for_one(loader)
            assert loader.tell() == 4 * len(got)
        assert got == {END}, got
        assert interrupts > 10, interrupts
    """)


def test_a_state_describes_the_batch_as_not_returned():
    run(f"""
        got = []
        while loader.tell() < 200:
            got += wait_for_one(loader)
            state = loader.state_dict()
            assert state['position'] == 4 * len(got)
        loader.close()
        loader = lx.Loader({{'label': np.arange(400)}}, batch_size=4,
                           transform=lambda batch: batch['label'][0])
        loader.load_state_dict(state)
        assert got + list(loader) == {END}
    """)


def test_the_rest_of_the_pass_has_the_batch():
    run(f"""
        got, rest = [], iter(loader)
        while loader.tell() < 400:
            got += wait_for_one(loader)
            if loader.tell() == 396 and interrupts:
                got += list(rest)
        assert got == {END}, got
    """)


def test_a_new_loop_gets_the_first_batch():
    run(f"""
        while wait_for_one(loader):
            loader.set_epoch(0)
        got = list(loader)
        assert interrupts == 1 and got == {END}, got
    """)


@pytest.mark.parametrize('action', ['loader.seek(0)', 'loader.close()', 'del loader; gc.collect()'])
def test_drops_an_untaken_batch(action):
    run(f"""
        while not interrupts:
            wait_for_one(loader)
        {action}
        if 'loader' in globals() and not loader.closed:
            assert next(loader) == 0
    """)


def test_a_handler_can_take_the_batch():
    run("""
        def handler(number, frame):
            if not transforming:    # on a busy machine, the main thread may transform another batch
                inner.append(next(loader))

        inner, got = [], []
        signal.signal(signal.SIGINT, handler)
        while loader.tell() < 396:
            got += wait_for_one(loader)
        assert len(inner) > 10 and sorted(got + inner) == list(range(0, loader.tell(), 4))
    """)
