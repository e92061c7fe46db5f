import { invariant } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { narrowed, ofCommitsSince } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { extremesOf } from '../segments/extremes.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { isOf } from './unit-rows.js';

/** How far a node's spans were searched, and the last time found. */
interface Seen {
  readonly seq: number;
  readonly activeAt: Micros | null;
}

/**
 * When nodes of the service map were last active: the last time of their spans, capped at the time when the run was last seen. Results
 * are cached: the first read scans all spans (some 0.1 s for 10 million), later ones only new spans. So times never decrease, even if
 * retention removes the spans.
 */
export class NodeActivity {
  readonly #seen = new Map<number, Seen>();

  /** @returns the last time of each node; null for a node without spans */
  async read(
    connection: Connection,
    capture: Capture,
    nodes: readonly number[],
  ): Promise<ReadonlyMap<number, Micros | null>> {
    const known = nodes.filter((node) => this.#seen.has(node));
    const { least: seenUpTo } = extremesOf(
      known.map((node) => invariant(this.#seen.get(node), 'note of a node').seq),
    );
    await this.#look(connection, capture, known, seenUpTo);
    const knownOnes = new Set(known);
    const unknown = nodes.filter((node) => !knownOnes.has(node));
    await this.#look(connection, capture, unknown, 0);
    return new Map(nodes.map((node) => [node, this.#seen.get(node)?.activeAt ?? null]));
  }

  /** Reads the rows added after a commit. */
  async #look(
    connection: Connection,
    capture: Capture,
    nodes: readonly number[],
    after: number,
  ): Promise<void> {
    if (nodes.length === 0 || after >= capture.lastSeq) return;
    const since = ofCommitsSince(after + 1);
    // A commit that brings spans writes the header of their trace, too.
    const spans = relation(capture, SPANS, narrowed(since, isOf({ unit: 'node', numbers: nodes })));
    const traces = newest(capture, TRACES, since);
    const rows = await connection.rows(
      `SELECT node_no, epoch_us(max(least(greatest(s.started_at, coalesce(s.ended_at, s.started_at)), t.heard_at))) AS active_at
       FROM ${spans} s JOIN ${traces} t ON s.tenant = t.tenant AND s.trace_id = t.trace_id GROUP BY node_no`,
    );
    const found = new Map(rows.map((row) => [Number(row.node_no), Number(row.active_at)]));
    for (const node of nodes) {
      // Another look may have finished meanwhile.
      const { seq, activeAt } = this.#seen.get(node) ?? { seq: 0, activeAt: null };
      const last = Math.max(activeAt ?? -Infinity, found.get(node) ?? -Infinity);
      this.#seen.set(node, {
        seq: Math.max(seq, capture.lastSeq),
        activeAt: last === -Infinity ? null : last,
      });
    }
  }
}
