# SPDX-License-Identifier: MIT
"""The network for tests and measurements delays, limits and loses what it is told to.

A delay and a rate make the shortest of several times at least so long. Their upper bounds only find
gross errors, because other work on this machine lengthens times.
"""

import os
import select
import signal
import subprocess
import sys

import pytest

from network import PATIENCE, Network, Unavailable
from nginx import Nginx, summarize

PORT = 5000

# Answers each line "NUMBER" with as many bytes, and counts the datagrams that it is sent.
SERVER = '''
import socket, sys, threading
def serve(connection):
    with connection, connection.makefile('rb') as lines:
        for line in lines:
            connection.sendall(bytes(int(line)))
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
print('ready', flush=True)
while True:
    threading.Thread(target=serve, args=[listener.accept()[0]]).start()
'''

# For each line "NUMBER" on stdin, asks for as many bytes, and prints how many seconds that took.
CLIENT = '''
import socket, sys, time
connection = socket.create_connection((sys.argv[1], int(sys.argv[2])))
print('ready', flush=True)
for line in sys.stdin:
    start, rest = time.perf_counter(), int(line)
    connection.sendall(line.encode())
    while rest > 0:
        rest -= len(connection.recv(min(rest, 1 << 20)))
    print(time.perf_counter() - start, flush=True)
'''

# Sends datagrams.
SENDER = '''
import socket, sys
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(int(sys.argv[3])):
    sender.sendto(bytes(100), (sys.argv[1], int(sys.argv[2])))
'''


def make_network(**settings):
    """A network with one host, or a skipped test."""
    try:
        return Network(1, **settings)
    except Unavailable as reason:
        pytest.skip(str(reason))


def start_python(space, code, *arguments):
    """Start a program in Python that says when it is ready."""
    process = space.start([sys.executable, '-c', code, *map(str, arguments)], text=True,
                          bufsize=1, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == 'ready\n'
    return process


class Client:
    """Fetches bytes from the server of a network."""

    def __init__(self, network):
        server = network.server
        start_python(server, SERVER, server.address, PORT)
        self.process = start_python(network.hosts[0], CLIENT, server.address, PORT)

    def ask(self, size):
        self.process.stdin.write(f'{size}\n')

    def wait(self):
        return float(self.process.stdout.readline())

    def fetch(self, size):
        """Fetch so many bytes, and return the seconds."""
        self.ask(size)
        return self.wait()


def test_delay():
    with make_network(delay=20) as network:
        client = Client(network)
        seconds = [client.fetch(1) for _ in range(20)]
        assert 0.040 <= min(seconds) < 2


def test_rate():
    with make_network(rate=200) as network:
        client = Client(network)
        seconds = [client.fetch(2_500_000) for _ in range(5)]
        assert 0.100 <= min(seconds) < 2    # 0.100 s are for payload alone
        network.hosts[0].link.set(rate=50)
        seconds = [client.fetch(625_000) for _ in range(5)]
        assert 0.100 <= min(seconds) < 2


def test_queue_is_bounded():
    with make_network(rate=100, queue=64) as network:
        client = Client(network)
        client.fetch(2_000_000)
        assert network.hosts[0].link.count().overflowed > 0


def test_loss_follows_the_seed():
    lost = []
    for _ in range(2):
        with make_network(loss=0.1, seed=7) as network:
            host = network.hosts[0]
            host.run([sys.executable, '-c', SENDER, '10.77.0.1', str(PORT), '2000'])
            lost.append(host.link.count().lost)
    assert 120 < lost[0] < 280    # of at least 2000: 6 standard deviations


def test_lost_packets_are_sent_again():
    with make_network(delay=1) as network:
        client, link = Client(network), network.hosts[0].link
        link.set(loss=0.02)
        assert client.fetch(1_000_000) > 0
        assert link.count().lost > 0


@pytest.mark.parametrize('silent, again', [({'pause': 1}, {'pause': 0}),
                                           ({'loss': 1}, {'loss': 0})])
def test_silence(silent, again):
    with make_network(delay=1) as network:
        client, link = Client(network), network.hosts[0].link
        client.fetch(1)
        link.set(**silent)
        before = link.count()
        client.ask(1)
        assert not select.select([client.process.stdout], [], [], 0.3)[0]
        assert link.count().received == before.received
        link.set(**again)
        client.wait()


def test_unknown_settings_are_refused():
    with make_network() as network:
        with pytest.raises(ValueError, match='not a setting: speed 1'):
            network.hosts[0].link.set(speed=1)
        with pytest.raises(ValueError, match='not a setting: rate -1'):
            network.hosts[0].link.set(rate=-1)


def test_only_the_server_can_be_reached():
    with make_network() as network:
        routes = network.hosts[0].run(['ip', '-o', 'route']).splitlines()
        assert len(routes) == 1 and routes[0].startswith('10.77.0.1 ')


# Two processes that print a line each, and end only if they are killed.
TWO = 'sh -c "echo; exec sleep 600" & echo; exec sleep 600'


def wait_for_line(pipe):
    assert select.select([pipe], [], [], PATIENCE)[0]
    assert pipe.readline() == b'\n'


def wait_for_end(*files):
    """Wait until all processes have ended that hold the other end of these pipes.

    The files can also be descriptors of processes. Neither finds other processes of this machine.
    """
    for file in files:
        assert select.select([file], [], [], PATIENCE)[0]
        assert isinstance(file, int) or file.read() == b''


def test_close_ends_what_commands_started():
    with make_network() as network:
        process = network.hosts[0].start(['sh', '-c', TWO], stdout=subprocess.PIPE, bufsize=0)
        wait_for_line(process.stdout)
        wait_for_line(process.stdout)
    wait_for_end(process.stdout)


def test_a_kill_ends_the_command():
    with make_network() as network:
        process = network.hosts[0].start(['sh', '-c', 'echo; exec sleep 600'],
                                         stdout=subprocess.PIPE, bufsize=0)
        wait_for_line(process.stdout)
        process.kill()    # nsenter, whose child is the command
        assert process.wait() == -signal.SIGKILL
        wait_for_end(process.stdout)


def test_nothing_outlives_a_kill():
    code = ('import sys, time\n'
            'from network import Network\n'
            'network = Network(1)\n'
            'network.hosts[0].start(["sh", "-c", sys.argv[1]])\n'
            'spaces = network.server, network.hosts[0]\n'
            'link = network.hosts[0].link.process\n'
            'print(link.pid, *[space.holder.pid for space in spaces], file=sys.stderr)\n'
            'time.sleep(600)\n')
    make_network().close()
    with subprocess.Popen([sys.executable, '-c', code, TWO], bufsize=0, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE,
                          env={**os.environ, 'PYTHONPATH': os.path.dirname(__file__)}) as process:
        started = [os.pidfd_open(int(pid)) for pid in process.stderr.readline().split()]
        wait_for_line(process.stdout)
        wait_for_line(process.stdout)
        assert len(started) == 3 and not select.select([process.stdout, *started], [], [], 0)[0]
        process.send_signal(signal.SIGKILL)
        wait_for_end(process.stdout, *started)
    for descriptor in started:
        os.close(descriptor)


# ---- nginx

@pytest.fixture(name='network')
def fixture_network():
    with make_network() as network:
        yield network


def start_nginx(network, folder, **options):
    folder.mkdir()
    try:
        return Nginx(network.server, folder, **options)
    except Unavailable as reason:
        pytest.skip(str(reason))


GET = '''
import sys, urllib.error, urllib.request
for wanted in sys.argv[2:]:
    request = urllib.request.Request(sys.argv[1], headers={'Range': f'bytes={wanted}'})
    try:
        with urllib.request.urlopen(request) as answer:
            print(answer.status, len(answer.read()))
    except urllib.error.HTTPError as error:
        print(error.code, 0)
'''


def get(network, url, *ranges):
    """Request ranges of a file, one after the other; return (status, bytes) of each."""
    printed = network.hosts[0].run([sys.executable, '-c', GET, url, *ranges])
    return [tuple(map(int, line.split())) for line in printed.splitlines()]


def test_log(network, tmp_path):
    (tmp_path / 'file').write_bytes(bytes(1000))
    server = start_nginx(network, tmp_path / 'server', root=tmp_path)
    assert get(network, server.url + '/file', '0-9', '10-29', '0-9', '2000-') == [
        (206, 10), (206, 20), (206, 10), (416, 0)]
    assert [(one.status, one.range) for one in server.requests()] == [
        (206, '0-9'), (206, '10-29'), (206, '0-9'), (416, '2000-')]
    traffic = summarize(server.requests()[:3])
    assert (traffic.requests, traffic.bytes, traffic.repeated) == (3, 40, 1)
    assert traffic.statuses == {206: 3}
    server.forget()
    assert get(network, server.url + '/file', '5-5') == [(206, 1)]
    assert [one.range for one in server.requests()] == ['5-5']


def test_limit(network, tmp_path):
    (tmp_path / 'file').write_bytes(bytes(10))
    server = start_nginx(network, tmp_path / 'server', root=tmp_path, limit=1)
    answers = get(network, server.url + '/file', *['0-0'] * 10)
    assert answers[0] == (206, 1) and (503, 0) in answers


def test_tier_fetches_a_slice_once(network, tmp_path):
    (tmp_path / 'file').write_bytes(bytes(1 << 22))
    origin = start_nginx(network, tmp_path / 'origin', root=tmp_path)
    tier = start_nginx(network, tmp_path / 'tier', origin=origin.url, port=8081)
    assert get(network, tier.url + '/file', '5-9', '100-199') == [(206, 5), (206, 100)]
    assert [one.range for one in origin.requests()] == ['0-1048575']


def test_a_killed_server_can_be_started_again(network, tmp_path):
    (tmp_path / 'file').write_bytes(bytes(10))
    server = start_nginx(network, tmp_path / 'first', root=tmp_path)
    server.close()
    server = start_nginx(network, tmp_path / 'second', root=tmp_path)
    assert get(network, server.url + '/file', '0-4') == [(206, 5)]
