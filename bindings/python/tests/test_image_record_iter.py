# SPDX-License-Identifier: MIT
"""ImageRecordIter: its batches, passes and parameters."""

import json
import os
import struct
import time
import zlib

import numpy as np
import pytest

import loaderx as lx
from loaderx import recordio

images = pytest.importorskip('loaderx.images')


def encode_png(pixels):
    """Return a PNG file with these pixels, (height, width, 3) or (height, width)."""
    height, width = pixels.shape[:2]
    rows = b''.join(b'\0' + row.tobytes() for row in pixels)

    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data
                + struct.pack('>I', zlib.crc32(kind + data)))
    head = struct.pack('>IIBBBBB', width, height, 8, 2 if pixels.ndim == 3 else 0, 0, 0, 0)
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', head) + chunk(b'IDAT', zlib.compress(rows, 1))
            + chunk(b'IEND', b''))


def pixels_of(i):
    """Return the pixels of image i, (height, width, 3); the sizes differ."""
    return np.random.default_rng(i).integers(0, 256, (20 + i % 7, 24 + i % 5, 3), np.uint8)


def write_records(path, files, labels=lambda i: float(i), ids=lambda i: i):
    with recordio.MXIndexedRecordIO(path.with_suffix('.idx'), path, 'w') as file:
        for i, data in enumerate(files):
            file.write_idx(i, recordio.pack((0, labels(i), ids(i), 0), data))
    return str(path)


@pytest.fixture
def packed(tmp_path):
    """Ten records; the id of record i is 100 + i."""
    return write_records(tmp_path / 'a.rec', [encode_png(pixels_of(i)) for i in range(10)],
                         ids=lambda i: 100 + i)


def make(path, **options):
    return images.ImageRecordIter(**{'path_imgrec': path, 'data_shape': (3, 17, 19),
                                     'batch_size': 4, 'dtype': 'uint8', **options})


def middle(pixels, height=17, width=19):
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    return pixels[top:top + height, left:left + width].transpose(2, 0, 1)


def labels_of(batches):
    return [batch.label[0].tolist() for batch in batches]


# ---- batches and passes


def test_batches(packed):
    it = make(packed)
    assert it.provide_data == [('data', (4, 3, 17, 19))]
    assert it.provide_label == [('softmax_label', (4,))]
    assert it.provide_data[0].dtype == np.uint8 and it.provide_data[0].layout == 'NCHW'
    batch = it.next()
    assert batch.label[0].dtype == np.float32 and batch.pad == 0
    assert batch.index.tolist() == [100, 101, 102, 103]
    for i, image in enumerate(batch.data[0]):
        np.testing.assert_array_equal(image, middle(pixels_of(i)))
    assert it.iter_next() and it.getlabel().tolist() == [4, 5, 6, 7]
    assert it.getdata().shape == (4, 3, 17, 19) and it.getindex()[0] == 104
    assert it.iter_next() and it.getpad() == 2 and not it.iter_next()
    with pytest.raises(StopIteration):
        it.next()
    with pytest.raises(ValueError, match='no batch yet'):
        make(packed).getpad()


def test_a_full_batch_continues_in_the_next_pass(packed):
    """The stream of batches does not lose or repeat an image; passes end where an epoch ends."""
    it = make(packed)
    passes = []
    for _ in range(4):
        passes.append([(batch.label[0].tolist(), batch.pad) for batch in it])
        it.reset()
    assert [[pad for _, pad in one] for one in passes] == [[0, 0, 2], [0, 0], [0, 0, 2], [0, 0]]
    seen = [label for one in passes for labels, _ in one for label in labels]
    assert seen == list(range(10)) * 4


@pytest.mark.parametrize('batch_size', [1, 3, 7, 10, 11, 25])
def test_passes_of_any_batch_size_are_one_stream(packed, batch_size):
    """Each pass ends with the batch that has the last image of an epoch, and its pad counts on."""
    it = make(packed, batch_size=batch_size, data_shape=(3, 2, 2))
    seen = 0
    for _ in range(12):
        batches = list(it)
        for batch in batches:
            assert batch.label[0].tolist() == [(seen + i) % 10 for i in range(batch_size)]
            seen += batch_size
        assert [batch.pad for batch in batches[:-1]] == [0] * (len(batches) - 1)
        pad = batches[-1].pad
        assert pad < batch_size and (seen - pad) % 10 == 0


def test_a_rest_is_filled_with_zeros(packed):
    it = make(packed, round_batch=False)
    for _ in range(2):    # without reset(), too
        batches = list(it)
        assert labels_of(batches) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 0]]
        assert [batch.pad for batch in batches] == [0, 0, 2]
        assert batches[2].data[0][1].any() and not batches[2].data[0][2:].any()


def test_a_reset_in_a_pass_begins_at_the_first_image(packed):
    for options in {}, {'round_batch': False}:
        it = make(packed, **options)
        it.reset()
        assert labels_of([it.next(), it.next()]) == [[0, 1, 2, 3], [4, 5, 6, 7]]
        it.reset()
        it.reset()
        assert labels_of(it)[0] == [0, 1, 2, 3]


def test_a_shuffled_pass_has_each_image_once(packed):
    it = make(packed, shuffle=True, seed=3, batch_size=5)
    first, second = sum(labels_of(it), []), sum(labels_of(it), [])
    assert sorted(first) == sorted(second) == list(range(10)) and first != second
    assert sum(labels_of(make(packed, shuffle=True, seed=3, batch_size=5)), []) == first
    assert sum(labels_of(make(packed, shuffle=True, seed=4, batch_size=5)), []) != first


@pytest.mark.parametrize('parts', [1, 2, 3, 4, 10])
def test_parts_are_those_of_input_split(packed, parts):
    index = packed[:-3] + 'idx'
    seen = []
    for part in range(parts):
        split = recordio.InputSplit(packed, part, parts, index=index)
        right = [recordio.unpack(record)[0].label for record in split]
        if not right:
            with pytest.raises(ValueError, match=f'part {part} of {parts} is empty'):
                make(packed, num_parts=parts, part_index=part)
            continue
        it = make(packed, num_parts=parts, part_index=part, batch_size=1)
        assert sum(labels_of(it), []) == right
        seen += right
    assert seen == list(range(10))


def test_several_files_and_an_index_in_another_order(tmp_path):
    paths = [write_records(tmp_path / f'{name}.rec',
                           [encode_png(pixels_of(i)) for i in range(begin, begin + 3)],
                           labels=lambda i, begin=begin: begin + i)
             for begin, name in ((0, 'a'), (3, 'b'))]
    index = tmp_path / 'a.idx'
    index.write_text(''.join(reversed(index.read_text().splitlines(True))))
    for given in ';'.join(paths), paths, tmp_path:
        assert sum(labels_of(make(given, batch_size=3)), []) == [0, 1, 2, 3, 4, 5]


RANDOM = {'shuffle': True, 'rand_crop': True, 'rand_mirror': True, 'seed': 5, 'dtype': 'float32',
          'max_random_contrast': 0.3}


def test_a_saved_state_continues_with_the_same_batches(packed):
    whole = make(packed, **RANDOM)
    batches, states = [], []
    for _ in range(2):
        for batch in whole:
            batches.append(batch)
            states.append(json.loads(json.dumps(whole.state_dict())))
    for i, state in enumerate(states[:-1]):
        it = make(packed, **RANDOM, preprocess_threads=1 + i % 2)
        it.load_state_dict(state)
        rest = list(it)
        assert len(rest) == (2, 1, 2, 1)[i]    # of three batches and of two
        for one, other in zip(rest, batches[i + 1:]):
            np.testing.assert_array_equal(one.data[0], other.data[0])
            assert one.label[0].tolist() == other.label[0].tolist() and one.pad == other.pad
    with pytest.raises(StopIteration):    # the first pass had ended
        it = make(packed, **RANDOM)
        it.load_state_dict(states[2])
        it.next()
    for other in {'seed': 6}, {'max_random_contrast': 0.4}, {'scale': 2}, {'std_g': 2}:
        with pytest.raises(ValueError, match='identity'):
            make(packed, **{**RANDOM, **other}).load_state_dict(states[1])
    for state in {}, states[1]['loader'], {'loader': states[1]['loader']}, None:
        with pytest.raises(lx.CorruptError, match='ImageRecordIter.state_dict'):
            it.load_state_dict(state)


def test_a_reset_of_a_pass_that_is_continued_leaves_it(packed):
    it = make(packed, round_batch=False)
    it.next()
    state = it.state_dict()
    it.load_state_dict(state)
    assert it.next().index.tolist() == [104, 105, 106, 107]
    it.load_state_dict(state)
    it.reset()
    assert [batch.index[0] for batch in it] == [100, 104, 108]


def test_random_choices_do_not_depend_on_threads(packed):
    one, other = (make(packed, **RANDOM, preprocess_threads=threads, prefetch_buffer=threads)
                  for threads in (1, 2))
    for _ in range(2):
        for left, right in zip(one, other):
            np.testing.assert_array_equal(left.data[0], right.data[0])


def test_prefetches_so_many_batches(packed):
    for buffer in 1, 3:
        it = make(packed, prefetch_buffer=buffer, data_shape=(3, 200, 200))
        it.next()
        deadline = time.monotonic() + 60
        while it._loader.stats()['prefetched'] < buffer and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.05)
        assert it._loader.stats()['prefetched'] == buffer


def test_logs_the_number_of_records(packed, caplog):
    caplog.set_level('INFO', 'loaderx')
    make(packed, num_parts=3, preprocess_threads=1)
    assert '4 of 10 records, 1 threads' in caplog.text
    caplog.clear()
    make(packed, verbose=False)
    assert not caplog.text


# ---- images


def crops_of(image, batch_image):
    """Return the places at which a part of an image occurs."""
    height, width = batch_image.shape[1:]
    return [(top, left) for top in range(image.shape[0] - height + 1)
            for left in range(image.shape[1] - width + 1)
            if (image[top:top + height, left:left + width].transpose(2, 0, 1)
                == batch_image).all()]


def test_random_crops_and_mirrors(packed):
    it = make(packed, rand_crop=True, rand_mirror=True, batch_size=10)
    places, mirrored = set(), 0
    for _ in range(20):
        for i, image in enumerate(it.next().data[0]):
            found = crops_of(pixels_of(i), image)
            if not found:
                mirrored += 1
                found = crops_of(pixels_of(i), image[:, :, ::-1])
            assert len(found) == 1
            if i == 0:    # 20 x 24 pixels: 4 x 6 places
                places |= set(found)
        it.reset()
    assert 70 < mirrored < 130 and len(places) > 8


def test_padding(packed):
    got = make(packed, pad=3, fill_value=7, data_shape=(3, 26, 30)).next().data[0][0]
    right = np.pad(pixels_of(0), ((3, 3), (3, 3), (0, 0)), constant_values=7)
    np.testing.assert_array_equal(got, right.transpose(2, 0, 1))


@pytest.fixture
def flat(tmp_path):
    """A hundred images, whose left half has the grey 50, and the right half 100."""
    image = np.full((20, 24, 3), 100, np.uint8)
    image[:, :12] = 50
    return write_records(tmp_path / 'flat.rec', [encode_png(image)] * 100)


@pytest.mark.parametrize('options, gain, mean', [
    ({'brightness': 0.4}, (0.6, 1.4), (45, 105)), ({'contrast': 0.4}, (0.6, 1.4), (75, 75)),
    ({'saturation': 0.4}, (1, 1), (75, 75))])
def test_colour_jitters(flat, options, gain, mean):
    images = make(flat, batch_size=100, data_shape=(3, 20, 24), **options).next().data[0] * 1.0
    gains = (images[:, 0, 0, 20] - images[:, 0, 0, 0]) / 50
    means = (images[:, 0, 0, 20] + images[:, 0, 0, 0]) / 2
    for found, (least, most), rounding in (gains, gain, 0.02), (means, mean, 0.6):
        assert least - rounding <= found.min() and found.max() <= most + rounding
        near = 0.1 * (most - least) + rounding
        assert found.min() <= least + near and found.max() >= most - near


def test_noise_and_rotation(flat):
    images = make(flat, batch_size=100, data_shape=(3, 20, 24), pca_noise=0.1).next().data[0] * 1.0
    assert 2.5 < images[:, 0, 0, 20].std() < 4.2    # 3.3 in MXNet
    images = make(flat, batch_size=100, data_shape=(3, 20, 24), max_rotate_angle=20,
                  fill_value=255).next().data[0]
    assert (images[:, 0, 10, 12:] == 100).mean() > 0.6 and (images[:, 0, 0, 0] > 100).mean() > 0.5


def test_values(packed):
    raw = np.stack([middle(pixels_of(i)) for i in range(4)]).astype(np.float32)
    means = np.float32([123.68, 116.779, 103.5]).reshape(3, 1, 1)
    stds = np.float32([58.393, 57.12, 57.375]).reshape(3, 1, 1)
    mean = {'mean_r': 123.68, 'mean_g': 116.779, 'mean_b': 103.5}
    std = {'std_r': 58.393, 'std_g': 57.12, 'std_b': 57.375}
    for options, right in (({}, raw), (mean, raw - means),
                           ({**mean, **std}, (raw - means) * (1 / stds)),
                           ({**std, 'scale': 0.5}, raw * (np.float32(0.5) / stds)),
                           ({'mirror': True}, raw[..., ::-1])):
        for dtype in None, 'float32', np.float32:
            got = make(packed, dtype=dtype, **options).next().data[0]
            assert got.dtype == np.float32
            np.testing.assert_array_equal(got, right)
    got = make(packed, dtype='int8', **mean).next().data[0]
    rounded = np.array([124, 117, 104]).reshape(3, 1, 1)
    np.testing.assert_array_equal(got, np.clip(raw - rounded, -128, 127).astype(np.int8))
    assert make(packed, dtype='int8').next().data[0].max() == 127


def test_grey_images(tmp_path):
    path = write_records(tmp_path / 'g.rec', [encode_png(pixels_of(i)[:, :, 0]) for i in range(4)])
    got = make(path, data_shape=(1, 17, 19), dtype='float32', mean_r=9, std_r=2).next().data[0]
    right = np.stack([middle(pixels_of(i))[:1] for i in range(4)]).astype(np.float32)
    np.testing.assert_array_equal(got, (right - 9) * np.float32(0.5))


def test_random_contrast_and_light(packed):
    options = {'dtype': 'float32', 'mean_r': 100, 'mean_g': 110, 'mean_b': 120, 'batch_size': 10}
    plain = make(packed, **options).next().data[0].astype(np.float64)
    it = make(packed, **options, max_random_contrast=0.25, max_random_illumination=10, scale=0.5,
              std_r=2, std_g=2, std_b=2)
    gains, lights = [], []
    for _ in range(30):
        for image, right in zip(it.next().data[0], plain):
            gain, light = np.polyfit(right.ravel(), image.ravel() * 4.0, 1)
            np.testing.assert_allclose(right * gain + light, image * 4.0, atol=1e-3)
            gains.append(gain)
            lights.append(light)
        it.reset()
    assert 0.749 < min(gains) < 0.77 and 1.23 < max(gains) < 1.251
    assert -10.01 < min(lights) < -9 and 9 < max(lights) < 10.01
    assert abs(np.corrcoef(gains, lights)[0, 1]) < 0.2


def test_a_mean_image_is_made_and_subtracted(packed, tmp_path):
    path = tmp_path / 'mean.bin'
    raw = np.stack([middle(pixels_of(i)) for i in range(10)]).astype(np.float32)
    it = make(packed, dtype='float32', mean_img=path, num_parts=2, part_index=1, scale=0.5)
    mean = np.frombuffer(path.read_bytes()[72:-24], '<f4').reshape(3, 17, 19)
    np.testing.assert_allclose(mean, raw.mean(0), rtol=1e-6)    # of all parts
    np.testing.assert_array_equal(it.next().data[0], (raw[5:9] - mean) * np.float32(0.5))
    got = make(packed, dtype='int8', mean_img=path, mirror=True).next().data[0]
    right = np.clip(raw[:4] - np.floor(mean + 0.5), -128, 127)[..., ::-1]
    np.testing.assert_array_equal(got, right)
    seen = set()
    it = make(packed, dtype='float32', mean_img=str(path), rand_mirror=True)
    for _ in range(10):
        image = it.next().data[0][0]
        seen.add(bool((image == raw[0] - mean).all()))
        assert (image == (raw[0] - mean)[:, :, ::-1]).all() or True in seen
        it.reset()
    assert seen == {True, False}
    assert [one.name for one in tmp_path.iterdir() if 'mean' in one.name] == ['mean.bin']


def test_a_state_with_another_mean_image_is_refused(packed, tmp_path):
    one, other = tmp_path / 'one.bin', tmp_path / 'other.bin'
    it = make(packed, dtype='float32', mean_img=one)
    it.next()
    data = bytearray(one.read_bytes())
    data[100] ^= 1    # the least bit of a mean
    other.write_bytes(data)
    state = it.state_dict()
    make(packed, dtype='float32', mean_img=one).load_state_dict(state)
    for options in {'mean_img': other}, {'mean_r': 3}, {}:
        with pytest.raises(ValueError, match='identity'):
            make(packed, dtype='float32', **options).load_state_dict(state)


@pytest.mark.parametrize('change, message', [
    (lambda data: data[:50], '50 bytes'), (lambda data: data[:-30], 'ends within'),
    (lambda data: b'x' + data[1:], 'must have one array'),
    (lambda data: data[:16] + b'\2' + data[17:], 'must have one array'),
    (lambda data: data[:40] + b'\7' + data[41:], 'but data_shape is'),
    (lambda data: data[:68] + b'\1' + data[69:], 'must have one array')])
def test_a_damaged_mean_image_is_an_error(packed, tmp_path, change, message):
    path = tmp_path / 'mean.bin'
    make(packed, dtype='float32', mean_img=path)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(ValueError, match=f'mean.bin .*{message}'):
        make(packed, dtype='float32', mean_img=path)


# ---- labels


def test_several_labels(tmp_path):
    path = write_records(tmp_path / 'a.rec', [encode_png(pixels_of(i)) for i in range(5)],
                         labels=lambda i: [i, -i, 0.5])
    it = make(path, label_width=3)
    assert it.provide_label == [('softmax_label', (4, 3))]
    assert it.next().label[0].tolist() == [[i, -i, 0.5] for i in range(4)]
    with pytest.raises(lx.CorruptError, match='record 0.* 3 labels, but the label width is 2'):
        make(path, label_width=2).next()


def test_labels_of_a_list(packed, tmp_path):
    path = tmp_path / 'a.lst'
    lines = [f'{100 + i}\t{2 * i}\t{3 * i}\tfolder/an image.png\n' for i in range(9, -1, -1)]
    path.write_text(''.join(lines))
    assert labels_of(make(packed, path_imglist=path))[2] == [16, 18, 0, 2]
    it = make(packed, path_imglist=str(path), label_width=2, shuffle=True)
    for batch in it:
        for number, label in zip(batch.index.tolist(), batch.label[0].tolist()):
            assert label == [2 * (number - 100), 3 * (number - 100)]
    path.write_text(''.join(lines[1:]))
    with pytest.raises(ValueError, match='a.lst has no line for the image with the id 109'):
        list(make(packed, path_imglist=path))
    for text in '1\tfolder/a.png\n', '1\n', 'a\t1\n', '-1\t1\n':
        path.write_text('\n' + text)
        with pytest.raises(ValueError, match="lst, line 2: expected an id and 1 labels, .*[^n]'$"):
            make(packed, path_imglist=path)
    path.write_text('')
    with pytest.raises(ValueError, match='no line'):
        make(packed, path_imglist=path).next()


# ---- errors


@pytest.mark.parametrize('options, message', [
    ({'max_shear_ratio': 0.1}, 'max_shear_ratio=0.1 is not supported: no step'),
    ({'inter_method': 2}, 'inter_method=2 is not supported'),
    ({'aug_seq': 'mine'}, "aug_seq='mine' is not supported"),
    ({'shuffle_chunk_size': 4}, 'shuffle_chunk_size=4 is not supported: shuffle=True'),
    ({'device_id': 1}, 'device_id=1'),
    ({'ctx': 'tpu'}, "ctx must be 'cpu' or 'gpu'"),
    ({'dtype': 'float16'}, "dtype must be 'float32', 'uint8' or 'int8'"),
    ({'data_shape': (4, 17, 19)}, 'data_shape must be'),
    ({'data_shape': (17, 19)}, 'data_shape must be'),
    ({'mean_r': 3}, "mean_r has no effect with dtype='uint8'"),
    ({'dtype': 'int8', 'scale': 2}, "scale has no effect with dtype='int8'"),
    ({'dtype': 'float32', 'std_g': 0}, 'std_g must be greater than 0'),
    ({'dtype': 'float32', 'std_g': 1e-300}, 'scale / std must be finite'),
    ({'dtype': 'float32', 'scale': 1e30, 'std_b': 1e-30}, 'scale / std must be finite'),
    ({'dtype': 'float32', 'mean_g': float('nan')}, 'mean_g must be finite, not nan'),
    ({'dtype': 'float32', 'data_shape': (1, 4, 4), 'mean_b': 3}, 'mean_b has no effect with grey'),
    ({'dtype': 'float32', 'mean_img': 'm', 'mean_r': 3}, 'mean_img and mean_r'),
    ({'mirror': True, 'rand_mirror': True}, 'mirror and rand_mirror are mutually exclusive'),
    ({'rand_crop': True, 'random_resized_crop': True}, 'rand_crop and random_resized_crop'),
    ({'max_aspect_ratio': 0.5}, 'max_aspect_ratio requires random_resized_crop'),
    ({'random_resized_crop': True, 'min_random_area': 0}, '^min_random_area and max_random_area'),
    ({'rotate': 30}, 'rotate=30 is not supported: use max_rotate_angle'),
    ({'fill_value': 0}, 'fill_value requires pad or max_rotate_angle'),
    ({'data_shape': (1, 17, 19), 'saturation': 0.1}, 'saturation has no effect with grey'),
    ({'data_shape': (1, 17, 19), 'pca_noise': 0.1}, 'pca_noise has no effect with grey'),
    ({'brightness': -1}, 'brightness must be'),
    ({'pca_noise': -1}, 'pca_noise must be'),
    ({'max_rotate_angle': -1}, 'max_rotate_angle must be'),
    ({'pad': -1}, '^pad must be from 0'),
    ({'pad': 1, 'fill_value': 256}, '^fill_value must be from 0 to 255'),
    ({'resize': 0}, '^resize must be from 1'),
    ({'data_shape': 17}, 'data_shape must be'),
    ({'data_shape': '3,17,19'}, 'data_shape must be'),
    ({'batch_size': 0}, 'batch_size must be from 1'),
    ({'part_index': 2, 'num_parts': 2}, 'part_index must be from 0 to 1'),
    ({'path_imgidx': ['a', 'b']}, 'path_imgrec has 1 files, and path_imgidx has 2'),
    ({'seed': -1}, 'seed must be from 0'),
    ({'preprocess_threads': 0}, 'preprocess_threads must be from 1'),
])
def test_errors_name_the_parameter(packed, options, message):
    with pytest.raises(ValueError, match=message):
        make(packed, **options)


def test_a_file_without_an_index(packed, tmp_path):
    """MXNet needs none, and its documentation shows none."""
    expected = [batch.data[0] for batch in make(packed, batch_size=4, shuffle=True, seed=3)]
    os.unlink(packed[:-3] + 'idx')
    got = [batch.data[0] for batch in make(packed, batch_size=4, shuffle=True, seed=3)]
    np.testing.assert_equal(got, expected)


def test_the_limit_of_pixels(packed):
    most = max(pixels_of(i).shape[0] * pixels_of(i).shape[1] for i in range(10))
    assert len(list(make(packed, max_pixels=most))) == 3
    with pytest.raises(ValueError, match=f'more than max_pixels, {most - 1}: raise max_pixels'):
        list(make(packed, max_pixels=most - 1))


def test_other_errors(packed, tmp_path):
    with pytest.raises(TypeError, match="no parameter 'resise'"):
        make(packed, resise=3)
    with pytest.raises(TypeError, match='shuffle must be True or False'):
        make(packed, shuffle=1)
    with pytest.raises(TypeError, match='scale must be a number, not str'):
        make(packed, scale='1')
    with pytest.raises(TypeError, match='resize must be an int, not float'):
        make(packed, resize=256.0)
    with pytest.raises(FileNotFoundError, match='none.idx'):
        make(packed, path_imgidx='none.idx')
    path = write_records(tmp_path / 'bad.rec', [encode_png(pixels_of(0)), b'no image'])
    with pytest.raises(lx.CorruptError, match="'image', record 1"):
        list(make(path, batch_size=2))
    it = make(path, batch_size=1)
    it.next()
    with pytest.raises(lx.CorruptError):
        it.next()
    with pytest.raises(StopIteration):    # it continues after the damage
        it.next()
    empty = write_records(tmp_path / 'empty.rec', [])
    with pytest.raises(ValueError, match='0 records'):
        make(empty)


def test_default_values_of_mxnet_are_accepted(packed):
    it = make(packed, aug_seq='aug_default', max_shear_ratio=0, max_img_size=1e10, device_id=0,
              ctx='cpu', mean_a=0, std_a=1.0, inter_method=1, max_crop_size=-1)
    assert it.next().pad == 0
