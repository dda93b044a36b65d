"""By which rules the replies of a file were asked, and what that makes of single entries.

What becomes of most entries is the same by all rules, so the release of a reply is looked for only
where an answer may hang on it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from pi_sessions.context.message import Reason
from pi_sessions.context.projection import cut_replies
from pi_sessions.context.selection import select
from pi_sessions.table import Kind, Table
from pi_sessions.tree import path

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping

    from pi_sessions.context.fate import Fates
    from pi_sessions.context.rules import Rules


class Ruling:
    """Answers by the rules of each reply.

    Args:
        table: the lines.
        fates: what becomes of single entries; its rules are those of all replies, or of most.
        rules_of: gives the rules by which a reply was asked; None: those of `fates`.
    """

    def __init__(
        self, table: Table, fates: Fates, rules_of: Callable[[int], Rules] | None = None
    ) -> None:
        self.table = table
        self._fates = fates
        self._rules_of = rules_of
        self._others: dict[Rules, Fates] = {}
        self._known: dict[int, Rules] = {}
        self._learnt: Mapping[int, Reason | bool | None] = {}

    def rules(self, reply: int) -> Rules:
        """Give the rules a reply was asked by, as far as they decide what is told."""
        if self._rules_of is None:
            return self._fates.options.rules.told
        if reply not in self._known:
            self._known[reply] = self._rules_of(reply).told
        return self._known[reply]

    def fates(self, rules: Rules) -> Fates:
        """Give what answers for single entries by some rules."""
        if rules == self._fates.options.rules.told:
            return self._fates
        if rules not in self._others:
            self._others[rules] = self._fates.under(rules)
            self._others[rules].learn(self._learnt)
        return self._others[rules]

    def learn(self, plain: Mapping[int, Reason | bool | None]) -> None:
        """Take over what becomes of replies by the rules of today.

        Of replies that did not fail it is the same by all rules.
        """
        self._learnt = {line: told for line, told in plain.items() if not isinstance(told, Reason)}
        rules = self._fates.options.rules
        is_of_today = rules.drops_failed and rules.drops_aborted
        self._fates.learn(plain if is_of_today else self._learnt)

    def plain(self, line: int) -> Reason | bool | None:
        """Say what becomes of an entry without any edit, as `Fates.plain` does.

        True where that hangs on the model or on the rules.
        """
        plain = self._fates.plain(line)
        if self._rules_of is None or plain is None:
            return plain
        found = {self.fates(rules).plain(line) for rules in self._profiles}
        return found.pop() if len(found) == 1 else True

    @cached_property
    def _profiles(self) -> set[Rules]:
        """The rules that replies were asked by."""
        return {self.rules(reply) for reply in self.table.of_kind(Kind.ASSISTANT)}

    def keeps_all(self, compaction: int) -> bool:
        """Say whether a compaction without a boundary kept everything for the replies below it.

        That hangs on the first of them: nobody has written such a compaction since.
        """
        reply = self.table.kinds.find(Kind.ASSISTANT, compaction)
        rules = self.rules(reply) if reply > 0 else self._fates.options.rules
        return rules.keeps_all_without_boundary

    @cached_property
    def cut(self) -> Container[int]:
        """Replies that ended at the output limit right before a compaction."""
        table = self.table
        before = {table.parents[line] for line in table.of_kind(Kind.COMPACTION)}
        replies = (line for line in before if line > 0 and table.kinds[line] == Kind.ASSISTANT)
        return {n for n in replies if table.raw(n)["message"].get("stopReason") == "length"}

    def forgets(self, rules: Rules, leaf: int, line: int) -> bool:
        """Say whether a process left a cut reply out of a request without a trace."""
        if not rules.drops_cut_replies:
            return False
        chosen = select(self.table, path(self.table, leaf), rules)
        return line in cut_replies(self.table, chosen)
