# SPDX-License-Identifier: MIT
"""PyTorch: tensors loaded straight from a file, on PyTorch's own streams, equal a plain load.

torch_test.py LIBRARY, where LIBRARY is libhipfile.so.0. Run with and without
PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; exits with 77 where there is no PyTorch or no GPU.
"""
import os
import sys
import threading
import unittest

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

import hipfile
import weights

LIBRARY = hipfile.load(sys.argv.pop(1))


def plain(path, place):
    return torch.frombuffer(bytearray(weights.plain_bytes(path, *place)), dtype=torch.uint8)


class TorchTest(weights.FileTest):
    def empty(self, size):
        return torch.zeros(size, dtype=torch.uint8, device="cuda")

    def load_async(self, file, stream):
        """The tensors, and the operations that fill them on a stream."""
        tensors, operations = {}, []
        for name, (offset, size) in self.places.items():
            tensors[name] = self.empty(size)
            operations.append(file.read_async(tensors[name].data_ptr(), size, offset,
                                              stream.cuda_stream))
        return tensors, operations

    def expect_plain(self, tensors):
        for name, place in self.places.items():
            self.assertTrue(torch.equal(tensors[name].cpu(), plain(self.path, place)), name)

    def test_synchronous_load(self):
        tensors = {}
        with hipfile.File(LIBRARY, self.path) as file:
            for name, (offset, size) in self.places.items():
                tensors[name] = self.empty(size)
                torch.cuda.synchronize()  # the zeros are PyTorch's, on its stream
                file.read(tensors[name].data_ptr(), size, offset)
        self.expect_plain(tensors)

    def test_load_on_the_current_stream(self):
        for stream in (torch.cuda.current_stream(), torch.cuda.Stream()):
            with torch.cuda.stream(stream), hipfile.File(LIBRARY, self.path) as file:
                current = torch.cuda.current_stream()
                tensors, operations = self.load_async(file, current)
                # Work of PyTorch behind it in the stream sees the bytes, without any wait.
                sums = {name: tensor.sum(dtype=torch.int64) for name, tensor in tensors.items()}
                current.synchronize()
                for operation in operations:
                    operation.expect_whole()
            for name, place in self.places.items():
                self.assertEqual(int(sums[name]),
                                 int(plain(self.path, place).sum(dtype=torch.int64)), name)
            self.expect_plain(tensors)

    def test_load_on_a_registered_stream(self):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), hipfile.File(LIBRARY, self.path) as file:
            file.check(LIBRARY.hipFileStreamRegister(stream.cuda_stream, hipfile.ALL_FIXED))
            tensors, _ = self.load_async(file, stream)
            stream.synchronize()
            file.check(LIBRARY.hipFileStreamDeregister(stream.cuda_stream))
        self.expect_plain(tensors)

    def test_kernel_changes_what_is_written(self):
        offset, size = self.places["attention"]
        target = os.path.join(self.folder.name, "changed")
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream), hipfile.File(LIBRARY, self.path) as file, \
                hipfile.File(LIBRARY, target, os.O_RDWR | os.O_CREAT) as changed:
            tensor = self.empty(size)
            reading = file.read_async(tensor.data_ptr(), size, offset, stream.cuda_stream)
            tensor.bitwise_xor_(0x5A)
            writing = changed.write_async(tensor.data_ptr(), size, 0, stream.cuda_stream)
            stream.synchronize()
            reading.expect_whole()
            writing.expect_whole()
        expected = plain(self.path, (offset, size)).bitwise_xor_(0x5A)
        self.assertTrue(torch.equal(plain(target, (0, size)), expected))

    def graph_of(self, source, result):
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            result.copy_(source)
            result.bitwise_not_()
        return graph

    def test_graphs_captured_before_and_after(self):
        offset, size = self.places["embedding"]
        expected = plain(self.path, (offset, size)).bitwise_not_()
        source, before, after = self.empty(size), self.empty(size), self.empty(size)
        graph = self.graph_of(source, before)
        with hipfile.File(LIBRARY, self.path) as file:
            stream = torch.cuda.current_stream()
            operation = file.read_async(source.data_ptr(), size, offset, stream.cuda_stream)
            graph.replay()
            stream.synchronize()
            operation.expect_whole()
            self.assertTrue(torch.equal(before.cpu(), expected))
            # The library is open and has streams and threads of its own meanwhile.
            graph_behind = self.graph_of(source, after)
            source.zero_()
            torch.cuda.synchronize()
            operation = file.read_async(source.data_ptr(), size, offset, stream.cuda_stream)
            graph_behind.replay()
            stream.synchronize()
            operation.expect_whole()
            self.assertTrue(torch.equal(after.cpu(), expected))

    def test_another_thread_reads_during_a_capture(self):
        offset, size = self.places["attention"]
        source, result, loaded = self.empty(4096), self.empty(4096), self.empty(size)
        torch.cuda.synchronize()
        failures = []
        with hipfile.File(LIBRARY, self.path) as file:
            def read():
                try:
                    file.read(loaded.data_ptr(), size, offset)
                except OSError as error:
                    failures.append(error)
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):  # global mode: unsafe calls of any thread spoil it
                result.copy_(source)
                thread = threading.Thread(target=read)
                thread.start()
                thread.join()
            graph.replay()
        torch.cuda.synchronize()
        self.assertEqual([], failures)
        self.assertTrue(torch.equal(loaded.cpu(), plain(self.path, (offset, size))))

    def test_the_current_device_and_stream_are_left(self):
        stream = torch.cuda.current_stream().cuda_stream
        self.test_synchronous_load()
        self.assertEqual(0, torch.cuda.current_device())
        self.assertEqual(stream, torch.cuda.current_stream().cuda_stream)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        sys.exit(77)
    unittest.main(verbosity=2)
