import { Type, type Static } from 'typebox';
import { SPAN_TYPES } from '../../signal/span.js';
import { RUN_FIELDS, SPAN_FIELDS, type TextMatch } from '../../storage/contracts/search.js';
import { nullable, uuid } from './fields.js';

/** The query language, for descriptions of parameters. */
export const QUERY_WORDS = 'Words, "phrases", `prefix*` and `-without`, in any case.';
/** How long one request searches in runs. */
export const SEARCH_MS = 1500;

/** Where a query was found. */
export const textMatchSchema = Type.Object(
  {
    span_id: nullable(uuid('Null for a field of the run itself, like `span_name` and `span_type`.')),
    span_name: nullable(Type.String()),
    span_type: nullable(Type.Enum(SPAN_TYPES)),
    field: Type.Enum([...new Set([...RUN_FIELDS, ...SPAN_FIELDS])], {
      description: 'The field that was searched.',
    }),
    snippet: Type.String({ description: 'The text around the first match, in one line.' }),
    marks: Type.Array(Type.Array(Type.Integer({ minimum: 0 }), { minItems: 2, maxItems: 2 }), {
      description: 'Matches in `snippet`: start and end of each, in UTF-16 units.',
    }),
  },
  { title: 'TextMatch', description: 'Where a query was found.' },
);

export function serializeTextMatch({ span, field, snippet }: TextMatch): Static<typeof textMatchSchema> {
  const marks = snippet.marks.map(([start, end]) => [start, end]);
  return {
    span_id: span?.span_id ?? null,
    span_name: span?.name ?? null,
    span_type: span?.type ?? null,
    field,
    snippet: snippet.text,
    marks,
  };
}
