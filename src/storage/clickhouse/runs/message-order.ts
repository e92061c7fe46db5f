/** Maximum of messages of one trace in a write. */
const MOST_OF_TRACE = 4096;

/**
 * The order of a message among all messages: by the number of its write, then by its place within its trace in that write. Exact up to 2⁴¹
 * writes.
 *
 * @param place from 0, below {@link MOST_OF_TRACE}
 */
export function orderOf(write: number, place: number): number {
  return write * MOST_OF_TRACE + place;
}

/** The number of the write that contains a message. */
export function writeOf(order: number): number {
  return Math.floor(order / MOST_OF_TRACE);
}
