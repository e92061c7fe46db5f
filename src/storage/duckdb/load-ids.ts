import { TRACES } from '../tables.js';
import type { Connection } from './database.js';
import type { Fingerprints } from './fingerprints.js';
import { newest } from './relation.js';
import type { Capture } from './segments.js';

/** Fills the memory of the ids of traces from everything stored. */
export async function loadIds(connection: Connection, capture: Capture, traces: Fingerprints): Promise<void> {
  const headers = `SELECT tenant, trace_id, seq FROM ${newest(capture, TRACES)}`;
  for await (const chunk of connection.chunks(headers)) {
    const tenants = chunk.words(0, 4);
    const words = chunk.words(1, 16);
    const seqs = chunk.words(2, 8);
    for (let row = 0; row < chunk.rows; row++) {
      const seq = (seqs[row * 2] ?? 0) + (seqs[row * 2 + 1] ?? 0) * 4_294_967_296;
      traces.add(tenants[row] ?? 0, words, row * 4, seq);
    }
  }
}
