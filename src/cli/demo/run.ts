import type { RunStatus } from '../../signal/span.js';
import type { RunBody } from './body.js';
import { conditionsAt } from './conditions.js';
import { RunStopped, StepFailed } from './faults.js';
import { decimal, spanBody, type OpenSpan } from './open-span.js';
import type { AgentProfile, Verdict } from './profile.js';
import { Random } from './random.js';
import { Recorder } from './recorder.js';
import { MS_PER_HOUR } from '../../signal/time-units.js';

/** A run before it has happened. */
export interface PlannedRun {
  /** All that is random in the run, its ids included, comes from this text. */
  readonly key: string;
  readonly profile: AgentProfile;
  /** Milliseconds since the epoch. */
  readonly startMs: number;
}

/** A run that has ended. */
export interface FinishedRun {
  readonly body: RunBody;
  readonly startMs: number;
  readonly endMs: number;
}

interface End {
  readonly status: RunStatus;
  readonly verdict: Verdict;
  readonly error?: string;
}

/** Lets a planned run happen. The same seed and plan give the same run. */
export function finishRun(seed: string, plan: PlannedRun): FinishedRun {
  const random = new Random(`${seed}/run/${plan.key}`);
  const conditions = conditionsAt(seed, plan.startMs, plan.profile.name);
  const traceId = random.uuid();
  const recorder = new Recorder(random, conditions, plan.startMs);
  const end = happen(plan.profile, recorder);
  const { nowMs: endMs, spans } = recorder;
  // Many SDKs send the sums, others leave them to the daemon.
  const declaresTotals = random.chance(0.7);
  return {
    startMs: plan.startMs,
    endMs,
    body: {
      trace: {
        trace_id: traceId,
        agent: plan.profile.name,
        status: end.status,
        started_at: new Date(plan.startMs).toISOString(),
        ended_at: new Date(endMs).toISOString(),
        duration_ms: endMs - plan.startMs,
        ...end.verdict,
        ...(end.error !== undefined && { error_message: end.error }),
        ...(declaresTotals && totals(spans)),
        metadata: {
          ...plan.profile.metadata,
          release: conditions.release,
          ...visitor(seed, plan, random),
        },
        sdk_version: plan.profile.sdkVersion,
      },
      spans: spans.map((span) => spanBody(traceId, span)),
    },
  };
}

/** How long one visit lasts, at most. */
const VISIT_MS = 2 * MS_PER_HOUR;
const VISITORS = 3;
const USERS = 40;

/** Whom a run was for: some runs of an agent within two hours belong to one conversation. */
function visitor(seed: string, { profile, startMs }: PlannedRun, random: Random) {
  const place = random.integer(1, VISITORS);
  const visit = new Random(
    `${seed}/visit/${profile.name}/${String(Math.floor(startMs / VISIT_MS))}/${String(place)}`,
  );
  return {
    session_id: `s-${visit.uint32().toString(36)}`,
    user_id: `user-${String(visit.integer(1, USERS))}`,
  };
}

function happen(profile: AgentProfile, recorder: Recorder): End {
  try {
    const verdict = profile.run(recorder);
    return { status: 'completed', verdict };
  } catch (error) {
    if (error instanceof RunStopped && error.isTimeout) {
      return { status: 'timed_out', verdict: { success: false, outcome: 'timeout' }, error: error.message };
    }
    if (error instanceof StepFailed || error instanceof RunStopped) {
      return { status: 'failed', verdict: { success: false, outcome: 'error' }, error: error.message };
    }
    throw error;
  }
}

function totals(spans: readonly OpenSpan[]) {
  const used = spans.flatMap((span) => span.usage ?? []);
  return {
    total_tokens: used.reduce((sum, usage) => sum + usage.inputTokens + usage.outputTokens, 0),
    // An SDK that has no price for one of the calls knows no sum.
    ...(used.every(({ costMicros }) => costMicros !== null) && {
      total_cost_usd: decimal(used.reduce((sum, usage) => sum + (usage.costMicros ?? 0), 0)),
    }),
  };
}
