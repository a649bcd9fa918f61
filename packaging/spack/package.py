# SPDX-License-Identifier: MIT
from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
from spack_repo.builtin.build_systems.python import PythonExtension, PythonPipBuilder

from spack.package import *


class Libloaderx(AutotoolsPackage, PythonExtension):
    """Batches for training: a crash-safe store of records, orders that continue exactly after a
    stop, and a loader that prepares shuffled batches in advance."""

    license("MIT")

    # Without a checksum: it is built from an unpacked tarball, by `spack dev-build`.
    version("1.0.0-rc1")

    variant("libdeflate", default=True, description="Inflate two to three times as fast as zlib")
    variant("zstd", default=True, description="Compress values with zstd")
    variant("images", default=True, description="Decode and augment JPEG, PNG and WebP images")
    variant("remote", default=True, description="Read datasets from HTTP servers and S3 stores")
    variant("python", default=False, description="Install the Python package")

    depends_on("c", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("zlib-api")
    depends_on("libdeflate", when="+libdeflate")
    depends_on("zstd", when="+zstd")
    with when("+images"):
        depends_on("libjpeg-turbo")
        depends_on("libpng")
        depends_on("libwebp")
    depends_on("curl@7.88:", when="+remote")
    with when("+python"):
        extends("python")
        depends_on("python@3.10:", type=("build", "link", "run"))
        depends_on("py-numpy@1.24:", type=("build", "run"))
        depends_on("py-pip", type="build")
        depends_on("py-setuptools@61:", type="build")
        depends_on("py-wheel", type="build")

    def configure_args(self):
        return [
            "--without-systemtap",
            *self.with_or_without("libdeflate"),
            *self.with_or_without("zstd"),
            *self.with_or_without("images"),
            *self.with_or_without("curl", variant="remote"),
        ]

    def setup_build_environment(self, env: EnvironmentModifications) -> None:
        # The Python package is built against the installed libraries.
        env.prepend_path("PKG_CONFIG_PATH", join_path(self.prefix.lib, "pkgconfig"))

    @run_after("install", when="+python")
    def install_python(self):
        with working_dir(join_path(self.stage.source_path, "bindings", "python")):
            pip(*PythonPipBuilder.std_args(self), f"--prefix={self.prefix}", ".")
