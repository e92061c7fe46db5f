import type { EventType } from '../../../signal/event.js';
import { END_TYPES, type EventLog, type Fact } from '../../contracts/events.js';
import { agentCreated, eventOf, runEnded, type ToldEvent } from '../../shared/run-events.js';
import { summaryOfRow } from '../../shared/summaries-of-rows.js';
import { isKnown } from '../names/agent-names.js';
import type { SettledOfWrite, SettledRuns } from './settle-runs.js';

/** Who a user is, and which events somebody wants of its telemetry. */
export interface WantedOfTenant {
  readonly userId: string;
  readonly wanted: readonly EventType[];
}

/** A fact, and whose it is. */
interface OwnFact {
  readonly tenant: number;
  /** Identifies it among those of its user. */
  readonly fact: string;
  readonly told: ToldEvent;
}

/**
 * Tells what follows from settled runs, as far as somebody wants it, before those who wrote them are answered. Whoever takes a write over
 * tells the same again: the log has each fact once.
 *
 * @param wantedOf null for a user that there is not any more
 */
export async function tellSettled(
  settled: Pick<SettledRuns, 'runs'>,
  events: Pick<EventLog, 'append'>,
  wantedOf: (tenant: number) => Promise<WantedOfTenant | null>,
): Promise<void> {
  const facts = [...newAgents(settled.runs), ...endedRuns(settled.runs)];
  const told: Fact[] = [];
  for (const { tenant, fact, told: event } of facts) {
    const user = await wantedOf(tenant);
    if (user?.wanted.includes(event.type) !== true) continue;
    told.push({ fact, tenant: user.userId, event: eventOf(event, told.length) });
  }
  if (told.length > 0) await events.append(told);
}

/** Agents that have come into being with one of the runs. */
function* newAgents(runs: readonly SettledOfWrite[]): Generator<OwnFact> {
  const seen = new Set<string>();
  for (const { agent, settled } of runs) {
    if (!isKnown(agent) || agent.created_at !== settled.run.heardAt || seen.has(agent.id)) continue;
    seen.add(agent.id);
    yield { tenant: agent.tenant, fact: `agent ${agent.id}`, told: agentCreated(agent) };
  }
}

function* endedRuns(runs: readonly SettledOfWrite[]): Generator<OwnFact> {
  for (const { settled, agent, endsNow } of runs) {
    const { facts, run } = settled;
    const type = END_TYPES[run.header.status] ?? null;
    if (!endsNow || type === null) continue;
    yield {
      tenant: facts.tenant,
      fact: `end of ${facts.traceId}`,
      told: runEnded(type, run.heardAt, summaryOfRow({ span_count: run.spans.length, ...run.header }, agent)),
    };
  }
}
