/** Of what a list is read in parts: so much at a time, as what one statement gives is held in memory. */
export const PART_BYTES = 4 * 1024 * 1024;
