# SPDX-License-Identifier: MIT
"""loaderx card, and the card in stat and copy."""

from arrays import values, write_idx


def make(loaderx, folder, name, *texts):
    loaderx.text('import', name, '--idx', 'x=' + write_idx(folder / 'x', values('uint8', (9, 4))))
    if texts:
        loaderx.text('card', name, '-q', *(f'--set={text}' for text in texts))


def card(loaderx, name):
    got = loaderx.json('card', name)
    assert got['path'] == name
    return got['card']


def test_set_and_remove(loaderx, folder):
    make(loaderx, folder, 'd')
    assert loaderx.text('card', 'd') == 'd: the card is empty\n' and card(loaderx, 'd') == {}
    loaderx.text('card', 'd', '-q', '--set', 'license=MIT', '--set', 'source=a=b', '--set', 'x=')
    assert card(loaderx, 'd') == {'license': 'MIT', 'source': 'a=b', 'x': ''}
    shown = loaderx.text('card', 'd', '--remove', 'license', '--remove', 'no', '--set', 'x=1\n2')
    assert shown == 'source       a=b\nx            1\n             2\n'
    assert loaderx.json('stat', 'd')['card'] == {'source': 'a=b', 'x': '1\n2'}
    assert loaderx.text('stat', 'd').endswith(shown)
    assert loaderx.json('verify', 'd')['records'] == 9


def test_control_characters_do_not_reach_the_terminal(loaderx, folder):
    make(loaderx, folder, 'd', 'x=a\x1b[2Jb\x7fc\x9bd\u00e4')
    assert loaderx.text('card', 'd') == 'x            a?[2Jb?c?d\u00e4\n'
    assert card(loaderx, 'd') == {'x': 'a\x1b[2Jb\x7fc\x9bd\u00e4'}


def test_a_copy_has_what_the_sources_have_in_common(loaderx, folder):
    make(loaderx, folder, 'a', 'license=MIT', 'source=a', 'more=1')
    make(loaderx, folder, 'b', 'license=MIT', 'source=b')
    loaderx.text('copy', 'a', 'one')
    assert card(loaderx, 'one') == {'license': 'MIT', 'source': 'a', 'more': '1'}
    loaderx.text('copy', 'a', 'b', 'both')
    assert card(loaderx, 'both') == {'license': 'MIT'}
    loaderx.text('copy', 'b', 'one', '--append')
    assert card(loaderx, 'one')['source'] == 'a'
    loaderx.text('backup', 'a', 'c')
    assert card(loaderx, 'c') == card(loaderx, 'a')


def test_errors(loaderx, folder):
    make(loaderx, folder, 'd', 'license=MIT')
    for options in ['--set', 'license'], ['--set', '=x'], ['--set', 'a b=x'], ['--remove', '/']:
        done = loaderx('card', 'd', '--set', 'license=other', *options)
        assert done.returncode == 2 and b'loaderx card: ' in done.stderr
    assert b'at most 65536' in loaderx('card', 'd', '--set', 'x=' + 'x' * 65536).stderr
    assert card(loaderx, 'd') == {'license': 'MIT'}
    loaderx.text('seal', 'd')
    assert b'unseal' in loaderx('card', 'd', '--set', 'a=b').stderr
    assert card(loaderx, 'd') == {'license': 'MIT'}
    assert loaderx('card').returncode == loaderx('card', 'none').returncode == 2
