# SPDX-License-Identifier: MIT
"""Numba: a kernel of the program's own between a read and a write in one stream.

numba_test.py LIBRARY, where LIBRARY is libhipfile.so.0; exits with 77 where there is no Numba that
compiles for a GPU.
"""
import os
import sys
import unittest

try:
    import numpy
    from numba import cuda
except ImportError:
    print("skipped: no Numba")
    sys.exit(77)

import hipfile
import weights

LIBRARY = hipfile.load(sys.argv.pop(1))


@cuda.jit
def add_one(values):
    at = cuda.grid(1)
    if at < values.size:
        values[at] += 1


# Some versions of Numba and NumPy do not fit each other, which shows when it compiles.
try:
    cuda.jit("void(uint8[:])")(add_one.py_func)
except (AttributeError, ImportError) as error:
    print(f"skipped: Numba compiles nothing here: {error}")
    sys.exit(77)


def address_of(array):
    return array.__cuda_array_interface__["data"][0]


def handle_of(stream):
    """A number, whichever binding of the driver Numba uses."""
    return int(getattr(stream.handle, "value", stream.handle) or 0)


class NumbaTest(weights.FileTest):
    def expected(self, name):
        return numpy.frombuffer(weights.plain_bytes(self.path, *self.places[name]), numpy.uint8)

    def test_synchronous_load(self):
        for name, (offset, size) in self.places.items():
            array = cuda.device_array(size, numpy.uint8)
            with hipfile.File(LIBRARY, self.path) as file:
                file.read(address_of(array), size, offset)
            self.assertTrue(numpy.array_equal(array.copy_to_host(), self.expected(name)), name)

    def test_kernel_changes_what_is_written(self):
        stream = cuda.stream()
        offset, size = self.places["embedding"]
        array = cuda.device_array(size, numpy.uint8)
        target = os.path.join(self.folder.name, "changed")
        with hipfile.File(LIBRARY, self.path) as file, \
                hipfile.File(LIBRARY, target, os.O_RDWR | os.O_CREAT) as changed:
            reading = file.read_async(address_of(array), size, offset, handle_of(stream))
            add_one[(size + 255) // 256, 256, stream](array)  # its first launch, behind the read
            writing = changed.write_async(address_of(array), size, 0, handle_of(stream))
            stream.synchronize()
            reading.expect_whole()
            writing.expect_whole()
        written = numpy.frombuffer(weights.plain_bytes(target, 0, size), numpy.uint8)
        self.assertTrue(numpy.array_equal(written, self.expected("embedding") + numpy.uint8(1)))


if __name__ == "__main__":
    if not cuda.is_available():
        print("skipped: Numba sees no GPU")
        sys.exit(77)
    unittest.main(verbosity=2)
