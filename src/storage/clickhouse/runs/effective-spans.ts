import { completedSpan } from '../../../runs/rules/completion.js';
import { RUNNING, type FactRow, type SpanRow } from '../../../runs/rules/rows.js';
import type { CountsColumns } from '../../../runs/rules/span-facts.js';

/** A span in one message. */
export interface SentFact<Row extends FactRow = FactRow> {
  /** The order of its message. */
  readonly order: number;
  readonly row: Row;
  /** The node's number, `NO_NODE` or `AGENT_NODE`. */
  readonly node: number;
  /** The number of the span's prompt version; null for none. */
  readonly prompt: number | null;
}

/** The messages that contribute to a span; all other messages with the span are repeats. */
export interface MadeOf<Row extends FactRow = FactRow> {
  readonly begun: SentFact<Row>;
  /** The message that completes the span; null if absent. */
  readonly completed: SentFact<Row> | null;
}

/** A complete span and its counted amounts. */
export interface WholeSpan {
  readonly made: MadeOf<SpanRow>;
  readonly counts: CountsColumns;
}

/**
 * The messages that contribute to each span of a run, by span id: the first message and, if that one is running, the first later one with a
 * terminal status. The same rule as in `fold`.
 *
 * @param sent in any order
 */
export function spansMadeOf<Row extends FactRow>(
  sent: readonly SentFact<Row>[],
): ReadonlyMap<string, MadeOf<Row>> {
  const made = new Map<string, MadeOf<Row>>();
  for (const fact of sent.toSorted((a, b) => a.order - b.order)) {
    const known = made.get(fact.row.span_id);
    if (known === undefined) made.set(fact.row.span_id, { begun: fact, completed: null });
    else if (known.completed === null && known.begun.row.status === RUNNING && fact.row.status !== RUNNING)
      made.set(fact.row.span_id, { begun: known.begun, completed: fact });
  }
  return made;
}

/** The complete row of a span. */
export function rowMadeOf<Row extends FactRow>({ begun, completed }: MadeOf<Row>): Row {
  return completed === null ? begun.row : completedSpan(begun.row, completed.row);
}
