//! One table among others: totals, titles, repeated headers, second tables.
