"""Ctrl-C while the study is written."""

import signal
import threading

import pytest

from tir_mlir.tune.search.ledger import interrupts_deferred


@pytest.fixture(autouse=True)
def restored_handler():
    """What a test sets ends with it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_waits_for_the_end():
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        ctrl_c()
        done.append("written")
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_second_one_does_not_wait():
    with pytest.raises(KeyboardInterrupt), interrupts_deferred():
        ctrl_c()
        ctrl_c()
        pytest.fail("the second one was deferred too")


def test_an_error_comes_first():
    with pytest.raises(ValueError, match="disk"), interrupts_deferred():
        ctrl_c()
        raise ValueError("disk")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_the_user_stays():
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    with interrupts_deferred():
        ctrl_c()
        assert seen


def test_where_the_signal_is_ignored_it_stays_so():
    """A command in the background goes on when Ctrl-C ends the one in the foreground."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_deferred():
        ctrl_c()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_have_no_handlers():
    errors = []

    def run():
        try:
            with interrupts_deferred():
                pass
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert not errors
