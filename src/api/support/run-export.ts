import { weightsOf } from '../../http/weights.js';
import { serializeJson } from '../../signal/json.js';
import { serializeRun } from '../../storage/shared/serialize-run.js';
import type { FollowingRuns, RunCursor, RunSummary } from '../../storage/contracts/runs.js';

/** Number of runs read at a time. */
const AT_ONCE = 500;
const LINE_END = '\r\n';
/**
 * The start of a formula (OWASP, "CSV Injection"). Spreadsheets that separate cells by `;` or tabs ignore the
 * quotes of comma-separated cells, so parts after these and after line breaks are checked as well. Negative numbers are kept.
 */
const FORMULA = /(?<=^|[;\t\r\n])(?!-\d+(?:\.\d+)?(?:[;\t\r\n]|$))(?=[" ]*[=+\-@＝＋－＠]|^[\t\r\n])/g;

const FORMATS = ['text/csv', 'application/x-ndjson'] as const;
type Format = (typeof FORMATS)[number];

const COLUMNS = [
  'trace_id',
  'agent_id',
  'agent_name',
  'kind',
  'status',
  'started_at',
  'ended_at',
  'duration_ms',
  'success',
  'outcome',
  'error_message',
  'total_tokens',
  'total_cost_usd',
  'span_count',
  'session_id',
  'user_id',
  'tags',
  'sample_rate',
  'environment',
  'release',
  'agent_version',
  'repository',
] as const satisfies readonly (keyof ReturnType<typeof serializeListedRun>)[];

/** The export format requested by an `Accept` header; undefined if it names none, or prefers JSON. */
export function exportFormat(accept: string | undefined): Format | undefined {
  const weights = weightsOf(accept ?? '');
  const weightOf = (type: string): number => weights.get(type) ?? 0;
  const most = Math.max(...FORMATS.map(weightOf));
  if (most === 0 || most < weightOf('application/json')) return undefined;
  return FORMATS.find((format) => weightOf(format) === most);
}

export function serializeListedRun(run: RunSummary) {
  return { ...serializeRun(run), agent_id: run.agent_id };
}

/**
 * Exports all runs after a cursor as a file.
 *
 * @param follow reads the next runs
 * @throws ConsumeError if the store fails while the first runs are read
 */
export async function exportRuns(
  format: Format,
  follow: (after: RunCursor | null, limit: number) => Promise<FollowingRuns>,
  after: RunCursor | null,
): Promise<{ encoded: AsyncIterable<Uint8Array>; headers: Readonly<Record<string, string>> }> {
  // Read before the response begins, so that a failure is a proper error response.
  const first = await follow(after, AT_ONCE);
  const isCsv = format === 'text/csv';
  return {
    encoded: lines(first, follow, isCsv),
    headers: {
      'content-type': isCsv ? 'text/csv; charset=utf-8; header=present' : format,
      'content-disposition': `attachment; filename="runs.${isCsv ? 'csv' : 'ndjson'}"`,
      vary: 'Accept',
    },
  };
}

async function* lines(
  first: FollowingRuns,
  follow: (after: RunCursor | null, limit: number) => Promise<FollowingRuns>,
  isCsv: boolean,
): AsyncGenerator<Uint8Array> {
  const print = (runs: readonly RunSummary[]): Uint8Array =>
    Buffer.from(
      runs.map((run) => (isCsv ? csvLine(run) : `${serializeJson(serializeListedRun(run))}\n`)).join(''),
    );
  if (isCsv) yield Buffer.from(COLUMNS.join(',') + LINE_END);
  for (let part = first; ;) {
    if (part.items.length > 0) yield print(part.items);
    for await (const others of part.rest?.pages ?? []) yield print(others);
    if (part.next === null) return;
    part = await follow(part.next, AT_ONCE);
  }
}

function csvLine(run: RunSummary): string {
  const printed = serializeListedRun(run);
  return COLUMNS.map((column) => cell(printed[column])).join(',') + LINE_END;
}

function cell(value: string | number | boolean | readonly string[] | null): string {
  if (value === null) return '';
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  const text = typeof value === 'string' ? value : value.join(';');
  const safe = text.replace(FORMULA, "'");
  return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
