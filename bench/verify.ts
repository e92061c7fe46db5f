import type { Api } from './api.js';
import type { LoadResult } from './load-plan.js';

/** What is stored, held against what was acknowledged. */
export interface Verdict {
  readonly isComplete: boolean;
  readonly text: string;
}

/**
 * Counts the stored traces, and reads the sampled ones whole. Requests without an answer may or may not have been
 * stored, so they widen what is right: up to `unknownTraces` more than acknowledged.
 */
export async function verifyStored(api: Api, result: LoadResult): Promise<Verdict> {
  const agents = await api.agents();
  const stored = agents.reduce((sum, agent) => sum + agent.total_runs, 0);
  const { traces } = result.acknowledged;
  const isCountRight = stored >= traces && stored <= traces + result.unknownTraces;
  let broken = 0;
  for (const { traceId, spans } of result.samples) {
    // A trace that is missing is a finding, not the end of the check.
    const text = await api.text(`/dashboard/traces/${traceId}`).catch(() => '{"spans":[]}');
    const trace = JSON.parse(text) as { readonly spans: readonly unknown[] };
    if (trace.spans.length !== spans) broken += 1;
  }
  const open = result.unknownTraces > 0 ? ` (${result.unknownTraces} more were sent without an answer)` : '';
  const samples = `${result.samples.length - broken} of ${result.samples.length} sampled traces whole`;
  return {
    isComplete: isCountRight && broken === 0,
    text: `${stored} traces stored, ${traces} acknowledged${open}, ${samples}`,
  };
}
