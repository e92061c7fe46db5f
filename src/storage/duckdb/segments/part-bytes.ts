/** Bytes of a list read at a time, because the result of a statement is held in memory. */
export const PART_BYTES = 4 * 1024 * 1024;
