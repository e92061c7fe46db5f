import { doubleAt, wordAt } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { TRACES } from '../../schema/tables.js';
import { narrowed, ofCommits, union, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { int64At, type Row } from '../files/plain-rows.js';
import type { IdIndex } from '../index/id-index.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { keyOf } from '../../../runs/rules/span-facts.js';
import type { LinkedPrompt } from './linked-run.js';
import type { TraceLinks } from './trace-links.js';

/**
 * Reads the stored links of some traces of one user.
 *
 * @param linked every linked trace, with the last commit that wrote a link of it
 */
export async function loadLinks(
  connection: Connection,
  capture: Capture,
  linked: IdIndex,
  tenant: number,
  traces: readonly TraceLinks[],
): Promise<void> {
  const byId = new Map(traces.map((links) => [formatUuid(links.words, links.offset), links]));
  const seqs = new Set(traces.map(({ words, offset }) => linked.find(tenant, words, offset)));
  const ids = [...byId.keys()].map((id) => `'${id}'::UUID`).join(', ');
  const read = async (commits: OfCommits): Promise<void> => {
    const where = narrowed(commits, `tenant = ${tenant} AND trace_id IN (${ids})`);
    const rows = await connection.rows(
      `SELECT seq, first_seq, prompt_no, trace_id::VARCHAR AS trace_id, span_id::VARCHAR AS span_id FROM ${relation(capture, PROMPT_LINKS, where)}`,
    );
    for (const row of rows) putLink(byId.get(String(row.trace_id)), row);
  };
  await read(ofCommits(seqs));
  const earlier = traces.filter(({ firstSeq, lastSeq }) => firstSeq < lastSeq);
  if (earlier.length === 0) return;
  const before = earlier.map(({ firstSeq, lastSeq }) => ({ first: firstSeq, last: lastSeq - 1 }));
  const isBefore = before.map(({ first, last }) => `seq BETWEEN ${first} AND ${last}`).join(' OR ');
  await read({ commits: union(before), sql: `(${isBefore})` });
}

function putLink(links: TraceLinks | undefined, row: Row): void {
  links?.put(Number(row.prompt_no), row.span_id === null ? null : keyOf(String(row.span_id)), {
    first: Number(row.first_seq),
    last: Number(row.seq),
  });
}

/** Every stored run that used some prompt versions, once per version, in chunks. */
export async function* storedPrompts(
  connection: Connection,
  capture: Capture,
  promptNos: readonly number[],
): AsyncGenerator<LinkedPrompt[]> {
  const links = relation(capture, PROMPT_LINKS, `prompt_no IN (${promptNos.join(', ')})`);
  // Columns are transferred in binary form, so missing values are replaced by a number that no run has.
  const chunks = connection.chunks(
    `SELECT l.prompt_no, coalesce(t.success::INTEGER, -1), coalesce(t.total_cost_usd, -1),
       coalesce(t.duration_ms, -1)
     FROM (SELECT DISTINCT tenant, prompt_no, trace_id FROM ${links}) l
     JOIN ${newest(capture, TRACES)} t ON t.tenant = l.tenant AND t.trace_id = l.trace_id`,
  );
  for await (const chunk of chunks) {
    const prompts = chunk.words(0, 4);
    const successes = chunk.words(1, 4);
    const costs = chunk.words(2, 8);
    const words = chunk.words(3, 8);
    const durations = new Float64Array(words.buffer, words.byteOffset, chunk.rows);
    const found: LinkedPrompt[] = [];
    for (let row = 0; row < chunk.rows; row++) {
      const success = wordAt(successes, row) | 0;
      const cost = int64At(costs, row);
      const duration = doubleAt(durations, row);
      found.push({
        promptNo: wordAt(prompts, row),
        run: {
          success: success < 0 ? null : success === 1,
          cost: cost < 0 ? null : cost,
          durationMs: duration < 0 ? null : duration,
        },
      });
    }
    yield found;
  }
}

/**
 * Removes links from the cold file: those of deleted prompt versions, and those created before a time whose traces never arrived.
 * Links of removed traces are removed with their traces.
 *
 * @returns whether any were removed
 */
export async function removeLinks(
  connection: Connection,
  capture: Capture,
  { firstKept, deleted }: { readonly firstKept: Micros; readonly deleted: readonly number[] },
): Promise<boolean> {
  const isGone = `(linked_at < make_timestamp(${firstKept}) AND ${isPending(capture)}) OR ${isDeleted(deleted)}`;
  const [found] = await connection.rows(
    `SELECT 1 AS found FROM cold.main.prompt_links l WHERE ${isGone} LIMIT 1`,
  );
  if (found === undefined) return false;
  await connection.run(`DELETE FROM cold.main.prompt_links l WHERE ${isGone}`);
  return true;
}

/** The condition for links of deleted prompt versions. */
export function isDeleted(numbers: readonly number[]): string {
  return numbers.length === 0 ? 'FALSE' : `prompt_no IN (${numbers.join(', ')})`;
}

/** The numbers of all prompt versions that have links. */
export async function readLinkedPrompts(connection: Connection, capture: Capture): Promise<number[]> {
  const rows = await connection.rows(
    `SELECT DISTINCT prompt_no FROM ${relation(capture, PROMPT_LINKS)} ORDER BY prompt_no`,
  );
  return rows.map(({ prompt_no }) => Number(prompt_no));
}

/** Number of links of a user without a stored trace. */
export async function countPending(
  connection: Connection,
  capture: Capture,
  tenant: number,
): Promise<number> {
  const [counted] = await connection.rows(
    `SELECT count(*) AS links FROM ${relation(capture, PROMPT_LINKS, `tenant = ${tenant}`)} l WHERE ${isPending(capture)}`,
  );
  return Number(counted?.links ?? 0);
}

/** The condition that the trace of a link `l` is not stored. */
function isPending(capture: Capture): string {
  return `NOT EXISTS (SELECT 1 FROM ${relation(capture, TRACES)} t WHERE t.tenant = l.tenant AND t.trace_id = l.trace_id)`;
}
