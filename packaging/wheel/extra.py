# SPDX-License-Identifier: MIT
"""Packs one more library as a wheel of its own, for all versions of Python.

build-wheel copies this file and the package to a folder, and sets NAME, VERSION and LICENCE.
"""

import os

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel

NAME, VERSION = os.environ['NAME'], os.environ['VERSION']
package = f'libloaderx_{NAME}'
__doc__ = open(os.path.join(package, '__init__.py'), encoding='utf-8').read().split('"""')[1]


class Binary(Distribution):
    def has_ext_modules(self):
        return True    # so that it is installed beside libloaderx, also where pure packages are not


class Wheel(bdist_wheel):
    """A wheel for one platform, with nothing that depends on the version of Python."""

    def get_tag(self):
        return 'py3', 'none', self.plat_name


setup(name=f'libloaderx-{NAME}', version=VERSION, description=__doc__.splitlines()[0],
      long_description=__doc__, license=os.environ['LICENCE'], packages=[package],
      package_data={package: ['*', 'bin/*']}, python_requires='>=3.10',
      install_requires=[f'libloaderx=={VERSION}'],
      distclass=Binary, cmdclass={'bdist_wheel': Wheel}, zip_safe=False)
