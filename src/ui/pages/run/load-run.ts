import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, readText, type Schemas } from '../../api/client.js';
import { parseJson, type Json } from '../../json/parse.js';
import type { RunSpan } from '../../trace/span.js';

export interface LoadedRun {
  readonly run: Omit<Schemas['TraceDetail'], 'spans'>;
  readonly spans: readonly RunSpan[];
}

const WHILE_RUNNING_MS = 2000;
const PREVIEW = 200;

/** A run with its spans; asked for again while it runs. */
export function useRun(id: string) {
  return useQuery({
    queryKey: ['run', id],
    queryFn: async ({ signal }): Promise<LoadedRun> => {
      const path = { trace_id: id };
      const body = await bodyOf(api.GET('/api/v1/dashboard/traces/{trace_id}', { params: { path }, signal }));
      const { spans, ...run } = body;
      return { run, spans: spans.map(toRunSpan) };
    },
    refetchInterval: ({ state }) => (state.data?.run.status === 'running' ? WHILE_RUNNING_MS : false),
  });
}

/** One span with everything that it brought, with every digit. */
export function useSpan(traceId: string, spanId: string | undefined, isRunning: boolean) {
  return useQuery({
    queryKey: ['span', traceId, spanId],
    queryFn: async ({ signal }): Promise<Json> =>
      parseJson(await readText(`dashboard/traces/${traceId}/spans/${spanId ?? ''}`, signal)),
    enabled: spanId !== undefined,
    refetchInterval: isRunning ? WHILE_RUNNING_MS : false,
  });
}

function toRunSpan(span: Schemas['TraceDetail']['spans'][number]): RunSpan {
  return {
    id: span.span_id,
    parentId: span.parent_span_id,
    type: span.type,
    name: span.name,
    status: span.status,
    start: Date.parse(span.started_at),
    end: span.ended_at === null ? null : Date.parse(span.ended_at),
    model: span.model,
    inputTokens: span.input_tokens,
    outputTokens: span.output_tokens,
    tokens: span.total_tokens,
    cost: span.cost_usd,
    counted: span.counted !== false,
    sameAs: span.same_as ?? null,
    error: span.error_message,
    preview: span.input_data === null ? '' : JSON.stringify(span.input_data).slice(0, PREVIEW),
  };
}
