"""Powers of ten and of two, and how a number is shown; the only module that knows them.

Records hold SI: seconds, bytes, bytes per second, operations per second, watts, dollars. Datasheet units appear in YAML
keys and are multiplied in once, when a record is read.
"""

KIB = 1024.0
MIB = 1024.0**2
GIB = 1024.0**3
TIB = 1024.0**4
KB = 1e3
MB = 1e6
GB = 1e9
TB = 1e12
GBIT = 1e9 / 8
TERA = 1e12
GIGA = 1e9
MEGA = 1e6
KILO = 1e3
MS = 1e-3
US = 1e-6
NS = 1e-9
BITS_PER_BYTE = 8.0
HOUR_S = 3600.0
DAY_S = 86400.0
YEAR_S = 365.25 * DAY_S
