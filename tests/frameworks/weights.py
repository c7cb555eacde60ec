# SPDX-License-Identifier: MIT
"""A file of named tensors in the layout of safetensors: the length of a header, the header, data.

Data of a tensor begins anywhere: behind an odd header nothing is aligned.
"""
import json
import os
import struct
import tempfile
import unittest


def make(path, sizes):
    """Writes random bytes for {name: bytes}; returns {name: (offset, size)} in the file."""
    header, position = {}, 0
    for name, size in sizes.items():
        header[name] = {"dtype": "U8", "shape": [size], "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for size in sizes.values():
            file.write(os.urandom(size))
    return read_header(path)


def read_header(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
    begin = 8 + length
    return {name: (begin + entry["data_offsets"][0],
                   entry["data_offsets"][1] - entry["data_offsets"][0])
            for name, entry in header.items()}


def plain_bytes(path, offset, size):
    with open(path, "rb") as file:
        file.seek(offset)
        return file.read(size)


# Small and large, odd and even, one beyond every slot of a ring.
SIZES = {"bias": 77, "norm": 4096, "embedding": (5 << 20) + 3, "attention": 16 << 20,
         "output": (64 << 20) + 1}


class FileTest(unittest.TestCase):
    """`path` is a file of SIZES whose tensors lie at `places`, in a `folder` of its own."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "weights")
        cls.places = make(cls.path, SIZES)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()
