import { envelope, type EventRecord, type EventType } from '../../signal/event.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import { cutText } from '../../signal/names.js';
import { formatTime, type Micros } from '../../signal/time.js';
import { serializeRun } from './serialize-run.js';
import type { RunSummary } from '../contracts/runs.js';

/** Maximum length of an outcome or error message in an event, to keep payloads for receivers small. */
const MOST_TEXT = 4096;

/** The content of an event. */
export interface RunEvent {
  readonly type: EventType;
  readonly timestamp: Micros;
  readonly data: object;
}

/** The event for the end of a run. @param timestamp when the message that ended it was received */
export function runEnded(type: EventType, timestamp: Micros, run: RunSummary): RunEvent {
  const cut = (text: string | null): string | null => text && cutText(text, MOST_TEXT);
  const printed = serializeRun(run);
  const content = { ...printed, outcome: cut(printed.outcome), error_message: cut(printed.error_message) };
  return { type, timestamp, data: { agent_id: run.agent_id, ...content } };
}

/** The event for the creation of an agent. */
export function agentCreated(agent: {
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
}): RunEvent {
  const { id, name, created_at: timestamp } = agent;
  return { type: 'agent.created', timestamp, data: { id, name, created_at: formatTime(timestamp) } };
}

/** The event of a user. @param place its index among events written together: ids sort by it */
export function eventOf({ type, timestamp, data }: RunEvent, place: number): EventRecord {
  const named = { id: uuidV7InOrder(timestamp / 1000, place), type, timestamp };
  return { ...named, organization_id: null, endpoint_id: null, body: envelope(named, data) };
}
