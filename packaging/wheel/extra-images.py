# SPDX-License-Identifier: MIT
"""Images for libloaderx: JPEG, PNG and WebP

The package only contains a library, which libloaderx finds by itself, and the command.
"""
