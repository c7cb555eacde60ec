# SPDX-License-Identifier: MIT
"""hipFile by ctypes, as much as the tests of the frameworks need: files, reads and writes."""
import ctypes
import os

SUCCESS = 0
OPAQUE_FD = 1
ALL_FIXED = 1 | 2 | 4  # HIPFILE_STREAM_FIXED_*


class Error(ctypes.Structure):
    _fields_ = [("err", ctypes.c_int), ("hip_drv_err", ctypes.c_int)]


class Handle(ctypes.Union):
    _fields_ = [("fd", ctypes.c_int), ("hFile", ctypes.c_void_p)]


class Descr(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("handle", Handle), ("fs_ops", ctypes.c_void_p)]


def load(path):
    library = ctypes.CDLL(path)
    pointer, size, offset = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int64
    for name, result, arguments in (
        ("hipFileHandleRegister", Error, [pointer, pointer]),
        ("hipFileHandleDeregister", None, [pointer]),
        ("hipFileRead", ctypes.c_ssize_t, [pointer, pointer, size, offset, offset]),
        ("hipFileWrite", ctypes.c_ssize_t, [pointer, pointer, size, offset, offset]),
        ("hipFileReadAsync", Error, [pointer] * 7),
        ("hipFileWriteAsync", Error, [pointer] * 7),
        ("hipFileStreamRegister", Error, [pointer, ctypes.c_uint]),
        ("hipFileStreamDeregister", Error, [pointer]),
        ("hipFileGetOpErrorString", ctypes.c_char_p, [ctypes.c_int]),
    ):
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    return library


class Operation:
    """An asynchronous call: what it points to lives until its stream was waited for."""

    def __init__(self, size, file_offset):
        self.size = ctypes.c_size_t(size)
        self.file_offset = ctypes.c_int64(file_offset)
        self.buffer_offset = ctypes.c_int64(0)
        self.done = ctypes.c_ssize_t(-1)

    def pointers(self):
        values = (self.size, self.file_offset, self.buffer_offset, self.done)
        return [ctypes.addressof(value) for value in values]

    def expect_whole(self):
        if self.done.value != self.size.value:
            raise OSError(f"an asynchronous call answered {self.done.value}")


class File:
    """A registered file."""

    def __init__(self, library, path, flags=os.O_RDONLY):
        self.library = library
        self.fd = os.open(path, flags, 0o600)
        descr = Descr(type=OPAQUE_FD, handle=Handle(fd=self.fd))
        self.handle = ctypes.c_void_p()
        self.check(library.hipFileHandleRegister(ctypes.byref(self.handle), ctypes.byref(descr)))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.hipFileHandleDeregister(self.handle)
        os.close(self.fd)

    def check(self, error):
        if error.err != SUCCESS:
            text = self.library.hipFileGetOpErrorString(error.err).decode()
            raise OSError(f"{text} (HIP {error.hip_drv_err})")

    def read(self, address, size, offset):
        done = self.library.hipFileRead(self.handle, address, size, offset, 0)
        if done != size:
            raise OSError(f"hipFileRead answered {done} for {size}")

    def write(self, address, size, offset):
        done = self.library.hipFileWrite(self.handle, address, size, offset, 0)
        if done != size:
            raise OSError(f"hipFileWrite answered {done} for {size}")

    def read_async(self, address, size, offset, stream):
        operation = Operation(size, offset)
        self.check(self.library.hipFileReadAsync(self.handle, address, *operation.pointers(),
                                                 stream))
        return operation

    def write_async(self, address, size, offset, stream):
        operation = Operation(size, offset)
        self.check(self.library.hipFileWriteAsync(self.handle, address, *operation.pointers(),
                                                  stream))
        return operation
