# SPDX-License-Identifier: MIT
"""loaderx works without torch, and importing loaderx.torch reports that torch is missing."""

from processes import run_script


def test_loaderx_does_not_import_torch():
    run_script("""
        import sys
        import loaderx
        assert 'torch' not in sys.modules
    """)


def test_names_torch_if_it_is_missing():
    run_script("""
        import sys
        sys.modules['torch'] = None
        try:
            import loaderx.torch
        except ImportError as error:
            assert 'PyTorch' in str(error) and error.name == 'torch', error
        else:
            raise AssertionError('torch is absent')
        import loaderx
        assert len(loaderx.TorchRandom(n=5)) == 5
    """)
