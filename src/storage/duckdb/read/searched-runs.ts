import { payloadsOf, type Payload } from '../../../runs/rules/payload.js';
import { mayHave, patternInBytes } from '../../shared/needles.js';
import {
  HEADER_TEXTS,
  textsOfHeader,
  textsOfSpan,
  type Needles,
  type SearchStep,
  type TextOfRun,
} from '../../shared/run-search.js';
import type { AttributeNeedle } from '../../shared/attribute-search.js';
import type { StoredAttributes } from '../../../signal/attributes.js';
import { LONG_PIECE_BYTES, PAYLOADS, PAYLOAD_LINES, SPANS, TRACES } from '../../schema/tables.js';
import { itemAt } from '../../../signal/checked.js';
import { tokensOf, visibleText } from '../../shared/log-text.js';
import type { Agent, Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import type { Row } from '../files/plain-rows.js';
import {
  CommitRanges,
  joinClose,
  joinNearest,
  narrowed,
  ofCommits,
  ofCommitsBetween,
  union,
  type CommitRange,
  type OfCommits,
} from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { COMMITS, commitsAt } from '../write/stored-traces.js';
import { placeOf, type KeysAfter } from './following-runs.js';
import { commitsOf } from './previews.js';

/** Bytes of long pieces that one statement searches: DuckDB holds up to 2048 rows at a time, as text four times as long. */
const LONG_BYTES = 32 * 1024 * 1024;
const OWN_FIELDS = ['name', 'model', 'error_message'] as const;
const HEADER_TEXT = textOf(`concat_ws(chr(0), ${HEADER_TEXTS.join(', ')})`);
const OWN_TEXT = textOf(`concat_ws(chr(0), ${OWN_FIELDS.join(', ')})`);

/** Where a piece of payloads is stored. */
export interface PiecePlace {
  readonly traceId: string;
  readonly seq: number;
  readonly firstLine: number;
  readonly bytes: number;
}

/** The texts of some runs, except for payloads, and the pieces of payloads that may matter. */
export interface TextsOfRuns {
  readonly texts: readonly TextOfRun[];
  readonly pieces: readonly PiecePlace[];
}

/** Each scan takes a millisecond to plan. */
const MOST_SCANS = 32;
/** Each range is a comparison for each run. */
const MOST_COMPARED = 48;

/**
 * The condition for runs that may meet each condition of a query: the texts of their commits, or the name of their agent.
 *
 * @param terms of each condition
 * @param commits those that may have them: `commitsWith`
 * @returns SQL; undefined if all runs may meet them
 */
export function mayHaveTerms(
  agents: readonly Agent[],
  terms: readonly (readonly string[])[],
  commits: readonly (readonly CommitRange[])[],
): string | undefined {
  const conditions = commits.flatMap((ranges, i) => {
    const few = joinNearest(ranges, MOST_COMPARED);
    if (few.length === 1 && few[0]?.first === 1) return [];
    const named = agents.filter(({ name }) => {
      const found = new Set(tokensOf(visibleText(name)));
      return itemAt(terms, i).every((term) => found.has(term) || !/[\p{L}\p{N}]/u.test(term));
    });
    if (named.length > MOST_COMPARED) return [];
    const parts = few.map(
      ({ first, last }) =>
        `(seq BETWEEN ${first} AND ${last} OR (first_seq <= ${last} AND last_seq >= ${first}))`,
    );
    return `(${[...parts, ...named.map(({ agent_no: number }) => `agent_no = ${number}`)].join(' OR ')})`;
  });
  return conditions.length === 0 ? undefined : conditions.join(' AND ');
}

/** A run, and the commits in which it is read. */
interface ReadRun {
  readonly id: unknown;
  readonly commits: CommitRanges;
}

/**
 * Conditions for the rows of some runs, each range of commits in a scan of its own: DuckDB then skips the payloads of all others, which
 * it decompresses to compare them with a list of commits. A scan names only the runs in its range: 32 scans with the ids of 800 runs
 * are a megabyte of SQL, which takes longer to parse than to run.
 */
function scansOf(tenant: number, runs: readonly ReadRun[]): OfCommits[] {
  const ranges = joinClose(union(runs.flatMap(({ commits }) => commits.list)));
  if (ranges.length === 0 || ranges.length > MOST_SCANS)
    return commitsOf(runs.map(({ commits }) => commits)).map((commits) =>
      narrowed(commits, ofTraces(tenant, runs)),
    );
  return ranges.map(({ first, last }) => {
    const there = runs.filter(({ commits }) =>
      commits.list.some((range) => range.first <= last && range.last >= first),
    );
    return narrowed(ofCommitsBetween(first, last), ofTraces(tenant, there));
  });
}

function readRun(row: Row): ReadRun {
  return { id: row.id, commits: commitsAt(row) };
}

/** Searches a part of a list for needles, in its own commits only. @param sought.commits the only ones to search; empty: all */
export async function searchStep(
  { keys, next, connection, capture }: KeysAfter,
  agents: Agents,
  tenant: number,
  sought: { readonly needles: Needles; readonly commits: readonly CommitRange[] },
): Promise<SearchStep> {
  const { needles } = sought;
  const wholeMask = 2 ** (needles.texts.length + (needles.attributes.length === 0 ? 0 : 1)) - 1;
  if (keys.length === 0 || wholeMask === 0) return { candidates: keys.map(placeOf), next };
  const found = new Map<string, number>();
  for (const { id, agent_no } of keys)
    found.set(String(id), maskOfName(nameOf(agents, agent_no), needles.texts));
  const add = ({ id, mask }: Row): void => {
    found.set(String(id), (found.get(String(id)) ?? 0) | Number(mask));
  };
  const isOne = ofTraces(tenant, keys);
  const only = sought.commits.length === 0 ? null : union(sought.commits);
  const placesOf = (runs: readonly Row[]): OfCommits[] =>
    scansOf(
      tenant,
      runs.map((row) => {
        const run = readRun(row);
        return only === null ? run : { ...run, commits: run.commits.within(only) };
      }),
    );
  const withSpans = keys.filter(hasSpans);
  const there = withSpans.length === 0 ? [] : placesOf(withSpans);
  const texts = [
    ...(needles.texts.length > 0
      ? [
          `SELECT trace_id, ${HEADER_TEXT} AS t, FALSE AS is_payload FROM ${relation(capture, TRACES, headersOf(keys, isOne))}`,
          ...(there.length > 0
            ? [
                `SELECT trace_id, ${OWN_TEXT} AS t, FALSE AS is_payload FROM ${relation(capture, SPANS, there)}`,
              ]
            : []),
        ]
      : []),
    ...(there.length > 0
      ? [
          `SELECT trace_id, lines::VARCHAR AS t, TRUE AS is_payload FROM ${relation(
            capture,
            PAYLOADS,
            there.map((commits) => narrowed(commits, 'lines IS NOT NULL')),
          )}`,
        ]
      : []),
  ];
  if (texts.length > 0)
    for (const row of await connection.rows(masks(texts.join(' UNION ALL '), needles))) add(row);
  const open = keys.filter((key) => hasSpans(key) && found.get(String(key.id)) !== wholeMask);
  for await (const row of inLongPieces(
    connection,
    capture,
    tenant,
    { open, places: placesOf(open) },
    needles,
  ))
    add(row);
  return { candidates: keys.filter(({ id }) => found.get(String(id)) === wholeMask).map(placeOf), next };
}

/** The texts of some runs that have one of the needles, except for payloads. @param runs the commits of their headers, by id */
export async function textsOfRuns(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  { runs, needles }: { readonly runs: ReadonlyMap<string, number>; readonly needles: readonly string[] },
): Promise<TextsOfRuns> {
  const headers = await headerRows(connection, capture, tenant, runs);
  const texts = headers.flatMap((row) => textsOfRow(agents, row));
  const withSpans = headers.filter(hasSpans);
  if (withSpans.length === 0) return { texts, pieces: [] };
  const there = scansOf(tenant, withSpans.map(readRun));
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS id, span_id::VARCHAR AS span_id, type, ${OWN_FIELDS.join(', ')} FROM ${newest(capture, SPANS, there)} WHERE ${hasAny(OWN_TEXT, needles)} ORDER BY started_at, span_id`,
  );
  for (const row of rows) texts.push(...textsOfSpan(String(row.id), row));
  const pieces = await connection.rows(
    `SELECT trace_id::VARCHAR AS id, seq, first_line, bytes FROM ${relation(capture, PAYLOADS, there)}
     WHERE ${needles.length === 0 ? 'TRUE' : `lines IS NULL OR ${hasAny('lines::VARCHAR', needles)}`} ORDER BY seq, first_line`,
  );
  return { texts, pieces: pieces.map(piecePlace) };
}

/** The texts of a run's own fields. @param seq the commit of its header */
export async function textsOfOneRun(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  { traceId, seq }: { readonly traceId: string; readonly seq: number },
): Promise<TextOfRun[]> {
  const headers = await headerRows(connection, capture, tenant, new Map([[traceId, seq]]));
  return headers.flatMap((row) => textsOfRow(agents, row));
}

/** @param runs the commits of the headers, by id */
async function headerRows(
  connection: Connection,
  capture: Capture,
  tenant: number,
  runs: ReadonlyMap<string, number>,
  columns: readonly string[] = HEADER_TEXTS,
): Promise<Row[]> {
  const wanted = [...runs].map(([id, seq]): Row => ({ id, seq }));
  if (wanted.length === 0) return [];
  const there = headersOf(wanted, ofTraces(tenant, wanted));
  return await connection.rows(
    `SELECT ${['trace_id::VARCHAR AS id', 'agent_no', ...columns].join(', ')}, ${COMMITS} FROM ${newest(capture, TRACES, there)}`,
  );
}

function textsOfRow(agents: Agents, row: Row): TextOfRun[] {
  return textsOfHeader(String(row.id), nameOf(agents, row.agent_no), row);
}

/** The pieces of payloads of some runs. @param runs the commits of their headers, by id */
export async function piecesOfRuns(
  connection: Connection,
  capture: Capture,
  tenant: number,
  runs: ReadonlyMap<string, number>,
): Promise<PiecePlace[]> {
  const headers = (await headerRows(connection, capture, tenant, runs, [])).filter(hasSpans);
  if (headers.length === 0) return [];
  const there = scansOf(tenant, headers.map(readRun));
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS id, seq, first_line, bytes FROM ${relation(capture, PAYLOADS, there)} ORDER BY seq, first_line`,
  );
  return rows.map(piecePlace);
}

/** The inputs and outputs in some pieces of payloads, by start of their spans. */
export async function textsInPieces(
  connection: Connection,
  capture: Capture,
  tenant: number,
  pieces: readonly PiecePlace[],
): Promise<TextOfRun[]> {
  const columns = ['span_id::VARCHAR AS span_id', 'name', 'type'];
  const found = await spansInPieces(connection, capture, tenant, { pieces, isWanted: 'TRUE', columns });
  return found.flatMap(({ traceId, row, payload }) => textsOfPayload(traceId, row, payload));
}

/** The attributes of spans in those of some pieces that may have all needles of one of the lists. */
export async function attributesInPieces(
  connection: Connection,
  capture: Capture,
  tenant: number,
  pieces: readonly PiecePlace[],
  needles: readonly (readonly AttributeNeedle[])[],
): Promise<StoredAttributes[]> {
  const isWanted = needles.map((all) => hasAttributes('lines::VARCHAR', all)).join(' OR ');
  const found = await spansInPieces(connection, capture, tenant, {
    pieces,
    isWanted: `(lines IS NULL OR ${isWanted})`,
    columns: [],
  });
  return found.map(({ traceId, payload: { metadata, sent, origin } }) => ({
    trace_id: traceId,
    // With received bytes, `metadata` has only values that are no attributes.
    metadata: sent === null ? metadata : null,
    sent,
    origin,
  }));
}

/** The spans in some pieces of payloads, by start. @param of.isWanted a condition on the pieces @param of.columns of the spans */
async function spansInPieces(
  connection: Connection,
  capture: Capture,
  tenant: number,
  of: {
    readonly pieces: readonly PiecePlace[];
    readonly isWanted: string;
    readonly columns: readonly string[];
  },
): Promise<{ readonly traceId: string; readonly row: Row; readonly payload: Payload }[]> {
  const { pieces, isWanted, columns } = of;
  if (pieces.length === 0) return [];
  const there = scansOf(
    tenant,
    pieces.map(({ traceId, seq }) => ({ id: traceId, commits: CommitRanges.of(seq) })),
  );
  const payloads = new Map<string, Payload>();
  const read = await connection.rows(`${linesAt(capture, there, pieces)} AND ${isWanted}`);
  if (read.length === 0) return [];
  const spans = await connection.rows(
    `SELECT ${['trace_id::VARCHAR AS id', 'seq', 'line', ...columns].join(', ')} FROM ${newest(capture, SPANS, there)} ORDER BY started_at, span_id`,
  );
  for (const { id, seq, first_line, lines } of read) {
    if (!(lines instanceof Uint8Array)) continue;
    for (const [i, payload] of payloadsOf(lines).entries())
      payloads.set(placeKey(String(id), Number(seq), Number(first_line) + i), payload);
  }
  // Payloads of spans that were replaced have no span.
  return spans.flatMap((row) => {
    const traceId = String(row.id);
    const payload = payloads.get(placeKey(traceId, Number(row.seq), Number(row.line)));
    return payload === undefined ? [] : [{ traceId, row, payload }];
  });
}

/** The searched fields of a span with its payload. */
export function textsOfPayload(traceId: string, row: Row, { input, output }: Payload): TextOfRun[] {
  const texts = {
    ...(input !== null && { input_data: utf8(input) }),
    ...(output !== null && { output_data: utf8(output) }),
  };
  return textsOfSpan(traceId, { ...row, ...texts });
}

/** Searches long pieces, a few at a time. */
async function* inLongPieces(
  connection: Connection,
  capture: Capture,
  tenant: number,
  { open, places }: { readonly open: readonly Row[]; readonly places: readonly OfCommits[] },
  needles: Needles,
): AsyncGenerator<Row> {
  if (open.length === 0) return;
  const isOne = ofTraces(tenant, open);
  const there = places.map((commits) => narrowed(commits, `bytes > ${LONG_PIECE_BYTES}`));
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS id, seq, first_line, bytes FROM ${relation(capture, PAYLOADS, there)} ORDER BY seq`,
  );
  for (const pieces of batchesOf(rows.map(piecePlace), LONG_BYTES)) {
    const at = [narrowed(ofCommits(pieces.map(({ seq }) => seq)), isOne)];
    const texts = `SELECT id::UUID AS trace_id, lines::VARCHAR AS t, TRUE AS is_payload FROM (${linesAt(capture, at, pieces)})`;
    for (const row of await connection.rows(masks(texts, needles))) yield row;
  }
}

/** Pieces of up to some bytes together, at least one. */
export function* batchesOf<Piece extends { readonly bytes: number }>(
  pieces: readonly Piece[],
  most: number,
): Generator<Piece[]> {
  let batch: Piece[] = [];
  let bytes = 0;
  for (const piece of pieces) {
    if (batch.length > 0 && bytes + piece.bytes > most) {
      yield batch;
      [batch, bytes] = [[], 0];
    }
    batch.push(piece);
    bytes += piece.bytes;
  }
  if (batch.length > 0) yield batch;
}

/** SELECT for the bytes of pieces. @param there a condition that they meet */
function linesAt(capture: Capture, there: readonly OfCommits[], pieces: readonly PiecePlace[]): string {
  const places = pieces.map(
    ({ traceId, seq, firstLine }) => `('${traceId}'::UUID, ${seq}::BIGINT, ${firstLine}::UINTEGER)`,
  );
  return `SELECT trace_id::VARCHAR AS id, seq, first_line, ${PAYLOAD_LINES} AS lines FROM ${relation(capture, PAYLOADS, there)} WHERE (trace_id, seq, first_line) IN (${places.join(', ')})`;
}

/**
 * For each run the needles that its texts have, as bits; one bit for those of attributes.
 *
 * @param texts SELECT for `trace_id`, the text `t` and whether it `is_payload`
 */
function masks(texts: string, { texts: needles, attributes }: Needles): string {
  const isMet = [
    ...needles.map((needle) => has('t', needle)),
    ...(attributes.length > 0 ? [`is_payload AND ${hasAttributes('t', attributes)}`] : []),
  ];
  const bits = isMet.map((condition, i) => `CASE WHEN ${condition} THEN ${2 ** i} ELSE 0 END`);
  return `SELECT trace_id::VARCHAR AS id, bit_or(${bits.join(' | ')})::INTEGER AS mask FROM (${texts}) GROUP BY trace_id`;
}

function nameOf(agents: Agents, agentNo: unknown): string {
  return agents.byNumber(Number(agentNo))?.name ?? '';
}

function maskOfName(name: string, needles: readonly string[]): number {
  return needles.reduce((mask, needle, i) => (mayHave(name, needle) ? mask | (2 ** i) : mask), 0);
}

function hasAny(text: string, needles: readonly string[]): string {
  if (needles.length === 0) return 'TRUE';
  return `(${needles.map((needle) => has(text, needle)).join(' OR ')})`;
}

/** @param text SQL for a text as {@link patternInBytes} expects it */
function has(text: string, needle: string): string {
  return `regexp_matches(${text}, ${literal(patternInBytes(needle))})`;
}

/** @param text SQL for bytes that are cast to a text */
function hasAttributes(text: string, needles: readonly AttributeNeedle[]): string {
  const contains = (bytes: Uint8Array): string =>
    bytes.length === 0 ? 'TRUE' : `contains(${text}, ${literal(castBytes(bytes))})`;
  const conditions = needles.map(({ key, values, pairs }) =>
    pairs.length > 0
      ? `(${pairs.map(contains).join(' OR ')})`
      : `${contains(key)} AND (${values.map(contains).join(' OR ')})`,
  );
  return conditions.length === 0 ? 'TRUE' : `(${conditions.join(' AND ')})`;
}

/** Bytes as DuckDB casts them to a text. */
function castBytes(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => {
    const character = String.fromCharCode(byte);
    const isPlain = byte >= 0x20 && byte < 0x7f && !'"\'\\'.includes(character);
    return isPlain ? character : `\\x${byte.toString(16).padStart(2, '0').toUpperCase()}`;
  }).join('');
}

/** A text in the form of bytes that are cast to a text. */
function textOf(text: string): string {
  return `encode(${text})::VARCHAR`;
}

function ofTraces(tenant: number, rows: readonly { readonly id?: unknown }[]): string {
  const ids = new Set(rows.map(({ id }) => `'${String(id)}'::UUID`));
  return `tenant = ${tenant} AND trace_id IN (${[...ids].join(', ')})`;
}

function headersOf(rows: readonly Row[], isOne: string): OfCommits {
  return narrowed(ofCommits(rows.map(({ seq }) => Number(seq))), isOne);
}

function hasSpans({ last_seq }: Row): boolean {
  return Number(last_seq) > 0;
}

function piecePlace({ id, seq, first_line, bytes }: Row): PiecePlace {
  return { traceId: String(id), seq: Number(seq), firstLine: Number(first_line), bytes: Number(bytes) };
}

function placeKey(traceId: string, seq: number, line: number): string {
  return `${traceId}/${seq}/${line}`;
}

function utf8(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
