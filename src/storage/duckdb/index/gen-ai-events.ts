import { GEN_AI_EVENTS } from '../../../signal/logged-event.js';
import type { Connection } from '../files/connection.js';
import { LOGS } from '../../schema/log-tables.js';
import { hotPartsOf } from '../segments/relation.js';
import { COLD, type Capture } from '../segments/segment.js';
import { joinNearest } from '../segments/commit-ranges.js';
import { isInRun, runsOf } from './block-runs.js';
import { termHash } from './terms.js';

const NAMES = [...GEN_AI_EVENTS].map((name) => `'${name}'`).join(', ');

/**
 * The SQL condition that a log record is a GenAI event of a span. The range lets zone maps skip row groups: most have no event
 * name, or none in the range.
 */
export const IS_GEN_AI_EVENT = `event_name >= 'gen_ai.' AND event_name < 'gen_ai/' AND event_name IN (${NAMES}) AND trace_id IS NOT NULL AND span_id IS NOT NULL`;

/** As many stretches of blocks as are read by one statement, each by a scan of its own. */
const MOST_SCANS = 6;

/**
 * The places of a trace's GenAI events: a SELECT for each. Call it and run the statements in one transaction, because blocks may
 * be merged.
 *
 * @param traceId in the store's own format
 */
export async function eventPartsOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
): Promise<string[]> {
  const where = `tenant = ${tenant} AND trace_id = '${traceId}'::UUID AND ${IS_GEN_AI_EVENT}`;
  const hash = termHash(`${tenant}`, 'trace', `'${traceId}'`);
  const blocks = await connection.rows(
    `SELECT block FROM ${COLD}.main.log_terms WHERE seq <= ${capture.bound} AND hash = ${hash} ORDER BY block`,
  );
  const runs = joinNearest(runsOf(blocks.map(({ block }) => Number(block))), MOST_SCANS);
  const cold = runs.map(
    (run) => `SELECT * FROM ${COLD}.main.logs WHERE seq <= ${capture.bound} AND ${isInRun(run)} AND ${where}`,
  );
  return [...cold, ...hotPartsOf(capture, LOGS, where)];
}
