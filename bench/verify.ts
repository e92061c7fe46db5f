import type { Api } from './api.js';
import type { LoadKind, LoadResult } from './load-plan.js';

/** What is stored, held against what was acknowledged. */
export interface Verdict {
  /** Null where nobody has looked. */
  readonly isComplete: boolean | null;
  readonly text: string;
}

/** How many of a kind the daemon says it has. */
const COUNTS: Readonly<
  Record<LoadKind, { readonly unit: string; readonly count: (api: Api) => Promise<number> }>
> = {
  batch: { unit: 'traces', count: countRuns },
  traces: { unit: 'traces', count: countRuns },
  prompts: { unit: 'traces', count: countRuns },
  metrics: {
    unit: 'points',
    count: async (api) => {
      const metrics = (await api.json('/dashboard/metrics/')) as readonly {
        readonly data_point_count: number;
      }[];
      return metrics.reduce((sum, metric) => sum + metric.data_point_count, 0);
    },
  },
  logs: {
    unit: 'records',
    count: async (api) => {
      const found = (await api.json('/dashboard/logs/search?limit=1')) as { readonly count: number };
      return found.count;
    },
  },
};

async function countRuns(api: Api): Promise<number> {
  const agents = await api.agents();
  return agents.reduce((sum, agent) => sum + agent.total_runs, 0);
}

/**
 * Counts what is stored, and reads the sampled traces whole. Requests without an answer may or may not have been stored,
 * so they widen what is right: up to `unknownUnits` more than acknowledged.
 */
export async function verifyStored(api: Api, kind: LoadKind, result: LoadResult): Promise<Verdict> {
  const { unit, count } = COUNTS[kind];
  const stored = await count(api);
  const { units } = result.acknowledged;
  const isCountRight = stored >= units && stored <= units + result.unknownUnits;
  let broken = 0;
  for (const { traceId, spans } of result.samples) {
    // A trace that is missing is a finding, not the end of the check.
    const text = await api.text(`/dashboard/traces/${traceId}`).catch(() => '{"spans":[]}');
    const trace = JSON.parse(text) as { readonly spans: readonly unknown[] };
    if (trace.spans.length !== spans) broken += 1;
  }
  const open = result.unknownUnits > 0 ? ` (${result.unknownUnits} more were sent without an answer)` : '';
  const { length } = result.samples;
  const samples = length === 0 ? '' : `, ${length - broken} of ${length} sampled traces whole`;
  return {
    isComplete: isCountRight && broken === 0,
    text: `${stored} ${unit} stored, ${units} acknowledged${open}${samples}`,
  };
}
