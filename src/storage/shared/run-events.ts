import { envelope, type EventRecord, type EventType } from '../../signal/event.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import { cutText } from '../../signal/names.js';
import { formatTime, type Micros } from '../../signal/time.js';
import { printRun } from './serialize-run.js';
import type { RunSummary } from '../contracts/runs.js';

/** How many characters of an outcome or an error message an event carries: what receivers get stays small. */
const TOLD_TEXT = 4096;

/** What happened, and what is told of it. */
export interface ToldEvent {
  readonly type: EventType;
  readonly timestamp: Micros;
  readonly data: object;
}

/** That a run has ended. @param timestamp when what ended it came */
export function runEnded(type: EventType, timestamp: Micros, run: RunSummary): ToldEvent {
  const cut = (text: string | null): string | null => text && cutText(text, TOLD_TEXT);
  const printed = printRun(run);
  const told = { ...printed, outcome: cut(printed.outcome), error_message: cut(printed.error_message) };
  return { type, timestamp, data: { agent_id: run.agent_id, ...told } };
}

/** That an agent has come into being. */
export function agentCreated(agent: {
  readonly id: string;
  readonly name: string;
  readonly created_at: Micros;
}): ToldEvent {
  const { id, name, created_at: timestamp } = agent;
  return { type: 'agent.created', timestamp, data: { id, name, created_at: formatTime(timestamp) } };
}

/** The event of a user. @param place among those that are told together: ids sort by it */
export function eventOf({ type, timestamp, data }: ToldEvent, place: number): EventRecord {
  const named = { id: uuidV7InOrder(timestamp / 1000, place), type, timestamp };
  return { ...named, organization_id: null, endpoint_id: null, body: envelope(named, data) };
}
