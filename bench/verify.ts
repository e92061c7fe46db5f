import type { Api } from './api.js';
import type { LoadKind, LoadResult } from './load-plan.js';

/** Comparison of what is stored with what was acknowledged. */
export interface Verdict {
  /** Null if it was not checked. */
  readonly isComplete: boolean | null;
  readonly text: string;
}

/** How to count the units of a kind by the API. */
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
 * Counts what is stored and reads the sampled traces. Requests without a response may be stored or not, so up to
 * `unknownUnits` more than acknowledged are correct.
 */
export async function verifyStored(api: Api, kind: LoadKind, result: LoadResult): Promise<Verdict> {
  const { unit, count } = COUNTS[kind];
  const stored = await count(api);
  const { units } = result.acknowledged;
  const isCountCorrect = stored >= units && stored <= units + result.unknownUnits;
  let broken = 0;
  for (const { traceId, spans } of result.samples) {
    // A missing trace is a result, not an error.
    const text = await api.text(`/dashboard/traces/${traceId}`).catch(() => '{"spans":[]}');
    const trace = JSON.parse(text) as { readonly spans: readonly unknown[] };
    if (trace.spans.length !== spans) broken += 1;
  }
  const unknown =
    result.unknownUnits > 0 ? ` (${result.unknownUnits} more were sent without a response)` : '';
  const { length } = result.samples;
  const samples = length === 0 ? '' : `, ${length - broken} of ${length} sampled traces complete`;
  return {
    isComplete: isCountCorrect && broken === 0,
    text: `${stored} ${unit} stored, ${units} acknowledged${unknown}${samples}`,
  };
}
