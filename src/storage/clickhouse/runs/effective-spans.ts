import { completedSpan } from '../../../runs/rules/completion.js';
import { RUNNING, type FactRow, type SpanRow } from '../../../runs/rules/rows.js';

/** A span as one message brought it. */
export interface SentFact<Row extends FactRow = FactRow> {
  /** That of its message. */
  readonly order: number;
  readonly row: Row;
  /** The number of its node, `NO_NODE` or `AGENT_NODE`. */
  readonly node: number;
  /** The number of the prompt version that it names; null for none. */
  readonly prompt: number | null;
}

/** Which messages a span is made of: all others that bring it are repeats. */
export interface MadeOf<Row extends FactRow = FactRow> {
  readonly begun: SentFact<Row>;
  /** The one that completes it; null where none does. */
  readonly completed: SentFact<Row> | null;
}

/** A span as a whole, and what counts of it. */
export interface WholeSpan {
  readonly made: MadeOf<SpanRow>;
  readonly told: Pick<SpanRow, 'same_as' | 'counted'>;
}

/**
 * What the spans of a run are made of, by their ids: of each the first message, and where that says that it is running the first one after
 * it that says how it ended. The same as `fold` goes by.
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

/** The span as a whole. */
export function rowMadeOf<Row extends FactRow>({ begun, completed }: MadeOf<Row>): Row {
  return completed === null ? begun.row : completedSpan(begun.row, completed.row);
}
