/** How much of a list is read at a time: what one statement gives is held in memory. */
export const PART_BYTES = 4 * 1024 * 1024;
