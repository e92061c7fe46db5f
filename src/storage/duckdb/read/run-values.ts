import type { FieldValue, ValueField, WantedValues } from '../../contracts/runs.js';
import { TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { Agents } from '../stats/agents.js';
import { conditions, fieldText } from './run-conditions.js';
import { hasScores } from './run-scores.js';

/** The most frequent values of a field of runs. */
export async function readValues(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  { field, contains, filter, limit }: WantedValues,
): Promise<FieldValue[]> {
  const matching = conditions(agents, tenant, filter);
  if (matching === null) return [];
  const runs = newest(capture, TRACES, `tenant = ${tenant} AND ${matching.sql}`);
  const also = await hasScores({ connection, capture, tenant }, filter.scores);
  const isWanted = contains === undefined ? 'TRUE' : `contains(lower(value), lower(${literal(contains)}))`;
  const rows = await connection.rows(
    `SELECT value, count(*) AS runs FROM (SELECT ${valuesOf(field)} AS value FROM ${runs} WHERE ${also})
     WHERE value <> '' AND ${isWanted} GROUP BY value ORDER BY runs DESC, value LIMIT ${limit}`,
  );
  return rows.map(({ value, runs }) => ({ value: String(value), runs: Number(runs) }));
}

/** SQL for the values of a field, one row each. */
function valuesOf(field: ValueField): string {
  if (field === 'tag') return 'unnest(string_split(tags, chr(10)))';
  if (field === 'metadata') return 'unnest(json_keys(metadata))';
  return field === 'session_id' || field === 'user_id' ? field : fieldText(field);
}
