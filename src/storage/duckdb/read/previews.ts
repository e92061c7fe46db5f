import { payloadsOf } from '../../../runs/rules/payload.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { inputPreview, PREVIEWED_BYTES } from '../../shared/input-preview.js';
import { PREVIEW_MODELS, type RunPreview } from '../../contracts/runs.js';
import { HAS_FAILED, PAYLOADS, PAYLOAD_LINES, SPANS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import {
  conditionsOn,
  narrowed,
  ofCommits,
  type CommitRanges,
  type OfCommits,
} from '../segments/commit-ranges.js';
import { placeKey, type LinePlace } from '../segments/line-places.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { COMMITS, commitsAt } from '../write/stored-traces.js';

/** Runs with more spans have no preview. */
const MOST_SPANS = 10_000;
/** Maximum number of commits that are listed one by one. */
const MOST_SINGLE = 640;
const LLM = SPAN_TYPES.indexOf('llm');
/** The spans that best show a run's input: the first without a parent, and the first model call. */
const IS_FIRST = `row_number() OVER (PARTITION BY trace_id ORDER BY parent_span_id IS NOT NULL, started_at, span_id) = 1`;
const IS_FIRST_CALL = `row_number() OVER (PARTITION BY trace_id ORDER BY type <> ${LLM}, started_at, span_id) = 1`;

/** A run with the commit of its header. */
export interface PlacedRun {
  readonly id: string;
  readonly seq: number;
}

/** Previews of runs. */
export async function readPreviews(
  connection: Connection,
  capture: Capture,
  tenant: number,
  wanted: readonly PlacedRun[],
): Promise<RunPreview[]> {
  if (wanted.length === 0) return [];
  const isOne = (runs: readonly string[]): string =>
    `tenant = ${tenant} AND trace_id IN (${runs.map((id) => `'${id}'::UUID`).join(', ')})`;
  const headersAt = narrowed(ofCommits(wanted.map(({ seq }) => seq)), isOne(wanted.map(({ id }) => id)));
  const headers = await connection.rows(
    `SELECT trace_id::VARCHAR AS id, span_count, ${COMMITS} FROM ${newest(capture, TRACES, headersAt)}`,
  );
  const short = headers.filter(({ span_count: spans }) => Number(spans) > 0 && Number(spans) <= MOST_SPANS);
  const ids = short.map(({ id }) => String(id));
  const rows =
    ids.length === 0
      ? []
      : await spanRows(
          connection,
          capture,
          commitsOf(short.map(commitsAt)).map((at) => narrowed(at, isOne(ids))),
        );
  const firsts = rows.filter(({ line }) => line !== null);
  const inputs = await inputsOf(connection, capture, firsts, isOne(ids));
  return short.map(({ id }) =>
    previewOf(
      String(id),
      rows.filter((row) => row.id === id),
      inputs,
    ),
  );
}

/** A row for each model of a run with the errors of its spans, and one for each of its first spans with the place of its payload. */
async function spanRows(
  connection: Connection,
  capture: Capture,
  where: readonly OfCommits[],
): Promise<Row[]> {
  const columns = 'trace_id, span_id, parent_span_id, started_at, type, status, model, seq, line';
  return await connection.rows(
    `WITH s AS MATERIALIZED (SELECT ${columns} FROM ${newest(capture, SPANS, where)})
     SELECT trace_id::VARCHAR AS id, model, count(*) FILTER (${HAS_FAILED}) AS errors, NULL AS seq, NULL AS line, FALSE AS is_first
     FROM s GROUP BY trace_id, model
     UNION ALL
     SELECT trace_id::VARCHAR, NULL, 0, seq, line, is_first
     FROM (SELECT *, ${IS_FIRST} AS is_first, ${IS_FIRST_CALL} AS is_call FROM s) WHERE is_first OR is_call`,
  );
}

/** The commits of some runs: one by one, or as ranges if there are too many. */
export function commitsOf(places: readonly CommitRanges[]): OfCommits[] {
  const ranges = places.flatMap(({ list }) => list);
  const single = ranges.reduce((sum, { first, last }) => sum + last - first + 1, 0);
  if (single > MOST_SINGLE) return conditionsOn(places);
  return [
    ofCommits(
      ranges.flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)),
    ),
  ];
}

/** The inputs of some spans as JSON, by run and place. @param firsts with `id`, `seq` and `line` */
async function inputsOf(
  connection: Connection,
  capture: Capture,
  firsts: readonly Row[],
  isOne: string,
): Promise<ReadonlyMap<string, string>> {
  const inputs = new Map<string, string>();
  if (firsts.length === 0) return inputs;
  const places = firsts.map(
    ({ id, seq, line }) => `('${String(id)}'::UUID, ${Number(seq)}::BIGINT, ${Number(line)}::BIGINT)`,
  );
  const theirs = narrowed(ofCommits(firsts.map(({ seq }) => Number(seq))), isOne);
  const small = narrowed(theirs, `bytes <= ${PREVIEWED_BYTES}`);
  // A line is in the last piece with `first_line` at or before it. Larger pieces are not read, so here an input's limit includes the
  // output and metadata of its span.
  const pieces = await connection.rows(
    `WITH p AS MATERIALIZED (SELECT seq, trace_id, first_line FROM ${relation(capture, PAYLOADS, theirs)}),
       wanted AS (SELECT w.trace_id, w.seq, max(p.first_line) AS first_line FROM (VALUES ${[...new Set(places)].join(', ')}) w(trace_id, seq, line)
         JOIN p ON p.trace_id = w.trace_id AND p.seq = w.seq AND p.first_line <= w.line GROUP BY w.trace_id, w.seq, w.line)
     SELECT trace_id::VARCHAR AS id, seq, first_line, ${PAYLOAD_LINES} AS lines FROM ${relation(capture, PAYLOADS, small)}
     WHERE (trace_id, seq, first_line) IN (SELECT trace_id, seq, first_line FROM wanted)`,
  );
  for (const { id, seq, first_line: first, lines } of pieces) {
    if (!(lines instanceof Uint8Array)) continue;
    for (const [i, { input }] of payloadsOf(lines).entries())
      if (input !== null)
        inputs.set(
          keyOf(id, { seq: Number(seq), line: Number(first) + i }),
          Buffer.from(input).toString('utf8'),
        );
  }
  return inputs;
}

function keyOf(id: unknown, place: LinePlace): string {
  return `${String(id)} ${placeKey(place)}`;
}

function previewOf(id: string, rows: readonly Row[], inputs: ReadonlyMap<string, string>): RunPreview {
  const models = rows.flatMap(({ model }) => (typeof model === 'string' && model !== '' ? [model] : []));
  const firsts = rows
    .filter(({ line }) => line !== null)
    .sort((a, b) => Number(b.is_first === true) - Number(a.is_first === true))
    .flatMap(({ seq, line }) => inputs.get(keyOf(id, { seq: Number(seq), line: Number(line) })) ?? []);
  const [input] = firsts;
  return {
    trace_id: id,
    models: models.sort().slice(0, PREVIEW_MODELS),
    error_span_count: rows.reduce((sum, { errors }) => sum + Number(errors), 0),
    input_preview: input === undefined ? null : inputPreview(input),
  };
}
