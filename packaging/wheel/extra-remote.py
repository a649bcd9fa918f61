# SPDX-License-Identifier: MIT
"""Remote datasets for libloaderx: https:// and s3://

The package only contains a library, which libloaderx finds by itself. Certificates are those of the
system.
"""
