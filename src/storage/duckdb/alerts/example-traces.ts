import type { ExampleQuery } from '../../alert-figures.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../rows/segment.js';
import { finishedRows, startedRows, type Units } from './unit-rows.js';

/** By what examples are looked for: queries that differ only in their target share one statement. */
type ExamplesOf = Pick<ExampleQuery, 'type' | 'from' | 'to'>;

const MOST_EXAMPLES = 20;

/** The traces that best explain why alerts fire, the best first: by the number of the agent or node. */
export async function exampleTraces(
  connection: Connection,
  capture: Capture,
  units: Units,
  wanted: ExamplesOf,
): Promise<Map<number, string[]>> {
  const found = new Map<number, string[]>();
  const ranked = await rankedTraces(connection, capture, units, wanted);
  if (ranked === null) return found;
  // A trace may have several spans of a node.
  const rows = await connection.rows(
    `SELECT no, trace_id::VARCHAR AS trace_id FROM (SELECT no, trace_id, ${ranked.by} AS rank FROM ${ranked.rows} GROUP BY no, trace_id)
     QUALIFY row_number() OVER (PARTITION BY no ORDER BY rank DESC, trace_id) <= ${MOST_EXAMPLES}
     ORDER BY no, rank DESC, trace_id`,
  );
  for (const { no, trace_id } of rows) {
    const ids = found.get(Number(no));
    if (ids === undefined) found.set(Number(no), [String(trace_id)]);
    else ids.push(String(trace_id));
  }
  return found;
}

/** The rows that hold the examples, and by what their traces are ranked; null where no trace can explain anything. */
async function rankedTraces(
  connection: Connection,
  capture: Capture,
  units: Units,
  { type, from, to }: ExamplesOf,
): Promise<{ readonly rows: string; readonly by: string } | null> {
  switch (type) {
    case 'inactivity':
      return null;
    case 'cost_threshold':
      return { rows: `${startedRows(capture, units, { from, to })} WHERE cost > 0`, by: 'sum(cost)' };
    case 'failure_rate':
    case 'latency_threshold': {
      const finished = await finishedRows(connection, capture, units, { after: from, until: to });
      return type === 'failure_rate'
        ? { rows: `${finished} WHERE failed`, by: 'max(event)' }
        : { rows: `${finished} WHERE duration_ms IS NOT NULL`, by: 'max(duration_ms)' };
    }
  }
}
