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
 * The condition, on a row, that a log record is a GenAI event of a span. The range is for the zone maps: in most row groups no record has
 * a name, or none that lies in it.
 */
export const IS_GEN_AI_EVENT = `event_name >= 'gen_ai.' AND event_name < 'gen_ai/' AND event_name IN (${NAMES}) AND trace_id IS NOT NULL AND span_id IS NOT NULL`;

/** As many stretches of blocks as are read by one statement, each by a scan of its own. */
const MOST_SCANS = 6;

/**
 * Where the GenAI events of a trace lie: a SELECT for each place. To be asked, and read, in one transaction, as blocks may be merged.
 *
 * @param traceId as the store prints it
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
