# SPDX-License-Identifier: MIT
"""Generate the manual pages of section 3 from Doxygen's XML.

    python3 man3.py XML SOURCE PAGES

XML is the directory with Doxygen's output for the public headers, SOURCE is the top of the source
tree, and PAGES is the directory to fill. Each @defgroup in the headers becomes a page of the same
name, and each function, callback, struct and enum in the group becomes an alias of that page.
PAGES/list contains the names of the files, which make installs and removes.
"""

import pathlib
import re
import shutil
import sys
import textwrap
import xml.etree.ElementTree as ElementTree

LISTS = {'itemizedlist': '-bullet', 'orderedlist': '-enum'}
BLOCKS = ('itemizedlist', 'orderedlist', 'programlisting', 'parameterlist', 'simplesect')
CONSTANT = re.compile('LX_[A-Z0-9_]+|NULL|SIG[A-Z]+|E[A-Z]{3,}')
PAGE_NAME = re.compile(r'\b([a-zA-Z][\w.-]*)\(([1-8])\)')
FILE_NAME = re.compile(r'(LOG|LOCK|[\w./-]+\.(json|npy|zr|md|idx|bin|ds)|.*/.*)')


def macro(name, *words):
    """Return a macro line without its leading period; a word with spaces is one argument."""
    return ' '.join([name, *(f'"{word}"' if ' ' in word else word for word in words)])


def escape(text):
    """Return plain text, escaped so that roff does not interpret any of it as macros or escapes."""
    return ('\\&' if re.fullmatch('[A-Z][a-z]', text) else '') + text.replace('\\', '\\e')


def plain(node):
    return ' '.join(''.join(node.itertext()).split())


def joined(word):
    """Return the macro line of a word, with its macros and the text around them."""
    parts = []
    for place, (text, is_macro) in enumerate(word):
        is_last = place == len(word) - 1
        if is_macro:
            parts.append('Ns ' + text if place > 0 and word[place - 1][1] else text)
        elif place == 0:
            parts.append(macro('Pf', text))
        else:
            stem = text.rstrip('.,:;)]?!') if is_last else text
            parts += [macro('Ns No', stem)] if stem else []
            parts += list(text[len(stem):]) if is_last else ['Ns']
    return ' '.join(parts)


def declaration(node, name):
    """Return the declaration of a parameter, member or callback, with the type around the name."""
    kind = plain(node.find('type'))
    after = node.findtext('array') or node.findtext('argsstring') or ''
    if kind.endswith('(*'):
        return f'{kind[:-2].rstrip()} (*{name}{after}'
    if '(*)' in kind:
        return re.sub(r' ?\(\*\)', f' (*{name})', kind)
    return f"{kind}{'' if kind.endswith('*') else ' '}{name}{after}"


def name_of(node):
    return node.findtext('name') or node.findtext('compoundname')


def is_callback(node):
    return node.get('kind') == 'typedef' and plain(node.find('type')).endswith('(*')


def is_callable(node):
    return node.get('kind') == 'function' or is_callback(node)


class Page:
    """A page: the lines written so far, and the pending words of the next lines."""

    def __init__(self, manual, name):
        self.manual = manual
        self.name = name
        self.lines = []
        self.words = []  # each is a list of pieces (text, is_macro) without spaces
        self.glued = False  # whether the next piece continues the last word
        self.see = set()
        self.parameters = set()
        self.has_statuses = False

    def piece(self, text, is_macro=False):
        if not self.glued:
            self.words.append([])
        self.words[-1].append((text, is_macro))
        self.glued = True

    def text(self, text):
        parts = PAGE_NAME.split(text or '')
        for before, name, section in zip(parts[::3], parts[1::3] + [''], parts[2::3] + ['']):
            for word in re.split(r'(\s+)', before):
                if word.isspace():
                    self.glued = False
                elif word:
                    self.piece(escape(word))
            if name:
                self.see.add((section, name))
                self.piece(macro('Xr', name, section), True)

    def name_in_text(self, name):
        """Add a name of a function, constant, type, parameter, header or file."""
        page = self.manual.pages.get(name, name if name in self.manual.names else None)
        if page and not CONSTANT.fullmatch(name):
            self.see.add(('3', page))
        if name in self.manual.functions and page != self.name:
            words = 'Xr', name, '3'
        elif name in self.manual.functions:
            words = 'Fn', name
        elif name in self.parameters:
            words = 'Fa', name
        elif CONSTANT.fullmatch(name):
            words = 'Dv', name
        elif name.startswith('lx_'):
            words = 'Vt', name
        elif name.endswith('.h'):
            words = 'In', name if '/' in name else 'loaderx/' + name
        else:
            words = 'Pa' if FILE_NAME.fullmatch(name) else 'Ql', escape(name)
        self.piece(macro(*words), True)

    def flush(self):
        """Write the pending words, with a separate line for each sentence and each macro."""
        line = ''
        for word in self.words:
            is_macro = any(is_macro for _, is_macro in word)
            text = joined(word) if is_macro else ''.join(text for text, _ in word)
            if line and (is_macro or len(line) + len(text) > 95):
                self.lines.append(line)
                line = ''
            if is_macro:
                self.lines.append('.' + text)
                continue
            line = f'{line} {text}' if line else ('\\&' if text[0] in ".'" else '') + text
            if re.search(r'[.?!][)"\']?$', text) and text not in ('e.g.', 'i.e.', '...', '..'):
                self.lines.append(line)
                line = ''
        self.lines += [line] if line else []
        self.words, self.glued = [], False

    def line(self, *words):
        self.flush()
        self.lines.append('.' + macro(*words))

    def inline(self, node):
        self.text(node.text)
        for child in node:
            self.element(child)
            self.text(child.tail)

    def element(self, node):
        if node.tag in ('ref', 'computeroutput'):
            name = plain(node).rstrip(':;')  # Doxygen parses these as part of a @p name
            self.name_in_text(name.removesuffix('()').split('::')[-1])
            self.text(plain(node)[len(name):])
        elif node.tag in ('emphasis', 'bold'):
            words = map(escape, plain(node).split())
            self.piece(macro('Em' if node.tag == 'emphasis' else 'Sy', *words), True)
        elif node.tag in LISTS:
            self.line('Pp')
            self.line('Bl', LISTS[node.tag], '-compact')
            for item in node:
                self.line('It')
                self.inline(item)
            self.line('El')
        elif node.tag == 'programlisting':
            self.code(node)
        elif node.tag == 'parameterlist':
            self.parameter_list(node)
        elif node.tag == 'simplesect' and node.get('kind') == 'see':
            names = re.findall(r'\blx_\w+\b(?!\(\d)', plain(node))
            self.see |= {('3', self.manual.pages.get(name, name)) for name in names}
            self.see |= {(section, name) for name, section in PAGE_NAME.findall(plain(node))}
        elif node.tag == 'simplesect':
            self.line('Pp')
            title = node.findtext('title') or ''
            if node.get('kind') == 'return' and not self.has_statuses:
                title = 'Returns'
            if title:
                self.line('Sy', *title.split(), ':')
            for part in node.findall('para'):
                self.inline(part)
        elif node.tag == 'para':
            self.inline(node)
            self.line('Pp')
        else:
            self.inline(node)

    def code(self, node):
        for space in node.iter('sp'):
            space.text = ' '
        self.line('Bd', '-literal')
        rows = '\n'.join(''.join(row.itertext()) for row in node.iter('codeline'))
        for row in textwrap.dedent(rows).strip('\n').split('\n'):
            self.lines.append(('\\&' if row[:1] in ('.', "'") else '') + row.replace('\\', '\\e'))
        self.line('Ed')

    def parameter_list(self, node):
        is_status = node.get('kind') == 'retval'
        self.has_statuses |= is_status
        names = [item.findtext('parameternamelist/parametername') for item in node]
        self.line('Pp')
        self.line('Sy', 'Returns' if is_status else 'Parameters', ':')
        width = 'Ds' if is_status else max(names, key=len) + 'xx'
        self.line('Bl', '-tag', '-width', width, '-compact')
        for name, item in zip(names, node):
            self.line('It', 'Dv' if is_status else 'Fa', name)
            for part in item.find('parameterdescription'):
                self.inline(part)
        self.line('El')

    def describe(self, node):
        """Add the brief sentence and the details, which form one paragraph in the header."""
        self.has_statuses = False
        parts = [*node.find('briefdescription'), *node.find('detaileddescription')]
        for place, part in enumerate(parts):
            self.inline(part)
            self.glued = False
            if place > 0 or len(part) > 0 and part[-1].tag in BLOCKS:
                self.line('Pp')
        self.flush()

    def declare(self, node):
        """Add the lines that declare a name in the synopsis."""
        kind, name = node.get('kind'), node.findtext('name')
        if is_callable(node):
            typedef, result = is_callback(node), plain(node.find('type')).removesuffix('(*')
            self.line('Ft', ('typedef ' if typedef else '') + result.rstrip())
            self.line('Fo', f'(*{name})' if typedef else name)
            parameters = [declaration(item, item.findtext('declname', '')).rstrip()
                          for item in node.findall('param') if plain(item.find('type')) != 'void']
            if typedef:
                parameters = re.split(', ?', node.findtext('argsstring')[2:-1])
            for parameter in parameters or ['void']:
                self.line('Fa', parameter)
            self.line('Fc')
        elif kind == 'define' and len(node.findtext('initializer', '')) < 30 \
                and not name.endswith('_MAP'):
            self.line('Fd', '#define', name, node.findtext('initializer', ''))
        elif kind == 'typedef':
            self.line('Vt', *node.findtext('definition').split(), ';')

    def section(self, node):
        """Add the description of a name, and of the members of a struct or an enum."""
        kind, name = node.get('kind'), name_of(node)
        self.parameters = {item.text for item in node.iter('declname')}
        self.parameters |= {item.findtext('name') for item in node.iter('memberdef')}
        self.parameters |= set(re.findall(r'(\w+)[,)]', node.findtext('argsstring', '')))
        title = name + '()' if kind == 'function' else name
        self.line('Ss', *([kind] if kind in ('struct', 'enum') else []), title)
        self.describe(node)
        if kind not in ('struct', 'enum'):
            return
        self.line('Pp')
        self.line('Bl', '-tag', '-width', 'Ds', '-compact')
        for member in node.iter('enumvalue' if kind == 'enum' else 'memberdef'):
            if kind == 'enum':
                value = ' '.join(member.findtext('initializer', '').split())
                self.line('It', 'Dv', name_of(member), *(['No', value] if value else []))
            else:
                self.line('It', 'Vt', *declaration(member, name_of(member)).split())
            self.describe(member)
        self.line('El')

    def finish(self):
        """Return the page as text, and omit paragraph breaks that are next to other breaks."""
        self.flush()
        others = sorted(self.see - {('3', self.name)})
        if others:
            self.lines.append('.Sh SEE ALSO')
            self.lines += [f'.Xr {name} {section} ,' for section, name in others]
            self.lines[-1] = self.lines[-1].removesuffix(' ,')
        text = re.sub(r'(\.Pp\n)+', '.Pp\n', '\n'.join(self.lines) + '\n')
        text = re.sub(r'^\.Pp\n(?=\.(It|El|Ss|Sh|Bd)|\Z)', '', text, flags=re.M)
        return re.sub(r'(?<=\n)(\.(It|Ss|Sh)\b.*\n)\.Pp\n', r'\1', text)


class Manual:
    """Doxygen's output for the headers: the groups, and the page of each name in a group."""

    def __init__(self, xml, source):
        # Use the date of loaderx(7), so that the pages are reproducible.
        self.date = re.search(r'\.Dd (.*)', (source / 'doc/man/7/loaderx.7').read_text())[1]
        self.modules = {}
        for symbols in source.glob('lib/*/*.map'):
            module = next(symbols.parent.glob('*.pc.in')).name.removesuffix('.pc.in')
            self.modules |= dict.fromkeys(re.findall(r'\b(lx_\w+);', symbols.read_text()), module)
        compounds = [ElementTree.parse(path).getroot()[0] for path in sorted(xml.glob('*.xml'))
                     if path.name.startswith(('group__', 'struct'))]
        structs = {node.get('id'): node for node in compounds if node.get('kind') == 'struct'}
        self.groups = {}  # each group's node and the nodes of its names, in header order
        self.pages, self.functions = {}, set()
        for group in (node for node in compounds if node.get('kind') == 'group'):
            nodes = [*group.iter('memberdef')]
            nodes += [structs[inner.get('refid')] for inner in group.findall('innerclass')]
            whole = {name_of(node) for node in nodes if node.get('kind') in ('struct', 'enum')}
            nodes = [node for node in nodes
                     if not (node.get('kind') == 'typedef' and name_of(node) in whole)]
            nodes.sort(key=lambda node: (node.find('location').get('file'),
                                         int(node.find('location').get('line'))))
            self.groups[name_of(group)] = group, nodes
            self.pages |= {name_of(node): name_of(group) for node in nodes}
            self.functions |= {name_of(node) for node in nodes if is_callable(node)}
        self.names = set(self.groups)

    def write(self, group, nodes):
        """Return the names in a group that have a page, and the text of that page."""
        page = Page(self, name_of(group))
        names = [name_of(node) for node in nodes if is_callable(node)]
        types = [name_of(node) for node in nodes if node.get('kind') in ('struct', 'enum')
                 and name_of(node).startswith('lx_')]    # ArrowArray is not our name
        title = group.findtext('title')
        page.lines = ['.\\" SPDX-License-Identifier: MIT',
                      '.\\" Written by doc/man3.py from the public headers; change those.',
                      f'.Dd {self.date}', f'.Dt {page.name.upper()} 3', '.Os libloaderx',
                      '.Sh NAME', *[f'.Nm {name} ,' for name in names[:-1]], f'.Nm {names[-1]}',
                      f'.Nd {title[0].lower()}{title[1:]}']
        modules = {self.modules[name] for name in names if name in self.modules}
        page.lines += ['.Sh LIBRARY'] if modules else []
        for module in sorted(modules):
            page.lines += ['lib' + module, f'.Pq pkg-config {module}']
        page.line('Sh', 'SYNOPSIS')
        for header in sorted({node.find('location').get('file') for node in nodes}):
            page.line('In', re.sub('.*include/', '', header))
        for node in nodes:
            page.declare(node)
        page.line('Sh', 'DESCRIPTION')
        page.describe(group)
        for node in nodes:
            page.section(node)
        return names + types, page.finish()


def main(xml, source, pages):
    shutil.rmtree(pages, ignore_errors=True)
    pages.mkdir(parents=True)
    manual = Manual(xml, source)
    files = {}
    for name, (group, nodes) in manual.groups.items():
        names, text = manual.write(group, nodes)
        files |= {alias + '.3': f'.so man3/{name}.3\n' for alias in names
                  if alias not in manual.groups} | {name + '.3': text}
    for name, text in files.items():
        (pages / name).write_text(text)
    (pages / 'list').write_text(''.join(name + '\n' for name in sorted(files)))


if __name__ == '__main__':
    main(*map(pathlib.Path, sys.argv[1:]))
