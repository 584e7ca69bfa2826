// Package ring keeps datagrams as they came, in files whose size together is bounded: what is new takes the place of
// what is oldest. Receivers hand over copies and never wait for the disk; what the disk cannot take is counted.
//
// A segment is a file with a header and blocks behind each other. Each block has the datagrams of one socket of at most
// a fifth of a second, and a checksum over all of it. It is written at once, so that after the end of the process,
// however it came, all blocks but the last are whole, and the last is cut off where it is not. Numbers are
// little-endian.
//
//	 0        8       12       16          segment NUMBER.reports
//	+--------+--------+--------+
//	|"waybill|version |   0    |  blocks ...
//	|  \0"   |   1    |        |
//	+--------+--------+--------+
//
//	 0       4       8        12       16       24       32                48     50     64
//	+-------+-------+--------+--------+--------+--------+-----------------+------+------+
//	|"WBRB" |length |CRC-32C |records |first   |last    |listener address | port |  0   |  records ...
//	|       |bytes  |of what |        |ns since|ns since|IPv6 or mapped   |      |      |
//	|       |in all |follows |        |1970    |1970    |IPv4             |      |      |
//	+-------+-------+--------+--------+--------+--------+-----------------+------+------+
//
//	 0        8                 24     26      27  28       32
//	+--------+-----------------+------+-------+---+--------+
//	|time    |source address   | port |flags  | 0 |length  |  payload
//	|ns      |                 |      |1: cut |   |bytes   |
//	+--------+-----------------+------+-------+---+--------+
package ring
