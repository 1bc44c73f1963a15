"""The table: what each API of a source framework becomes. Every file below is a family; a rule is found by where it stands, not by an index."""

from ._framework import SOURCES as SOURCES
from ._framework import TITLES as TITLES
from ._framework import framework as framework
from ._framework import title_of as title_of
from ._rule import Case as Case
from ._rule import Form as Form
from ._rule import Rule as Rule
from ._rule import rule as rule
from ._table import Table as Table
from ._table import table as table
