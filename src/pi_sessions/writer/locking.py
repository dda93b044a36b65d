"""One writer of ours at a time: an advisory lock on the session file itself.

No lock file is left beside a session, and the lock of a process that was killed is gone with it. Pi
takes no lock; against it, `appending` looks at the file before each write.
"""

from __future__ import annotations

import errno
import fcntl
import time

from pi_sessions.errors import SessionLockedError

PATIENCE = 10.0
"""Seconds to wait for another writer."""
_PAUSE = 0.001
_LONGEST_PAUSE = 0.05
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL}
"""What a file system without locks answers; there is nothing to wait for then."""


def lock(descriptor: int, path: str, patience: float = PATIENCE) -> None:
    """Take the lock of an open file.

    Args:
        descriptor: of the file.
        path: its name, for the message.
        patience: seconds to wait while another process has it.

    Raises:
        SessionLockedError: another process has it for longer.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        _wait(descriptor, path, patience)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def _wait(descriptor: int, path: str, patience: float) -> None:
    end = time.monotonic() + patience
    pause = _PAUSE
    while True:
        time.sleep(pause)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                raise SessionLockedError(path) from None
            pause = min(pause * 2, _LONGEST_PAUSE)
        else:
            return
