import type { EventType } from '../../../signal/event.js';
import { END_TYPES, type EventLog, type Fact } from '../../contracts/events.js';
import { agentCreated, eventOf, runEnded, type RunEvent } from '../../shared/run-events.js';
import { summaryOfRow } from '../../shared/summaries-of-rows.js';
import { isKnown } from '../names/agent-names.js';
import type { AppliedRun, AppliedRuns } from './apply-runs.js';

/** A user's id, and the events with subscribers. */
export interface WantedOfTenant {
  readonly userId: string;
  readonly wanted: readonly EventType[];
}

/** A fact and its owner. */
interface OwnFact {
  readonly tenant: number;
  /** A key unique within the user. */
  readonly fact: string;
  readonly event: RunEvent;
  /** As in {@link Fact}. */
  readonly unless?: string;
}

/**
 * Emits the events of applied runs that have subscribers, before the writes are acknowledged. A process that takes over a write emits them
 * again; the log deduplicates.
 *
 * @param wantedOf null for a deleted user
 */
export async function emitApplied(
  applied: Pick<AppliedRuns, 'runs'>,
  events: Pick<EventLog, 'append'>,
  wantedOf: (tenant: number) => Promise<WantedOfTenant | null>,
): Promise<void> {
  const facts = [...newAgents(applied.runs), ...endedRuns(applied.runs)];
  const appended: Fact[] = [];
  for (const { tenant, event, ...rest } of facts) {
    const user = await wantedOf(tenant);
    if (user?.wanted.includes(event.type) !== true) continue;
    appended.push({ ...rest, tenant: user.userId, event: eventOf(event, appended.length) });
  }
  if (appended.length > 0) await events.append(appended);
}

/** Agents created by one of the runs. */
function* newAgents(runs: readonly AppliedRun[]): Generator<OwnFact> {
  const seen = new Set<string>();
  for (const { agent, derived } of runs) {
    if (!isKnown(agent) || agent.created_at !== derived.run.lastSeenAt || seen.has(agent.id)) continue;
    seen.add(agent.id);
    yield { tenant: agent.tenant, fact: `agent ${agent.id}`, event: agentCreated(agent) };
  }
}

function* endedRuns(runs: readonly AppliedRun[]): Generator<OwnFact> {
  for (const { derived, agent, endsNow } of runs) {
    const { facts, run } = derived;
    const type = END_TYPES[run.header.status] ?? null;
    if (!endsNow || type === null) continue;
    const event = runEnded(
      type,
      run.lastSeenAt,
      summaryOfRow({ span_count: run.spans.length, ...run.header }, agent),
    );
    const failure = `failure of ${facts.traceId}`;
    // A run that ended may fail later. If a concurrent writer has read more of the run and already emitted the failure, the end is omitted,
    // as if both had been one write.
    yield type === 'trace.failed'
      ? { tenant: facts.tenant, fact: failure, event }
      : { tenant: facts.tenant, fact: `end of ${facts.traceId}`, event, unless: failure };
  }
}
