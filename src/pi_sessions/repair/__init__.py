"""Mending session files: what is wrong, what can be done, and doing it without losing a byte."""

from pi_sessions.repair.applying import Mended as Mended
from pi_sessions.repair.applying import Patient as Patient
from pi_sessions.repair.values import Guesses as Guesses
