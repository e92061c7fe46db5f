import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf, readText } from '../../api/client.js';
import { parseJson, type Json } from '../../json/parse.js';
import { diffRuns, type PayloadSizes, type RunDiff } from '../../trace/diff.js';
import { toRunSpan, type RunSummary } from '../../trace/run-summary.js';
import { buildTree, extentOf, type TreeNode } from '../../trace/tree.js';

export type { RunSummary } from '../../trace/run-summary.js';

/** One of the two compared runs. */
export interface Side {
  readonly run: RunSummary;
  readonly nodes: readonly TreeNode[];
}

/** Stands for the previous run of the same agent, instead of an id. */
export const PREVIOUS = 'previous';
/** The rest of longer payloads is not loaded or compared. */
const MAX_BYTES = 65_536;

/** A run with span summaries. @param id empty if none is selected */
export function useRunSummary(id: string) {
  return useQuery({
    queryKey: ['outline', id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/traces/{trace_id}/spans', { params: { path: { trace_id: id } }, signal }),
      ),
    enabled: id !== '' && id !== PREVIOUS,
  });
}

/** Runs of an agent that started no later than a given run, the newest first. */
export function useRunsOfAgent(of: RunSummary | undefined, count: number) {
  return useQuery({
    queryKey: ['runs-of', of?.agent_id, of?.started_at, count],
    queryFn: async ({ signal }) => {
      const query = {
        agent_id: of?.agent_id ?? '',
        kind: 'all' as const,
        page_size: count + 1,
        count: 'none' as const,
        end_time: of?.started_at ?? '',
      };
      const { items } = await bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query }, signal }));
      return items.filter(({ trace_id }) => trace_id !== of?.trace_id).slice(0, count);
    },
    enabled: of !== undefined,
  });
}

/** Both runs and their alignment; undefined until both are loaded. */
export function useDiff(
  a: RunSummary | undefined,
  b: RunSummary | undefined,
): { readonly a: Side; readonly b: Side; readonly diff: RunDiff } | undefined {
  return useMemo(() => {
    if (!a || !b) return undefined;
    const sizes = new Map<string, PayloadSizes>();
    for (const span of [...a.spans, ...b.spans])
      sizes.set(span.span_id, { input: span.input_bytes, output: span.output_bytes });
    const [nodesA, nodesB] = [buildTree(a.spans.map(toRunSpan)), buildTree(b.spans.map(toRunSpan))];
    return {
      a: { run: a, nodes: nodesA },
      b: { run: b, nodes: nodesB },
      diff: diffRuns(nodesA, nodesB, sizes),
    };
  }, [a, b]);
}

/** Duration of a run from its header, or from its spans; null if it has not ended. */
export function durationOf({ run, nodes }: Side): number | null {
  if (run.duration_ms !== null) return run.duration_ms;
  if (run.status === 'running' || nodes.length === 0) return null;
  const { start, end } = extentOf(nodes, 0);
  return Math.max(0, end - start);
}

/** The start of a span's payload, with all digits. */
export function usePayload(traceId: string, spanId: string | undefined) {
  return useQuery({
    queryKey: ['payload', traceId, spanId],
    queryFn: async ({ signal }): Promise<Json> =>
      parseJson(
        await readText(
          `dashboard/traces/${traceId}/spans/${spanId ?? ''}?max_bytes=${String(MAX_BYTES)}`,
          signal,
        ),
      ),
    enabled: spanId !== undefined,
  });
}
