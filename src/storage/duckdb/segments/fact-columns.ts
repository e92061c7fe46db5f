import { FACT_FIELDS } from '../../../runs/rules/rows.js';
import { SPAN_WIRE } from '../../schema/tables.js';

type SpanColumn = (typeof SPAN_WIRE)[number];
type FactColumn = Extract<SpanColumn, { readonly name: (typeof FACT_FIELDS)[number] }>;

/** The columns of a span that its run's header and the service map depend on. */
export const FACT_COLUMNS: readonly FactColumn[] = SPAN_WIRE.filter((column): column is FactColumn =>
  FACT_FIELDS.some((name) => name === column.name),
);
