# SPDX-License-Identifier: MIT
"""Properties of all subcommands: help, options, exit statuses, completion, manual pages."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

COMMANDS = ['import', 'export', 'copy', 'stat', 'card', 'get', 'verify', 'digest', 'diff', 'repair',
            'backup', 'push', 'pull', 'prune', 'join', 'checkpoint', 'rebalance', 'seal', 'unseal',
            'train', 'warm', 'plan', 'cache', 'bench', 'sample', 'blend', 'split', 'recordio', 'pack']
SOURCE = pathlib.Path(os.environ.get('top_srcdir', pathlib.Path(__file__).parents[2]))


def options_of_help(text):
    """Each option of a help text, with its argument."""
    found = re.findall(r'^ +(?:-\w, )?--([a-z-]+)(?: (\S+))?(?:  .*)?$', text, re.MULTILINE)
    return dict(found)


def options_of_page(name):
    """Each option of a manual page, with its argument."""
    text = (SOURCE / 'doc' / 'man' / '1' / f'{name}.1').read_text()
    found = {}
    for item in re.findall(r'^\.It Fl (.*)$', text, re.MULTILINE):
        words = item.replace(' Ns ', '').replace(' Ar ', ' ').replace('=Ar ', '=')
        match = re.search(r'-([a-z-]{2,})(?: (.*))?$', words)
        found[match.group(1)] = (match.group(2) or '').replace('Ar ', '').replace(' ', '')
    return found


def test_without_a_command_it_lists_the_commands(loaderx):
    done = loaderx()
    assert done.returncode == 2 and done.stdout == b''
    for command in COMMANDS:
        assert f'  {command} ' in done.stderr.decode()


@pytest.mark.parametrize('option', ['--help', '-h'])
def test_help(loaderx, option):
    assert re.findall(r'^  ([a-z]+) ', loaderx.text(option), re.MULTILINE) == COMMANDS


@pytest.mark.parametrize('option', ['--version', '-V'])
def test_version(loaderx, option):
    assert re.fullmatch(r'loaderx (\d+\.\d+\.\d+(-rc\d+)?) \(libloaderx \1\)\n',
                        loaderx.text(option))


@pytest.mark.parametrize('word', ['packs', 'exports', 'benchmark', '--nothing', ''])
def test_unknown_command(loaderx, word):
    done = loaderx(word)
    assert done.returncode == 2 and done.stdout == b''
    assert f"'{word}'; the commands are: import export" in done.stderr.decode()


@pytest.mark.parametrize('command', COMMANDS)
def test_help_of_a_command(loaderx, command):
    text = loaderx.text(command, '--help')
    assert text.startswith(f'Usage: loaderx {command} ')
    assert f'\nExamples:\n  loaderx {command} ' in text
    assert f'man loaderx-{command}\n' in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize('command', COMMANDS)
def test_manual_page_has_the_options_of_the_help(loaderx, command):
    helped = options_of_help(loaderx.text(command, '--help'))
    assert 'help' in helped
    assert options_of_page(f'loaderx-{command}') == helped


def test_manual_page_has_the_commands(loaderx):
    text = (SOURCE / 'doc' / 'man' / '1' / 'loaderx.1').read_text()
    assert re.findall(r'^\.It Cm (\w+)$', text, re.MULTILINE) == COMMANDS
    assert options_of_page('loaderx') == {'help': '', 'version': ''}


@pytest.mark.parametrize('arguments, message', [
    (['import', '--instead'], 'unknown option --instead'),
    (['import', '--files=F=x'], 'unknown option --files'),
    (['stat', '-x'], 'unknown option -x'),
    (['stat', '--json=1'], '--json does not take a value'),
    (['sample', '--length'], '--length requires a value: N'),
    (['sample', '--s', '1'], '--s is ambiguous'),
    (['stat'], 'DIR is missing'),
    (['stat', 'a', 'b'], "unexpected argument 'b'"),
    (['blend', 'x', '--set', 'a=5'], "unexpected argument 'x'"),
    (['split', 'x', '--length', '5'], "unexpected argument 'x'"),
    (['sample', 'x', '--length', '5'], "unexpected argument 'x'"),
])
def test_rejects_unknown_words(loaderx, arguments, message):
    done = loaderx(*arguments)
    assert done.returncode == 2 and done.stdout == b''
    first, second = done.stderr.decode().splitlines()
    assert first.startswith(f'loaderx {arguments[0]}: {message}')
    assert second == f"'loaderx {arguments[0]} --help' prints its arguments."


def test_accepts_options_anywhere_and_abbreviated(loaderx, images):
    assert loaderx.text('get', '--fie', 'label', 'images', '3') == '3\n'
    assert loaderx.text('get', 'images', '3', '--field=label') == '3\n'
    assert loaderx.text('get', '--field', 'label', '--', 'images', '-1') == '19\n'


def test_reports_output_that_cannot_be_written(loaderx, images):
    if not os.path.exists('/dev/full'):
        pytest.skip('/dev/full not found')
    with open('/dev/full', 'wb') as full:
        done = loaderx('get', 'images', ':', '--field', 'data', stdout=full)
    assert done.returncode == 1
    assert b'cannot write the output: No space left' in done.stderr


def test_a_closed_pipe_ends_it(loaderx, images):
    """It ends with SIGPIPE or a failure, instead of running forever."""
    running = loaderx.start('sample', '--length', '1000', '--count', str(2**62))
    running.stdout.read(100)
    running.stdout.close()
    assert running.wait(60) != 0
    running.stderr.close()


@pytest.mark.parametrize('command', ['stat', 'card', 'get', 'verify', 'seal'])
def test_rejects_other_than_datasets(loaderx, folder, command):
    index = ['0'] if command == 'get' else []
    (folder / 'file').write_text('x')
    (folder / 'empty').mkdir()
    assert 'nowhere: directory not found' in loaderx.fails(2, command, 'nowhere', *index)
    assert 'file: not a dataset' in loaderx.fails(2, command, 'file', *index)
    assert 'not a dataset' in loaderx.fails(2, command, 'empty', *index)
    assert list((folder / 'empty').iterdir()) == []


def complete(loaderx, *words):
    """The completions that bash offers for the last word."""
    bash = shutil.which('bash')
    if bash is None:
        pytest.skip('bash not found')
    script = f'''
        source '{SOURCE}/tools/completion/loaderx'
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _loaderx
        printf '%s\\n' "${{COMPREPLY[@]}}"
    '''
    done = subprocess.run([bash, '-c', script, 'bash', loaderx.command, *words],
                          cwd=loaderx.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60, env={**os.environ, 'HOME': str(loaderx.folder / 'home')})
    assert (done.returncode, done.stderr) == (0, b'')
    return done.stdout.decode().split()


def test_completion(loaderx, folder):
    (folder / 'images.gz').write_text('')
    (folder / 'images').mkdir()
    assert complete(loaderx, '') == ['--help', '--version', *COMMANDS]
    assert complete(loaderx, 'se') == ['seal']
    for command in COMMANDS:
        helped = options_of_help(loaderx.text(command, '--help'))
        assert complete(loaderx, command, '--') == [f'--{name}' for name in helped]
    assert complete(loaderx, 'sample', '--order', 's') == ['sequential', 'shuffle']
    assert complete(loaderx, 'sample', '--order', 'weighted-') == ['weighted-shuffle']
    assert complete(loaderx, 'stat', 'im') == ['images']
    assert sorted(complete(loaderx, 'import', 'd', '--idx', 'x', '=', 'im')) == ['images',
                                                                                 'images.gz']

    assert sorted(complete(loaderx, 'import', 'd', '--npy', 'x', '=')) == ['images', 'images.gz']
    assert complete(loaderx, 'import', 'd', '--idx', 'x', '=', 'f', '--compress', '') == ['x=']
    assert complete(loaderx, 'import', 'd', '--compress', 'x', '=', 'f') == ['flate']
    assert complete(loaderx, 'sample', '--seed', '') == []
    assert complete(loaderx, 'blend', '') == complete(loaderx, 'blend', '--set', 'x', '=') == []
    assert complete(loaderx, 'sample', '--set', '') == []
    assert complete(loaderx, 'split', '') == complete(loaderx, 'split', '--seed', '') == []
    assert complete(loaderx, 'split', '--out', 'im') == ['images']
    assert complete(loaderx, 'recordio', '') == ['index', 'ls', 'get', 'verify', 'merge']
    assert sorted(complete(loaderx, 'recordio', 'ls', 'im')) == ['images', 'images.gz']


def complete_in_fish(loaderx, *lines):
    """The completions that fish offers for the last word of each line."""
    fish = shutil.which('fish')
    if fish is None:
        pytest.skip('fish not found')
    script = f'''
        source '{SOURCE}/tools/completion/loaderx.fish'
        for line in $argv
            complete -C "loaderx $line"
            echo
        end
    '''
    path = f'{pathlib.Path(loaderx.command).parent}:{os.environ["PATH"]}'
    done = subprocess.run([fish, '--no-config', '-c', script, *lines], cwd=loaderx.folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60,
                          env={**os.environ, 'HOME': str(loaderx.folder / 'home'), 'PATH': path})
    assert (done.returncode, done.stderr) == (0, b'')
    found = [[]]
    for line in done.stdout.decode().splitlines():
        if line:
            found[-1].append(line.split('\t')[0])
        else:
            found.append([])
    return [set(words) for words in found[:-1]]


def test_completion_in_fish(loaderx, folder):
    (folder / 'images.gz').write_text('')
    (folder / 'images').mkdir()
    options = complete_in_fish(loaderx, *(f'{command} --' for command in COMMANDS))
    for command, offered in zip(COMMANDS, options):
        helped = options_of_help(loaderx.text(command, '--help'))
        assert offered == {f'--{name}' for name in helped}
    cases = {'': set(COMMANDS), 'sea': {'seal'}, 'recordio v': {'verify'},
             'sample --order seq': {'sequential'}, 'import d --on-bad s': {'skip', 'stop'},
             'stat im': {'images/'}, 'pack im': {'images/', 'images.gz'}, 'sample --seed ': set()}
    assert dict(zip(cases, complete_in_fish(loaderx, *cases))) == cases


def complete_in_zsh(loaderx, *words):
    """What our function of zsh hands to those of zsh: candidates, or the words of _arguments."""
    zsh = shutil.which('zsh')
    if zsh is None:
        pytest.skip('zsh not found')
    script = f'''
        _describe() {{ print -rl -- ${{(P)2}}; }}
        _arguments() {{ print -rl -- "$@"; }}
        words=("$@") CURRENT=$#
        source '{SOURCE}/tools/completion/_loaderx'
    '''
    done = subprocess.run([zsh, '-f', '-c', script, 'zsh', loaderx.command, *words],
                          cwd=loaderx.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, b'')
    return done.stdout.decode().splitlines()


def test_completion_in_zsh(loaderx):
    spec_of_zsh = re.compile(r'\*(--[a-z-]+)(\[.*?[^\\]\])?(?::((?:[^:\\]|\\.)*):.+)?$')
    assert [line.split(':')[0] for line in complete_in_zsh(loaderx, '')] == COMMANDS
    for command in COMMANDS:
        helped = options_of_help(loaderx.text(command, '--help'))
        specs = complete_in_zsh(loaderx, command, '')
        options = [spec_of_zsh.match(spec).groups() for spec in specs if spec.startswith('*--')]
        assert {name[2:]: (value or '').replace('\\', '') for name, _, value in options} == helped
        assert all(about for name, about, value in options if len(name + (value or '')) < 20)
    specs = complete_in_zsh(loaderx, 'sample', '')
    assert '*--weights-file[weighted, weighted-shuffle\\: an .npy file with a weight for each ' \
           'record]:FILE:_files' in specs
    assert specs[-1] == '*--help[print this help]'
    assert '*--exhausted:repeat|stop|redistribute:(repeat stop redistribute)' in specs
    assert complete_in_zsh(loaderx, 'stat', '')[-1] == '*:folder:_files -/'


def test_completion_of_fields(loaderx, folder, images):
    assert complete(loaderx, 'get', 'images', '0', '--field', '') == ['data', 'label']
    assert complete(loaderx, 'get', 'images/', '0', '--field', 'l') == ['label']
    assert complete(loaderx, 'copy', 'nowhere', 'images', '--field', 'd') == ['data']
    assert complete(loaderx, 'export', 'images', '--npy', '') == ['data=', 'label=']
    assert complete(loaderx, 'export', 'images', '--files', 'd') == ['data=']
    assert complete(loaderx, 'get', 'nowhere', '0', '--field', '') == []
    assert complete(loaderx, 'import', 'images', '--append', '--npy', 'x', '=', 'f',
                    '--compress', '') == ['data=', 'label=', 'x=']
    meta = folder / 'images' / 'meta.json'
    meta.write_text(json.dumps(json.loads(meta.read_text()), separators=(',', ':')))
    assert complete(loaderx, 'get', 'images', '0', '--field', '') == ['data', 'label']
    (folder / 'home').mkdir()
    (folder / 'images').rename(folder / 'home' / 'images')
    assert complete(loaderx, 'get', '~/images', '0', '--field', '') == ['data', 'label']
