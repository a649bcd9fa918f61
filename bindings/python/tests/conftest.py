# SPDX-License-Identifier: MIT
"""Lets random examples take any time: other work on the machine must not fail a test."""

try:
    from hypothesis import HealthCheck, settings
except ImportError:    # the tests that need it are skipped
    pass
else:
    settings.register_profile('any time', deadline=None,
                              suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile('any time')
