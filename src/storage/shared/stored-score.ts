import { itemAt } from '../../signal/checked.js';
import type { JsonObject } from '../../signal/attributes.js';
import { parseJson } from '../../signal/json.js';
import { SCORE_SOURCES } from '../../signal/score.js';
import type { StoredScore } from '../contracts/runs.js';
import type { ScoreRow } from '../incoming/score-rows.js';

/** A score from the columns of {@link SHOWN_SCORE}, in any engine. */
export function storedScore(row: Readonly<Record<string, unknown>>): StoredScore {
  const text = (name: string): string | null => {
    const value = row[name];
    return typeof value === 'string' ? value : null;
  };
  const { value } = row;
  return {
    id: String(row.id),
    span_id: text('span_id'),
    response_id: text('response_id'),
    name: String(row.name),
    value: typeof value === 'number' ? value : null,
    label: text('label'),
    comment: text('comment'),
    error_type: text('error_type'),
    source: itemAt(SCORE_SOURCES, Number(row.source)),
    at: Number(row.scored_at),
    session_id: text('session_id'),
    metadata: objectIn(text('metadata')),
  };
}

function objectIn(text: string | null): JsonObject | null {
  return text === null ? null : (parseJson(text) as JsonObject);
}

/** The columns that are shown. */
export const SHOWN_SCORE = [
  'id',
  'span_id',
  'response_id',
  'name',
  'value',
  'label',
  'comment',
  'error_type',
  'source',
  'scored_at',
  'session_id',
  'metadata',
] as const satisfies readonly (keyof ScoreRow)[];
