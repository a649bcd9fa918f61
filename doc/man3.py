# SPDX-License-Identifier: MIT
"""Writes the manual pages of section 3 from Doxygen's XML.

    python3 man3.py XML SOURCE PAGES

XML is Doxygen's output for include/loaderx, SOURCE the top of the source tree, PAGES the directory
to fill. Each @defgroup of the headers becomes a page of its name, and each function and callback in
it an alias. PAGES/list names the files that were written; make installs and removes those.
"""

import pathlib
import re
import shutil
import sys
import textwrap
import xml.etree.ElementTree as ElementTree

BLOCKS = ('itemizedlist', 'orderedlist', 'programlisting', 'parameterlist', 'simplesect')
DELIMITERS = '.,:;)]?!'
# A page of another manual, and names of files, as they stand in plain text.
PAGE_NAME = re.compile(r'\b([a-zA-Z][\w.-]*)\(([1-8])\)')
FILE_NAME = re.compile(r'(LOG|LOCK|[\w./-]+\.(json|npy|zr|md|idx|bin|ds)|.*/.*)')


def macro(name, *words):
    """A macro line without its leading full stop; a word with spaces is one argument."""
    return ' '.join([name, *(f'"{word}"' if ' ' in word else word for word in words)])


def escape(text):
    """Plain text, of which roff takes nothing for a macro's name or an escape."""
    return ('\\&' if re.fullmatch('[A-Z][a-z]', text) else '') + text.replace('\\', '\\e')


class Page:
    """One page: the lines so far, and the words that wait to be laid out as lines."""

    def __init__(self, manual, group):
        self.manual = manual
        self.name = group.findtext('compoundname')
        self.lines = []
        self.words = []  # each a list of pieces without a space between them
        self.glued = False
        self.see = set()
        self.parameters = set()

    def piece(self, text, is_macro=False):
        if not self.glued:
            self.words.append([])
        self.words[-1].append((text, is_macro))
        self.glued = True

    def text(self, text):
        for place, part in enumerate(PAGE_NAME.split(text or '')):
            if place % 3 == 1:
                self.reference(part, self.section_after(text, part))
            elif place % 3 == 0:
                for word in re.split(r'(\s+)', part):
                    if word.isspace():
                        self.glued = False
                    elif word:
                        self.piece(escape(word))

    @staticmethod
    def section_after(text, name):
        return re.search(rf'\b{re.escape(name)}\(([1-8])\)', text)[1]

    def reference(self, name, section='3'):
        if name != self.name:
            self.see.add((section, name))
        self.piece(macro('Xr', name, section), True)

    def flush(self):
        """Lays out the words that wait: a line for each sentence and each macro."""
        line = ''
        for word in self.words:
            if any(is_macro for _, is_macro in word):
                if line:
                    self.lines.append(line)
                line = ''
                self.lines.append('.' + self.joined(word))
                continue
            plain = ''.join(text for text, _ in word)
            if line and len(line) + len(plain) > 95:
                self.lines.append(line)
                line = ''
            line = f'{line} {plain}' if line else ('\\&' if plain[0] in ".'" else '') + plain
            if re.search(r'[.?!][)"\']?$', plain) and plain not in ('e.g.', 'i.e.', '...', '..'):
                self.lines.append(line)
                line = ''
        if line:
            self.lines.append(line)
        self.words, self.glued = [], False

    @staticmethod
    def joined(word):
        """The macro line of a word: pieces of text before, between and behind its macros."""
        parts = []
        for place, (text, is_macro) in enumerate(word):
            if is_macro:
                parts.append(text if place == 0 or not word[place - 1][1] else 'Ns ' + text)
            elif place == 0:
                parts.append(macro('Pf', text))
            else:
                stem = text.rstrip(DELIMITERS) if place == len(word) - 1 else text
                parts += [macro('Ns No', stem)] if stem else []
                parts += list(text[len(stem):]) if place == len(word) - 1 else ['Ns']
        return ' '.join(parts)

    def line(self, *words):
        self.flush()
        self.lines.append('.' + macro(*words))

    def paragraph(self):
        self.flush()
        self.lines.append('.Pp')

    def finish(self):
        """The page as text, without the breaks of paragraphs that stand beside other breaks."""
        self.flush()
        if self.see - {('3', self.name)}:
            self.lines.append('.Sh SEE ALSO')
            ordered = sorted(self.see - {('3', self.name)})
            self.lines += [f'.Xr {name} {section} ,' for section, name in ordered]
            self.lines[-1] = self.lines[-1][:-2]
        text = '\n'.join(self.lines) + '\n'
        text = re.sub(r'(\.Pp\n)+', '.Pp\n', text)
        text = re.sub(r'^\.Pp\n(?=\.(It|El|Ss|Sh|Bd))', '', text, flags=re.M)
        text = re.sub(r'^\.Pp\n\Z', '', text, flags=re.M)
        return re.sub(r'(?<=\n)(\.(It|Ss|Sh)\b.*\n)\.Pp\n', r'\1', text)

    def name_of(self, name):
        """A name in the text: of a function, constant, type, parameter, header or file."""
        page = self.manual.pages.get(name)
        if name in self.manual.functions and page != self.name:
            self.reference(name)
            self.see.discard(('3', name))
            self.see.add(('3', page))
        elif name in self.manual.functions:
            self.piece(macro('Fn', name), True)
        elif name in self.parameters:
            self.piece(macro('Fa', name), True)
        elif re.fullmatch('LX_[A-Z0-9_]+|NULL|SIG[A-Z]+|E[A-Z]{3,}', name):
            self.piece(macro('Dv', name), True)
        elif page or name.startswith('lx_'):
            if page and page != self.name:
                self.see.add(('3', page))
            self.piece(macro('Vt', name), True)
        elif name.endswith('.h'):
            self.piece(macro('In', 'loaderx/' + name if '/' not in name else name), True)
        elif FILE_NAME.fullmatch(name):
            self.piece(macro('Pa', escape(name)), True)
        else:
            self.piece(macro('Ql', escape(name)), True)

    def inline(self, node):
        self.text(node.text)
        for child in node:
            self.element(child)
            self.text(child.tail)

    def element(self, node):
        words = ' '.join(''.join(node.itertext()).split())
        if node.tag == 'ref' and node.get('refid').startswith('group__') and node.get(
                'kindref') == 'compound':
            self.reference(node.get('refid')[len('group__'):].replace('__', '_'))
        elif node.tag in ('ref', 'computeroutput'):
            self.name_of(words.removesuffix('()').split('::')[-1])
        elif node.tag in ('emphasis', 'bold'):
            self.piece(macro('Em' if node.tag == 'emphasis' else 'Sy', *map(escape, words.split())), True)
        elif node.tag in ('itemizedlist', 'orderedlist'):
            self.paragraph()
            self.line('Bl', '-bullet' if node.tag == 'itemizedlist' else '-enum', '-compact')
            for item in node:
                self.line('It')
                self.inline(item)
            self.line('El')
        elif node.tag in ('programlisting', 'verbatim'):
            self.code(node)
        elif node.tag == 'parameterlist':
            self.parameter_list(node)
        elif node.tag == 'simplesect' and node.get('kind') == 'see':
            self.see |= {(section, name) for name, section in PAGE_NAME.findall(words)}
            names = re.findall(r'\blx_\w+\b(?!\(\d)', words)
            self.see |= {('3', self.manual.pages.get(name, name)) for name in names}
        elif node.tag == 'simplesect':
            self.paragraph()
            if node.get('kind') != 'return' or not self.has_statuses:
                title = node.findtext('title') or {'return': 'Returns'}.get(node.get('kind'), 'Note')
                self.line('Sy', *title.split(), ':')
            for part in node.findall('para'):
                self.inline(part)
            self.flush()
        elif node.tag == 'para':
            self.inline(node)
            self.paragraph()
        elif node.tag in ('mdash', 'ndash'):
            self.piece('\\(em' if node.tag == 'mdash' else '\\(en')
        elif node.tag not in ('sp', 'linebreak', 'anchor'):
            raise SystemExit(f'man3.py: {self.name}: it does not know <{node.tag}>')
        else:
            self.text(' ')

    def code(self, node):
        for space in node.iter('sp'):
            space.text = ' '
        self.paragraph()
        self.line('Bd', '-literal')
        rows = [''.join(row.itertext()) for row in node.iter('codeline')] or node.text.split('\n')
        for row in textwrap.dedent('\n'.join(rows)).strip('\n').split('\n'):
            self.lines.append(('\\&' if row[:1] in ('.', "'") else '') + escape(row))
        self.line('Ed')

    def parameter_list(self, node):
        is_status = node.get('kind') == 'retval'
        names = [item.findtext('parameternamelist/parametername') for item in node]
        self.paragraph()
        self.has_statuses |= is_status
        self.line('Sy', 'Returns' if is_status else 'Parameters', ':')
        self.line('Bl', '-tag', '-width', 'Ds' if is_status else max(names, key=len) + 'xx',
                  '-compact')
        for name, item in zip(names, node):
            self.line('It', 'Dv' if is_status else 'Fa', name)
            for part in item.find('parameterdescription'):
                self.inline(part)
        self.line('El')

    def describe(self, node):
        """The brief sentence and what follows it, which is one paragraph in the header."""
        self.has_statuses = False
        parts = [part for kind in ('briefdescription', 'detaileddescription')
                 for part in node.find(kind)]
        for place, part in enumerate(parts):
            self.inline(part)
            self.glued = False
            if place > 0 or len(part) > 0 and part[-1].tag in BLOCKS:
                self.paragraph()
        self.flush()

    def members(self, node, values):
        """The members of a struct, or the constants of an enum, as a tagged list."""
        self.paragraph()
        self.line('Bl', '-tag', '-width', 'Ds', '-compact')
        for member in values:
            if node.get('kind') == 'enum':
                value = member.findtext('initializer')
                self.line('It', 'Dv', member.findtext('name'), *(['No', value] if value else []))
            else:
                self.line('It', 'Vt', *declaration(member, member.findtext('name')).split())
            self.describe(member)
        self.line('El')


def declaration(node, name):
    """The type of a parameter, member or callback, with its name in its place."""
    kind = ''.join(node.find('type').itertext())
    after = node.findtext('array') or node.findtext('argsstring') or ''
    if kind.endswith('(*'):
        return f'{kind[:-2].rstrip()} (*{name}{after}'
    if '(*)' in kind:
        return re.sub(r' ?\(\*\)', f' (*{name})', kind)
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}{after}"


class Manual:
    """What Doxygen found in the headers: groups, and the page of each name in them."""

    def __init__(self, xml, source):
        self.libraries = {}
        for symbols in source.glob('lib/*/*.map'):
            module = next(symbols.parent.glob('*.pc.in')).name.removesuffix('.pc.in')
            for name in re.findall(r'\b(lx_\w+);', symbols.read_text()):
                self.libraries[name] = module
        # The date of the manual is that of loaderx(7), so that pages come out the same every day.
        self.date = re.search(r'\.Dd (.*)', (source / 'doc/man/7/loaderx.7').read_text())[1]
        compounds = [ElementTree.parse(path).getroot()[0] for path in sorted(xml.glob('*.xml'))
                     if path.name.startswith(('group__', 'struct'))]
        structs = {node.get('id'): node for node in compounds if node.get('kind') == 'struct'}
        self.groups, self.pages, self.functions = [], {}, set()
        for group in compounds:
            if group.get('kind') != 'group':
                continue
            members = list(group.iter('memberdef'))
            members += [structs[inner.get('refid')] for inner in group.findall('innerclass')]
            name = [node.findtext('name') or node.findtext('compoundname') for node in members]
            hidden = {n for n, node in zip(name, members) if node.get('kind') in ('struct', 'enum')}
            members = [node for n, node in zip(name, members)
                       if not (n in hidden and node.get('kind') == 'typedef')]
            members.sort(key=lambda node: (node.find('location').get('file'),
                                           int(node.find('location').get('line'))))
            self.groups.append((group, members))
            self.pages.update(dict.fromkeys(name, group.findtext('compoundname')))
            self.functions |= {node.findtext('name') for node in members if is_callable(node)}

    def page(self, group, members):
        page = Page(self, group)
        names = [node.findtext('name') for node in members if is_callable(node)]
        modules = {self.libraries[name] for name in names if name in self.libraries}
        page.lines = ['.\\" SPDX-License-Identifier: MIT',
                      '.\\" Written by doc/man3.py from the public headers; change those.',
                      f'.Dd {self.date}', f'.Dt {page.name.upper()} 3', '.Os libloaderx',
                      '.Sh NAME', *[f'.Nm {name} ,' for name in names[:-1]], f'.Nm {names[-1]}']
        title = group.findtext('title')
        page.line('Nd', *(title[0].lower() + title[1:]).split())
        if modules:
            page.lines.append('.Sh LIBRARY')
        for module in sorted(modules):
            page.lines += ['lib' + module, f'.Pq pkg-config {module}']
        page.lines.append('.Sh SYNOPSIS')
        for header in sorted({node.find('location').get('file') for node in members}):
            page.line('In', re.sub('.*include/', '', header))
        for node in members:
            synopsis(page, node)
        page.lines.append('.Sh DESCRIPTION')
        page.describe(group)
        for node in members:
            section(page, node)
        return page.name, names, page.finish()


def is_callable(node):
    kind = node.get('kind')
    return kind == 'function' or kind == 'typedef' and ''.join(node.find('type').itertext()).endswith('(*')


def synopsis(page, node):
    name = node.findtext('name')
    if node.get('kind') == 'function':
        page.line('Ft', ''.join(node.find('type').itertext()))
        page.line('Fo', name)
        parameters = [declaration(item, item.findtext('declname')) for item in node.findall('param')
                      if item.find('declname') is not None]
        for parameter in parameters or ['void']:
            page.line('Fa', parameter)
        page.line('Fc')
    elif is_callable(node):
        page.line('Ft', 'typedef ' + ''.join(node.find('type').itertext())[:-2].rstrip())
        page.line('Fo', f'(*{name})')
        for parameter in re.split(', ?', node.findtext('argsstring')[2:-1]):
            page.line('Fa', parameter)
        page.line('Fc')
    elif node.get('kind') == 'define' and len(node.findtext('initializer') or '') < 30:
        page.line('Fd', '#define', name, node.findtext('initializer') or '')
    elif node.get('kind') == 'typedef':
        page.line('Vt', *node.findtext('definition').split(), ';')


def section(page, node):
    kind, name = node.get('kind'), node.findtext('name') or node.findtext('compoundname')
    page.parameters = {item.text for item in node.iter('declname')}
    page.parameters |= {item.findtext('name') for item in node.iter('memberdef')}
    page.parameters |= set(re.findall(r'(\w+)[,)]', node.findtext('argsstring') or ''))
    page.line('Ss', *{'struct': ['struct', name], 'enum': ['enum', name],
                      'function': [f'{name}()']}.get(kind, [name]))
    page.describe(node)
    if kind == 'struct':
        page.members(node, node.iter('memberdef'))
    elif kind == 'enum':
        page.members(node, node.findall('enumvalue'))


def main(xml, source, pages):
    pages = pathlib.Path(pages)
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    manual = Manual(pathlib.Path(xml), pathlib.Path(source))
    files = {}
    for group, members in manual.groups:
        name, aliases, text = manual.page(group, members)
        files.update({alias + '.3': f'.so man3/{name}.3\n' for alias in aliases})
        files[name + '.3'] = text
    for name, text in files.items():
        (pages / name).write_text(text)
    (pages / 'list').write_text(''.join(name + '\n' for name in sorted(files)))


if __name__ == '__main__':
    main(*sys.argv[1:])
