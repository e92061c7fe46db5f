import { itemAt } from '../../../signal/checked.js';
import { payloadsOf, type Payload } from '../../../runs/rules/payload.js';
import { PAYLOADS, PAYLOAD_LINES } from '../../schema/tables.js';
import { narrowed, ofCommits, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { onLines, type LinePlace } from '../segments/line-places.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** Up to this many spans, all packed payloads of a trace are read at once: at most 64 KiB per piece. */
export const FEW_SPANS = 64;

/** The pieces of a trace, by commit, in the order of their lines. */
export type Pieces = ReadonlyMap<number, readonly Piece[]>;

/** A row of payloads: consecutive lines of a trace. */
interface Piece {
  readonly seq: number;
  readonly firstLine: number;
  readonly bytes: number;
  /** Null if not packed or not read. */
  readonly lines: Uint8Array | null;
}

/** The payloads read, by commit and line number. */
type Lines = ReadonlyMap<number, ReadonlyMap<number, Payload>>;

/**
 * The payload lines of the first spans of a list of one trace: as many as fit into `maxBytes`, but at least one.
 *
 * @param of.places positions of the spans
 * @param of.areAll whether these are all spans of the trace
 * @param of.pieces the pieces of these spans, if already read
 * @returns the number of spans, their lines, and the bytes of the pieces that contain them
 */
export async function firstPayloads(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  of: { readonly places: readonly LinePlace[]; readonly areAll: boolean; readonly pieces?: Pieces | null },
  maxBytes: number,
): Promise<{ readonly spans: number; readonly lines: Lines; readonly bytes: number }> {
  const { places, areAll } = of;
  if (places.length === 0) return { spans: 0, lines: new Map(), bytes: 0 };
  const theirs = [ofCommits(places.map(({ seq }) => seq))];
  const withLines = areAll && places.length <= FEW_SPANS;
  const pieces = of.pieces ?? (await piecesOf(connection, capture, tenant, traceId, theirs, withLines));
  const chosen = new Set<Piece>();
  let bytes = 0;
  let spans = 0;
  for (const place of places) {
    const piece = pieceWith(pieces.get(place.seq) ?? [], place.line);
    if (piece !== undefined && !chosen.has(piece)) {
      if (spans > 0 && bytes + piece.bytes > maxBytes) break;
      chosen.add(piece);
      bytes += piece.bytes;
    }
    spans++;
  }
  const lines = new Map<number, Map<number, Payload>>();
  const missing: Piece[] = [];
  for (const piece of chosen) {
    if (piece.lines === null) missing.push(piece);
    else addLines(lines, piece, piece.lines);
  }
  if (missing.length > 0) {
    const places = missing.map(({ seq, firstLine }) => ({ seq, line: firstLine }));
    await addLinesWhere(connection, capture, tenant, traceId, onLines('first_line', places), lines);
  }
  return { spans, lines, bytes };
}

/**
 * The pieces of a trace in some commits.
 *
 * @param commits mutually exclusive conditions
 * @param withLines whether to also read the lines of packed pieces: for traces with few spans
 */
export async function piecesOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  commits: readonly OfCommits[],
  withLines: boolean,
): Promise<Pieces> {
  const isOfTrace = `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`;
  const where = commits.map((seqs) => narrowed(seqs, isOfTrace));
  const rows = await connection.rows(
    `SELECT seq, first_line, bytes, ${withLines ? 'lines' : 'NULL'} AS lines FROM ${relation(capture, PAYLOADS, where)}`,
  );
  const bySeq = new Map<number, Piece[]>();
  for (const row of rows) {
    const lines = row.lines instanceof Uint8Array ? row.lines : null;
    const [seq, firstLine, bytes] = [Number(row.seq), Number(row.first_line), Number(row.bytes)];
    const piece = { seq, firstLine, bytes, lines };
    const known = bySeq.get(seq);
    if (known === undefined) bySeq.set(seq, [piece]);
    else known.push(piece);
  }
  for (const pieces of bySeq.values()) pieces.sort((a, b) => a.firstLine - b.firstLine);
  return bySeq;
}

/** The piece that contains a line; undefined if missing, because pieces without payloads are not stored. */
function pieceWith(pieces: readonly Piece[], line: number): Piece | undefined {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (itemAt(pieces, middle).firstLine <= line) low = middle + 1;
    else high = middle;
  }
  return pieces[low - 1];
}

async function addLinesWhere(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  condition: OfCommits,
  found: Map<number, Map<number, Payload>>,
): Promise<void> {
  const where = narrowed(condition, `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`);
  const rows = await connection.rows(
    `SELECT seq, first_line, ${PAYLOAD_LINES} AS lines FROM ${relation(capture, PAYLOADS, where)}`,
  );
  for (const { seq, first_line: first, lines } of rows)
    if (lines instanceof Uint8Array) addLines(found, { seq: Number(seq), firstLine: Number(first) }, lines);
}

function addLines(
  found: Map<number, Map<number, Payload>>,
  { seq, firstLine }: Pick<Piece, 'seq' | 'firstLine'>,
  lines: Uint8Array,
): void {
  const known = found.get(seq) ?? new Map<number, Payload>();
  found.set(seq, known);
  for (const [i, payload] of payloadsOf(lines).entries()) known.set(firstLine + i, payload);
}
