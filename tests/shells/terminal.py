"""A terminal to try programs in: what is typed goes in, what is shown comes out."""
import os
import pty
import select
import signal
import struct
import fcntl
import termios
import time


class Terminal:
    def __init__(self, command, environment, folder, columns=80, lines=24):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack('HHHH', lines, columns, 0, 0))
        self.shown = ''

    def type(self, text):
        os.write(self.fd, text.encode())

    def wait_for(self, text, seconds=20):
        """Whether the text comes; `shown` is what came since the last clear()."""
        end = time.time() + seconds
        while text not in self.shown:
            ready, _, _ = select.select([self.fd], [], [], max(0, end - time.time()))
            if not ready:
                return False
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return text in self.shown
            if not data:
                return text in self.shown
            self.shown += data.decode(errors='replace')
            self.answer(data)
        return True

    def answer(self, data):
        """fish asks what the terminal is and waits for it."""
        if b'\x1b[c' in data or b'\x1b[0c' in data:
            os.write(self.fd, b'\x1b[?62c')
        if b'\x1b[6n' in data:
            os.write(self.fd, b'\x1b[1;1R')

    def settle(self, seconds=0.4):
        """Reads until nothing has come for a while."""
        while select.select([self.fd], [], [], seconds)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.shown += data.decode(errors='replace')
            self.answer(data)

    def clear(self):
        self.shown = ''

    def close(self):
        os.close(self.fd)
        try:
            os.kill(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.pid, 0)
