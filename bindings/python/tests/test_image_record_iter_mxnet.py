# SPDX-License-Identifier: MIT
"""ImageRecordIter, compared with that of MXNet, which runs beside it."""

import json
import os
import subprocess

import numpy as np
import pytest

images = pytest.importorskip('loaderx.images')
from test_image_record_iter import encode_png, pixels_of, write_records    # noqa: E402

PEER = """
import json, numpy as np, mxnet as mx
for i, options in enumerate(json.load(open('cases.json'))):
    passes = options.pop('passes', 1)
    options['data_shape'] = tuple(options['data_shape'])
    it = mx.io.ImageRecordIter(**options, verbose=False, ctx='cpu')
    found = {'names': np.array([it.provide_data[0].name, it.provide_label[0].name]),
             'shapes': np.array([list(it.provide_data[0].shape), list(it.provide_label[0].shape)
                                 + [0] * (4 - len(it.provide_label[0].shape))])}
    for k in range(passes):
        if k:
            it.reset()
        for j, batch in enumerate(it):
            found['data-%d-%d' % (k, j)] = batch.data[0].asnumpy()
            found['label-%d-%d' % (k, j)] = batch.label[0].asnumpy()
            found['pad-%d-%d' % (k, j)] = np.array(batch.pad)
    np.savez('theirs-%d.npz' % i, **found)
"""


def found_by_us(options):
    options = dict(options)
    passes = options.pop('passes', 1)
    it = images.ImageRecordIter(**options)
    found = {'names': [it.provide_data[0].name, it.provide_label[0].name],
             'shapes': [[*it.provide_data[0].shape], [*it.provide_label[0].shape]
                        + [0] * (4 - len(it.provide_label[0].shape))]}
    for k in range(passes):
        if k:
            it.reset()
        for j, batch in enumerate(it):
            found[f'data-{k}-{j}'], found[f'label-{k}-{j}'] = batch.data[0], batch.label[0]
            found[f'pad-{k}-{j}'] = batch.pad
    return found


@pytest.fixture(scope='module')
def peer(tmp_path_factory):
    """A function that returns what MXNet returns for each case, in a folder with files."""
    python = os.environ.get('MXNET_PYTHON')
    if python is None:
        pytest.skip('MXNET_PYTHON is not set to a Python that has MXNet 1.x')
    folder = tmp_path_factory.mktemp('mxnet')
    write_records(folder / 'a.rec', [encode_png(pixels_of(i)) for i in range(10)],
                  ids=lambda i: 100 + i)
    write_records(folder / 'm.rec', [encode_png(pixels_of(i)) for i in range(5)],
                  labels=lambda i: [i, -i, 0.5])
    write_records(folder / 'g.rec', [encode_png(pixels_of(i)[:, :, 0]) for i in range(5)])
    (folder / 'a.lst').write_text(''.join(f'{100 + i}\t{2 * i}\t{i / 7}\tan image.png\n'
                                          for i in range(10)))

    def run(cases):
        (folder / 'cases.json').write_text(json.dumps(cases))
        environment = {name: value for name, value in os.environ.items() if name != 'PYTHONPATH'}
        done = subprocess.run([python, '-c', PEER], cwd=folder, env=environment, timeout=120,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert done.returncode == 0, done.stderr.decode()
        return [dict(np.load(folder / f'theirs-{i}.npz')) for i in range(len(cases))]
    run.folder = folder
    return run


def case(name='a', **options):
    return {'path_imgrec': f'{name}.rec', 'path_imgidx': f'{name}.idx', 'data_shape': [3, 17, 19],
            'batch_size': 4, **options}


MEAN = {'mean_r': 123.68, 'mean_g': 116.779, 'mean_b': 103.939}
STD = {'std_r': 58.393, 'std_g': 57.12, 'std_b': 57.375}


def test_batches_are_those_of_mxnet(peer, monkeypatch):
    monkeypatch.chdir(peer.folder)
    cases = [
        case(passes=4), case(dtype='uint8', data_name='x', label_name='y'),
        case(**MEAN), case(**MEAN, **STD), case(**MEAN, **STD, scale=0.017),
        case(**MEAN, dtype='int8'), case(dtype='int8', mirror=True), case(mirror=True, scale=3),
        case(pad=3, data_shape=[3, 26, 30]), case(pad=3, fill_value=9, data_shape=[3, 25, 27]),
        case(data_shape=[3, 18, 20]), case(data_shape=[3, 20, 24]), case(batch_size=5, passes=2),
        case(mean_img='mean.bin'), case(mean_img='mean.bin', mirror=True, scale=0.3, **STD),
        case(mean_img='mean.bin', dtype='int8'),
        case(mean_img='mean.bin', dtype='int8', mirror=True),
        case('g', data_shape=[1, 17, 19], mean_img='grey.bin', mirror=True, scale=-0.1),
        case('m', label_width=3), case('g', data_shape=[1, 17, 19], mean_r=100, std_r=3),
        case(path_imglist='a.lst'), case(path_imglist='a.lst', label_width=2),
        case('m', path_imglist='a.lst', path_imgrec='a.rec', path_imgidx='a.idx')]
    cases += [case(num_parts=parts, part_index=part, batch_size=1, passes=2)
              for parts in (2, 3, 4) for part in range(parts) if (parts, part) != (4, 4)]
    for options, theirs in zip(cases, peer(cases)):
        ours = found_by_us(options)
        assert ours.keys() == theirs.keys(), options
        for name, values in theirs.items():
            if name.startswith('pad') and ours[name] == 0:
                continue    # MXNet leaves the pad of a pass on the batches of the next one
            np.testing.assert_array_equal(ours[name], values, f'{name} of {options}')


def test_a_mean_image_is_that_of_mxnet(peer, monkeypatch):
    monkeypatch.chdir(peer.folder)
    peer([case(mean_img='theirs.bin')])
    found_by_us(case(mean_img='ours.bin'))
    assert (peer.folder / 'theirs.bin').read_bytes() == (peer.folder / 'ours.bin').read_bytes()


@pytest.mark.parametrize('options', [
    {'resize': 30, 'data_shape': [3, 20, 30]}, {'resize': 19}, {'data_shape': [3, 40, 30]},
    {'data_shape': [3, 21, 50]}, {'resize': 12, 'data_shape': [3, 17, 19]}])
def test_resized_images_are_nearly_those_of_mxnet(peer, monkeypatch, options):
    """OpenCV rounds the weights to 11 bits; some of these images are resized up to three times."""
    monkeypatch.chdir(peer.folder)
    theirs, = peer([case(**options)])
    ours = found_by_us(case(**options))
    for name, values in theirs.items():
        if name.startswith('data'):
            difference = np.abs(ours[name] - values)
            assert difference.max() <= 3 and difference.mean() < 0.75
