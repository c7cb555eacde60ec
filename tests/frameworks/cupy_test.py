# SPDX-License-Identifier: MIT
"""CuPy: arrays of its memory pool loaded straight from a file, on its own streams.

cupy_test.py LIBRARY, where LIBRARY is libhipfile.so.0; exits with 77 where there is no CuPy or GPU.
"""
import sys
import unittest

try:
    import cupy
    import numpy
except ImportError:
    print("skipped: no CuPy")
    sys.exit(77)

import hipfile
import weights

LIBRARY = hipfile.load(sys.argv.pop(1))


class CupyTest(weights.FileTest):
    def expect_plain(self, arrays):
        for name, place in self.places.items():
            expected = numpy.frombuffer(weights.plain_bytes(self.path, *place), dtype=numpy.uint8)
            self.assertTrue(numpy.array_equal(cupy.asnumpy(arrays[name]), expected), name)

    def test_synchronous_load(self):
        arrays = {}
        with hipfile.File(LIBRARY, self.path) as file:
            for name, (offset, size) in self.places.items():
                arrays[name] = cupy.zeros(size, dtype=cupy.uint8)
                cupy.cuda.get_current_stream().synchronize()
                file.read(arrays[name].data.ptr, size, offset)
        self.expect_plain(arrays)

    def test_load_on_a_stream(self):
        for stream in (cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
            arrays, operations = {}, []
            with stream, hipfile.File(LIBRARY, self.path) as file:
                for name, (offset, size) in self.places.items():
                    arrays[name] = cupy.zeros(size, dtype=cupy.uint8)
                    operations.append(file.read_async(arrays[name].data.ptr, size, offset,
                                                      stream.ptr))
                stream.synchronize()
                for operation in operations:
                    operation.expect_whole()
            self.expect_plain(arrays)

    def test_graphs_captured_before_and_after(self):
        offset, size = self.places["embedding"]
        source, before, after = (cupy.zeros(size, dtype=cupy.uint8) for _ in range(3))
        stream = cupy.cuda.Stream(non_blocking=True)
        cupy.invert(source, out=before)  # compiled before anything captures
        cupy.cuda.get_current_stream().synchronize()

        def graph_of(result):
            with stream:
                stream.begin_capture()
                cupy.invert(source, out=result)
                return stream.end_capture()

        graphs = [graph_of(before)]
        with hipfile.File(LIBRARY, self.path) as file:
            for result in (before, after):
                # One read between the captures, one behind both.
                operation = file.read_async(source.data.ptr, size, offset, stream.ptr)
                for graph in graphs:
                    graph.launch(stream)
                stream.synchronize()
                operation.expect_whole()
                graphs.append(graph_of(after))
                source.fill(0)
                cupy.cuda.get_current_stream().synchronize()
                expected = numpy.frombuffer(weights.plain_bytes(self.path, offset, size),
                                            dtype=numpy.uint8)
                self.assertTrue(numpy.array_equal(cupy.asnumpy(result), ~expected))

    def test_memory_of_the_asynchronous_pool(self):
        with cupy.cuda.using_allocator(cupy.cuda.MemoryAsyncPool().malloc):
            self.test_synchronous_load()
            self.test_load_on_a_stream()


if __name__ == "__main__":
    try:
        cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError:
        print("skipped: CuPy sees no GPU")
        sys.exit(77)
    unittest.main(verbosity=2)
