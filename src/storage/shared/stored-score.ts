import { itemAt } from '../../signal/checked.js';
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
  };
}

/** The columns that are shown besides `span_id`, which may follow from the response. */
export const SHOWN_SCORE = [
  'id',
  'response_id',
  'name',
  'value',
  'label',
  'comment',
  'error_type',
  'source',
  'scored_at',
] as const satisfies readonly (keyof ScoreRow)[];
