import { envelope, type EventRecord, type EventType } from '../../signal/event.js';
import { uuidV7InOrder } from '../../signal/ids.js';
import { cutText } from '../../signal/names.js';
import { SCORE_SOURCES, scoreId } from '../../signal/score.js';
import { formatTime, type Micros } from '../../signal/time.js';
import type { EventLog } from '../contracts/events.js';
import type { RunSummary } from '../contracts/runs.js';
import type { ScoreRow } from '../incoming/score-rows.js';
import { serializeRun } from './serialize-run.js';

/** Maximum length of an outcome, error message or comment in an event, to keep payloads for receivers small. */
const MOST_TEXT = 4096;

/** The content of an event. */
export interface RunEvent {
  readonly type: EventType;
  readonly timestamp: Micros;
  readonly data: object;
}

/** The event for the end of a run. @param timestamp when the message that ended it was received */
export function runEnded(type: EventType, timestamp: Micros, run: RunSummary): RunEvent {
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

/** A user, and the event types that the user's organizations or readers subscribed to. */
interface Subscribed {
  readonly userId: string;
  readonly wanted: readonly EventType[];
}

/**
 * Emits `score.created` for scores that were stored, before their write is acknowledged, so that a client whose daemon crashed repeats
 * both. The log deduplicates events of the same id and content.
 */
export async function emitScores(
  events: Pick<EventLog, 'append'>,
  { userId, wanted }: Subscribed,
  scores: readonly ScoreRow[],
  receivedAt: Micros,
): Promise<void> {
  if (scores.length === 0 || !wanted.includes('score.created')) return;
  const facts = scores.map((score, place) => {
    const { id, name, value, label, comment, error_type, metadata } = score;
    // Without the time: a repeated request without `at` has another one.
    const content = scoreId([name, value, label, comment, error_type, metadata]);
    const event = eventOf(scoreCreated(score, receivedAt), place);
    return { fact: `score ${id} ${content}`, tenant: userId, event };
  });
  await events.append(facts);
}

function scoreCreated(score: ScoreRow, timestamp: Micros): RunEvent {
  const { id, trace_id, span_id, response_id, session_id, name, value, label, comment, error_type } = score;
  const judged = { trace_id, span_id, response_id, session_id };
  const result = { value, label, comment: cut(comment), error_type };
  const source = SCORE_SOURCES[score.source];
  const data = { id, name, ...result, source, ...judged, at: formatTime(score.scored_at) };
  return { type: 'score.created', timestamp, data };
}

/** The event of a user. @param place its index among events written together: ids sort by it */
export function eventOf({ type, timestamp, data }: RunEvent, place: number): EventRecord {
  const named = { id: uuidV7InOrder(timestamp / 1000, place), type, timestamp };
  return { ...named, organization_id: null, endpoint_id: null, body: envelope(named, data) };
}

function cut(text: string | null): string | null {
  return text && cutText(text, MOST_TEXT);
}
