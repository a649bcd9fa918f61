# SPDX-License-Identifier: MIT
"""Settings for all tests."""

import multiprocessing
import os
import signal

# Random examples may take any time: other work on the machine must not fail a test.
try:
    from hypothesis import HealthCheck, settings
except ImportError:    # the tests that need it are skipped
    pass
else:
    settings.register_profile('any time', deadline=None,
                              suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile('any time')

# How worker processes of torch and Pools start; by default, as this version of Python starts them.
# `make start-methods` runs the tests that start some with each method.
if 'LOADERX_START_METHOD' in os.environ:
    multiprocessing.set_start_method(os.environ['LOADERX_START_METHOD'])
multiprocessing.set_forkserver_preload(['loaderx.torch'])    # imports torch only once

signal.signal(signal.SIGINT, signal.default_int_handler)    # a background job ignores it
