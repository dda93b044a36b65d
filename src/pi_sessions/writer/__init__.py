"""Writing session files: appends, branches, edits and forks, and never a byte lost.

| module | charter |
|---|---|
| `session_writer` | the writer: what a person or a program calls |
| `pen` | where the next line goes, and putting it there; what to do when others write |
| `places` | the id, time and parent of a new entry |
| `shapes` | the keys of each entry type in their order, and what is refused |
| `ids` | session ids, entry ids, times and file names |
| `rows` | rows of the table for lines that come in later |
| `appending` | one append is one write; what a failed one leaves is taken back |
| `creating` | a new file appears whole or not at all |
| `locking` | one writer of ours at a time |
| `forks` | a branch, or all branches, as a new session |
| `edits` | what a person means by "the replies that failed" |

Every function that needs the time or random numbers takes them as arguments.
"""
