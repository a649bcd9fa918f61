# SPDX-License-Identifier: MIT
"""Checks that every link within the site leads somewhere.

    check_links.py FOLDER
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The places of a page that links can name, and the links that it has."""

    def __init__(self, path):
        super().__init__()
        self.places, self.links = set(), set()
        self.feed(path.read_text(encoding='utf-8'))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ('id', 'name'):
                self.places.add(value)
            elif name in ('href', 'src') and value:
                self.links.add(value)


def main():
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in folder.rglob('*.html')}
    count, broken = 0, []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists() or (parts.fragment and target in pages
                                       and unquote(parts.fragment) not in pages[target].places):
                broken.append(f'{path.relative_to(folder)}: {link}')
    print('\n'.join(sorted(broken)), end='\n' if broken else '')
    print(f'{len(pages)} pages, {count} links within the site, {len(broken)} broken')
    sys.exit(bool(broken))


main()
