import type { Micros } from '../../../signal/time.js';
import { TRACES } from '../../schema/tables.js';
import { ofCommitsSince } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** Number of commits read first, and the factor for each further attempt. */
const FIRST_COMMITS = 1024;
const TIMES = 32;

/**
 * When any run was last seen; null if there are no runs. Later commits have later times, so only the last commits with runs are
 * read.
 */
export async function lastSeen(connection: Connection, capture: Capture): Promise<Micros | null> {
  for (let commits = FIRST_COMMITS; ; commits *= TIMES) {
    const last = relation(capture, TRACES, ofCommitsSince(capture.lastSeq - commits + 1));
    const [row] = await connection.rows(`SELECT epoch_us(max(heard_at)) AS heard_at FROM ${last}`);
    if (typeof row?.heard_at === 'number') return row.heard_at;
    if (commits >= capture.lastSeq) return null;
  }
}
