import type { AgentFigures } from './api.js';
import type { SampledTrace } from './load-plan.js';

/** One read route with what is asked of it. */
export interface ReadRoute {
  readonly name: string;
  /** Path of request number n (from 0), under `/api/v1`. */
  readonly path: (request: number) => string;
  /** Milliseconds at p50, alone, over 10 million spans. */
  readonly targetMs?: number;
}

/** During ingestion p50 may be so many times that of alone. */
export const TARGET_RATIO = 3;

/**
 * Every route that reads. Those of one agent ask for the one with the most runs.
 *
 * @throws Error when the store has fewer than two agents
 */
export function readRoutes(
  agents: readonly AgentFigures[],
  samples: readonly SampledTrace[],
): readonly ReadRoute[] {
  const [first, second] = [...agents].sort((a, b) => b.total_runs - a.total_runs);
  if (first === undefined || second === undefined) throw new Error('The store has fewer than two agents.');
  const agent = `/agents/${first.id}`;
  const compare = `/dashboard/traces/compare-agents?agent_a=${first.id}&agent_b=${second.id}`;
  const fixed = (name: string, path: string, targetMs?: number): ReadRoute => ({
    name,
    path: () => path,
    ...(targetMs !== undefined && { targetMs }),
  });
  return [
    {
      name: 'trace detail',
      path: (request) => `/dashboard/traces/${samples[request % samples.length]?.traceId ?? ''}`,
      targetMs: 15,
    },
    fixed('agents list', '/agents', 25),
    fixed('agent detail', agent),
    fixed('runs, page 1', `${agent}/runs?page=1`, 10),
    fixed('runs, page 500', `${agent}/runs?page=500`),
    fixed('runs, failed only', `${agent}/runs?status=failed`),
    fixed('stats 7d', `${agent}/stats?days=7`),
    fixed('stats 30d', `${agent}/stats?days=30`, 15),
    fixed('stats 90d', `${agent}/stats?days=90`),
    fixed('compare agents', compare, 40),
    fixed('traces list', '/dashboard/traces'),
    fixed('traces list, query', '/dashboard/traces?query=timed%20out'),
  ];
}
