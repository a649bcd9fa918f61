# SPDX-License-Identifier: MIT
"""Other threads run while records are read, written and verified."""

import pytest

from processes import run_script

# With this switch interval, a thread runs until it waits or releases the GIL itself. So the other
# thread, which is always ready to run, runs only while the tested call releases the GIL. A short
# call, such as a sync of a file system in memory, may return before the other thread wakes up.
SCRIPT = """
    sys.setswitchinterval(1000)
    turns = [0]

    def other():
        while True:
            turns[0] += 1
            time.sleep(0)

    data = np.zeros((64, 1 << 16), np.uint8)
    texts = [bytes(1 << 16)] * 64
    path = {path!r}
    writer = lx.create(path, {{'data': lx.Field('uint8', 1 << 16), 'text': lx.Field(bytes)}},
                       durability='none', executor=lx.Executor(readers=1))
    writer.extend(data=data, text=texts)
    writer.commit()
    dataset = lx.open(path, verify='always')
    out = {{'data': np.empty((64, 1 << 16), np.uint8)}}
    threading.Thread(target=other, daemon=True).start()

    def call():
        {call}

    end = time.monotonic() + {seconds}
    before = turns[0]
    while turns[0] == before:
        if time.monotonic() > end:
            sys.exit('no other thread ran')
        before = turns[0]
        call()
    writer.close()
"""


def let_go(path, call, seconds):
    run_script(SCRIPT.format(path=str(path / 'd'), call=call, seconds=seconds))


@pytest.mark.parametrize('call', [
    'dataset.gather(range(64), out=out)',
    "dataset['text'][:]",
    'dataset.verify()',
    'lx.open(path)',
    'writer.extend(data=data, text=texts)',
    'writer.sync()',
])
def test_releases_the_gil(tmp_path, call):
    let_go(tmp_path, call, 100)


def test_the_switch_interval_excludes_other_threads(tmp_path):
    """Test the test: it detects a call that holds the GIL."""
    with pytest.raises(AssertionError, match='no other thread ran'):
        let_go(tmp_path, 'sum(range(1000))', 1)
