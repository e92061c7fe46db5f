import { queryOptions, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query';
import { api, bodyOf, readText, type Schemas } from '../../api/client.js';
import { parseJson, type Json } from '../../json/parse.js';
import { useStream } from '../../live/use-stream.js';
import { mergeSpans, toRunSpan, type RunSummary } from '../../trace/run-summary.js';
import type { PayloadTexts } from '../../trace/rows.js';
import type { RunSpan } from '../../trace/span.js';

export interface LoadedRun {
  readonly run: Omit<Schemas['TraceOutline'], 'spans'>;
  readonly spans: readonly RunSpan[];
}

/** An event of the stream lacks scores that did not change. */
type RunUpdate = Omit<RunSummary, 'scores'> & Partial<Pick<RunSummary, 'scores'>>;

/** Poll interval of a running run without a stream. */
const WITHOUT_STREAM_MS = 5000;
/** Longer values are loaded on request. */
export const MAX_BYTES = 65_536;
const EVENTS = ['span', 'lost'];

/** A run with its spans, without payloads, updated by the stream. */
export function useRun(id: string) {
  const client = useQueryClient();
  const isRunning = (data: LoadedRun | undefined) => data?.run.status === 'running';
  const { data: known } = useQuery<LoadedRun>({ queryKey: keyOf(id), enabled: false });
  const isLive = useStream(
    isRunning(known) ? id : null,
    () => `trace:${id}@${String(client.getQueryData<LoadedRun>(keyOf(id))?.run.seq ?? 0)}`,
    EVENTS,
    (event, data) => {
      if (event === 'span') put(client, id, data as unknown as RunUpdate);
      else void client.invalidateQueries({ queryKey: keyOf(id) });
    },
  );
  return useQuery({
    ...runQuery(client, id),
    refetchInterval: ({ state }) => (isRunning(state.data) && !isLive ? WITHOUT_STREAM_MS : false),
  });
}

/** Loads a run, or only its changes since the last load. @param id trace id */
export function runQuery(client: QueryClient, id: string) {
  return queryOptions({
    queryKey: keyOf(id),
    queryFn: async ({ signal }): Promise<LoadedRun> => {
      const before = client.getQueryData<LoadedRun>(keyOf(id));
      const after = before?.run.seq ?? 0;
      const params = { path: { trace_id: id }, query: after === 0 ? {} : { after } };
      const body = await bodyOf(api.GET('/api/v1/dashboard/traces/{trace_id}/spans', { params, signal }));
      return merged(client.getQueryData<LoadedRun>(keyOf(id)), body);
    },
    // Comparing ten thousand spans field by field takes longer than rendering them.
    structuralSharing: false,
  });
}

function keyOf(id: string): readonly unknown[] {
  return ['run', id];
}

function put(client: QueryClient, id: string, updates: RunUpdate): void {
  client.setQueryData<LoadedRun>(keyOf(id), (known) => merged(known, updates));
}

function merged(known: LoadedRun | undefined, { spans, ...changed }: RunUpdate): LoadedRun {
  const run = { ...changed, scores: changed.scores ?? known?.run.scores ?? [] };
  const updates = spans.map(toRunSpan);
  if (known === undefined) return { run, spans: updates };
  // A response may be older than a streamed event.
  return { run: run.seq < known.run.seq ? known.run : run, spans: mergeSpans(known.spans, updates) };
}

/**
 * A span with its payload and all digits.
 *
 * @param span undefined to load nothing
 * @param maxBytes longer values are shortened; undefined for complete values
 */
export function spanQuery(traceId: string, span: RunSpan | undefined, maxBytes: number | undefined) {
  const limit = maxBytes === undefined ? '' : `?max_bytes=${String(maxBytes)}`;
  return queryOptions({
    // Each version of the span has its own cache entry.
    queryKey: ['span', traceId, span?.id, maxBytes, span && versionOf(span)],
    queryFn: async ({ signal }): Promise<Json> =>
      parseJson(await readText(`dashboard/traces/${traceId}/spans/${span?.id ?? ''}${limit}`, signal)),
    enabled: span !== undefined,
    structuralSharing: false,
  });
}

/** @param isWhole whether long values are complete */
export function useSpan(traceId: string, span: RunSpan | undefined, isWhole: boolean) {
  return useQuery({
    ...spanQuery(traceId, span, isWhole ? undefined : MAX_BYTES),
    placeholderData: (before, query) => (query?.queryKey[2] === span?.id ? before : undefined),
  });
}

function versionOf({ status, end, inputBytes, outputBytes, tokens, cost, error }: RunSpan): string {
  return [status, end, inputBytes, outputBytes, tokens, cost, error].join(' ');
}

/** Runs with larger payloads are searched by what the tree shows. */
const MOST_SEARCHED = 8 * 1024 * 1024;

/** The texts in the payloads of a run, loaded once something is searched. */
export function usePayloadTexts(
  traceId: string,
  spans: readonly RunSpan[],
  isWanted: boolean,
): { readonly texts: PayloadTexts | undefined; readonly isLoading: boolean; readonly isTooLarge: boolean } {
  const bytes = spans.reduce((sum, span) => sum + (span.inputBytes ?? 0) + (span.outputBytes ?? 0), 0);
  const isTooLarge = bytes > MOST_SEARCHED;
  const { data, isLoading } = useQuery({
    queryKey: ['run-texts', traceId, bytes],
    queryFn: async ({ signal }): Promise<PayloadTexts> => {
      const run = JSON.parse(await readText(`dashboard/traces/${traceId}`, signal)) as WholeRun;
      return new Map(
        run.spans.map((span) => [
          span.span_id,
          [...textsIn(span.input_data), ...textsIn(span.output_data)].join('\n').toLowerCase(),
        ]),
      );
    },
    enabled: isWanted && !isTooLarge && bytes > 0,
    structuralSharing: false,
    gcTime: 60_000,
  });
  return { texts: data, isLoading, isTooLarge };
}

interface WholeRun {
  readonly spans: readonly {
    readonly span_id: string;
    readonly input_data: unknown;
    readonly output_data: unknown;
  }[];
}

/** All keys and scalar values in a value. */
function textsIn(value: unknown): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(textsIn);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
  if (typeof value === 'string') return [value];
  return typeof value === 'number' || typeof value === 'boolean' ? [String(value)] : [];
}
