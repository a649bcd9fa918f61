# SPDX-License-Identifier: MIT
"""A network of hosts far from their server, on this machine, for tests and measurements.

Each host is a network namespace, and a `wan` links it to the namespace of the server; nothing else
can be reached from them. Namespaces have no names, so that nothing stays: each belongs to a process
that ends when its stdin does, also when this process is killed. The kernel then kills what runs in
the namespace, and removes it.

    with Network(hosts=1, delay=10, rate=1000) as network:
        network.server.start(['python3', '-m', 'http.server', '--bind', network.server.address])
        network.hosts[0].run(['curl', f'http://{network.server.address}:8000/'])
        network.hosts[0].link.set(loss=1)
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Sequence
from typing import Any, NamedTuple

PATIENCE = 60    # seconds for what takes milliseconds, unless the machine is busy
MTU = 9000
TOOLS = 'ip', 'nsenter', 'setpriv', 'unshare'    # iproute2 and util-linux


class Unavailable(Exception):
    """Says why this machine cannot have such a network: a reason to skip a test."""


class Counts(NamedTuple):
    """What a link did: bytes to the server and from it, and packets that it dropped."""

    sent: int
    received: int
    lost: int
    overflowed: int


class Space:
    """A namespace of a network and of processes, in which commands run."""

    def __init__(self, address: str, enter: Sequence[str] = ()) -> None:
        self.address = address
        self.processes: list[subprocess.Popen[Any]] = []
        self.holder = subprocess.Popen(
            [*enter, 'unshare', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c',
             'ip link set lo up && echo ready && exec cat'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.holder.stdout and self.holder.stderr
        if self.holder.stdout.readline() != 'ready\n':
            raise Unavailable(f'no network namespace: {self.holder.stderr.read().strip()}')
        self.file = f'/proc/{self.holder.pid}/ns/net'
        # The command is a child of nsenter, and is killed with it.
        self.enter = [*enter, 'nsenter', f'--net={self.file}',
                      f'--pid=/proc/{self.holder.pid}/ns/pid_for_children',
                      'setpriv', '--pdeathsig', 'KILL']

    def start(self, command: Sequence[str], **options: Any) -> subprocess.Popen[Any]:
        """Start a command, which close() kills. Of signals, it receives only SIGKILL."""
        process = subprocess.Popen([*self.enter, *command], **options)
        self.processes.append(process)
        return process

    def run(self, command: Sequence[str], timeout: float = 60, **options: Any) -> str:
        """Return what a command prints; it must succeed."""
        with self.start(command, stdout=subprocess.PIPE, text=True, **options) as process:
            try:
                printed, _ = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        self.processes.remove(process)
        if process.returncode != 0:
            raise subprocess.CalledProcessError(process.returncode, list(command), printed)
        return str(printed)

    def close(self) -> None:
        assert self.holder.stdin
        with self.holder:
            self.holder.stdin.close()
            for process in self.processes:    # before the holder, which waits until they are gone
                process.wait()


class Link:
    """A `wan` between a host and the server."""

    def __init__(self, program: pathlib.Path, enter: Sequence[str], host: Space, server: Space,
                 device: str) -> None:
        self.process = subprocess.Popen(
            [*enter, str(program), host.file, device, server.file, device], bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert self.process.stdout and self.process.stderr
        if self.process.stdout.readline() != 'ready\n':
            raise Unavailable(f'no link: {self.process.stderr.read().strip()}')
        for here, there in (host, server), (server, host):
            here.run(['ip', 'link', 'set', device, 'addrgenmode', 'none'])    # no packet of its own
            here.run(['ip', 'address', 'add', here.address, 'peer', there.address, 'dev', device])
            here.run(['ip', 'link', 'set', device, 'mtu', str(MTU), 'txqueuelen', '10000', 'up'])

    def set(self, **settings: float) -> Counts:
        """Change settings of both directions, which are those of wan.c:

        delay (ms in one direction), rate (Mbit/s, 0: not limited), queue (KiB that wait for the
        rate), loss (a probability), seed (of the losses), and pause (1: deliver nothing until 0).
        """
        for name, value in settings.items():
            self._tell(f'{name} {value:.12g}')
        return self.count()

    def count(self) -> Counts:
        """Return what the link did until now."""
        return Counts(*map(int, self._tell('').split()))

    def _tell(self, line: str) -> str:
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(line + '\n')
        answer = self.process.stdout.readline()
        if not answer[:1].isdigit():
            raise ValueError(answer.strip() or 'the link has ended')
        return answer

    def close(self) -> None:
        self.process.communicate()    # closes its stdin


class Host(Space):
    """A machine with a link to the server."""

    link: Link


class Network:
    """Hosts, each with a link of its own to one server.

    Parameters
    ----------
    hosts
        Their number.
    settings
        Those of Link.set(), for all links.

    Raises
    ------
    Unavailable
        If this machine lacks a program or a permission.
    """

    def __init__(self, hosts: int = 1, **settings: float) -> None:
        self.hosts: list[Host] = []
        program = find_wan()
        for tool in TOOLS:
            if shutil.which(tool) is None:
                raise Unavailable(f'{tool} is not installed')
        self.user: Space | None = None
        try:
            enter: list[str] = []
            if os.geteuid() != 0:    # a namespace of users in which this one is root
                self.user = Space('', ['unshare', '--user', '--map-root-user'])
                enter = ['nsenter', '--preserve-credentials',
                         f'--user=/proc/{self.user.holder.pid}/ns/user']
            self.server = Space('10.77.0.1', enter)
            for number in range(hosts):
                host = Host(f'10.77.1.{number + 1}', enter)
                self.hosts.append(host)
                host.link = Link(program, enter, host, self.server, f'wan{number}')
                host.link.set(**settings)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Kill what runs in the network, and remove it."""
        for host in self.hosts:
            if hasattr(host, 'link'):
                host.link.close()
        for space in (*self.hosts, getattr(self, 'server', None), self.user):
            if space is not None:
                space.close()

    def __enter__(self) -> Network:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def find_wan() -> pathlib.Path:
    """Return the program that links, which `make check` builds."""
    program = pathlib.Path(os.environ.get('top_builddir', '.')).resolve() / 'tests/remote/wan'
    if not program.exists():
        raise Unavailable(f'{program} does not exist; make tests/remote/wan')
    return program
