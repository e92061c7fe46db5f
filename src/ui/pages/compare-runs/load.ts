import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { api, bodyOf, readText } from '../../api/client.js';
import { parseJson, type Json } from '../../json/parse.js';
import { diffRuns, type PayloadSizes, type RunDiff } from '../../trace/diff.js';
import { toRunSpan, type Outline } from '../../trace/outline.js';
import { buildTree, extentOf, type TreeNode } from '../../trace/tree.js';

export type { Outline } from '../../trace/outline.js';

/** A run as it is compared. */
export interface Side {
  readonly run: Outline;
  readonly nodes: readonly TreeNode[];
}

/** Instead of an id: the run of the same agent before the other one. */
export const PREVIOUS = 'previous';
/** Of payloads longer than this, the rest is neither fetched nor compared. */
const MAX_BYTES = 65_536;

/** A run with the outlines of its spans. @param id empty where none is chosen yet */
export function useOutline(id: string) {
  return useQuery({
    queryKey: ['outline', id],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/api/v1/dashboard/traces/{trace_id}/spans', { params: { path: { trace_id: id } }, signal }),
      ),
    enabled: id !== '' && id !== PREVIOUS,
  });
}

/** Runs of an agent that began no later than a time, the newest first. */
export function useRunsOfAgent(of: Outline | undefined, count: number) {
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

/** Both sides, and how they lie over each other; undefined until both are there. */
export function useDiff(
  a: Outline | undefined,
  b: Outline | undefined,
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

/** How long a run took: as its header says, or from its first to its last span. Null where it has not ended. */
export function durationOf({ run, nodes }: Side): number | null {
  if (run.duration_ms !== null) return run.duration_ms;
  if (run.status === 'running' || nodes.length === 0) return null;
  const { start, end } = extentOf(nodes, 0);
  return Math.max(0, end - start);
}

/** The beginning of what a span brought, with every digit. */
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
