# SPDX-License-Identifier: MIT
"""The site: README, the guide, the documents of doc/, and the docstrings. `make site` builds it."""

import loaderx

# ---- what there is
project = 'libloaderx'
author = copyright = 'the libloaderx authors'
version = release = loaderx.__version__
root_doc = 'README'
include_patterns = ['README.md', 'RELEASING.md', 'CONTRIBUTING.md', 'SECURITY.md',
                    'doc/*.md', 'doc/guide/*.md', 'doc/site/*.md', 'doc/site/python/*.md',
                    'packaging/README.md']
extensions = ['myst_parser', 'sphinx.ext.autodoc', 'sphinx.ext.autosummary',
              'sphinx.ext.napoleon']

# The tables of contents, which Markdown lacks, in the order in which people read.
CONTENTS = {
    'Guide': ['install', 'getting-started', 'storing', 'torch', 'jax', 'c', 'changing', 'orders',
              'static-shapes', 'distributed', 'moving', 'performance', 'troubleshooting',
              'questions'],
    'Reference': ['/doc/site/python/index', '/doc/site/c', '/doc/zrecord-format', '/doc/orders',
                  '/doc/packing', '/doc/remote', '/doc/performance', '/doc/bindings',
                  '/doc/portability'],
    'Moving': ['/doc/from-torch', '/doc/from-original', '/doc/from-mxnet', '/doc/from-nanotron',
               '/doc/from-megatron'],
    'Development': ['/CONTRIBUTING', '/doc/architecture', '/doc/decisions', '/doc/commit-model',
                    '/RELEASING', '/packaging/README', '/SECURITY'],
}

# ---- how it is read
myst_heading_anchors = 3
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_member_order = 'bysource'
autodoc_typehints = 'none'    # docstrings have the types
suppress_warnings = ['ref.python']    # names that torch has, too
autodoc_mock_imports = ['jax', 'ray', 'pyspark', 'dask', 'tokenizers']

# ---- how it looks
html_theme = 'furo'
html_title = f'libloaderx {release}'
html_copy_source = False
html_show_sphinx = False


def add_contents(app, name, source):
    """Appends the tables of contents to the first page."""
    if name != root_doc:
        return
    for caption, pages in CONTENTS.items():
        paths = '\n'.join(page if page[0] == '/' else f'/doc/guide/{page}' for page in pages)
        source[0] += f'\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{paths}\n```\n'


def setup(app):
    app.connect('source-read', add_contents)
