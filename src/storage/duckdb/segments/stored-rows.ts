import type { Column, RowOf } from '../../../worker/columns.js';
import type { Row } from '../files/plain-rows.js';
import type { SpanState } from '../../../runs/spans/span-state.js';
import type { FACT_COLUMNS } from './fact-columns.js';
import { factsOf } from '../../../runs/rules/span-facts.js';

/** @param row selected by {@link selectList}; may have other columns */
export function pickRow<const Columns extends readonly Column[]>(row: Row, columns: Columns): RowOf<Columns> {
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])) as RowOf<Columns>;
}

/** The state of a stored span, from its facts only. @param row with `seq`, `line` and `node_no` */
export function spanStateOf(row: Row, facts: RowOf<typeof FACT_COLUMNS>): SpanState {
  return {
    ...factsOf(facts, Number(row.node_no)),
    seq: Number(row.seq),
    line: Number(row.line),
    row: undefined,
    payload: undefined,
    changed: false,
  };
}
