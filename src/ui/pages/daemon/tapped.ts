import { member, parseJson, textOf, type Json } from '../../json/parse.js';

/** An item that passed an edge, and what became of it. */
export interface Tapped {
  readonly id: string;
  readonly at: string;
  readonly signal: 'traces' | 'metrics' | 'logs' | 'events';
  /** How many items its batch had, and how long that took. */
  readonly batchItems: number;
  readonly durationMs: number;
  readonly outcome: 'taken' | 'refused' | 'failed';
  readonly reason: string | null;
  readonly isTruncated: boolean;
  /** Cut, without what has no value. */
  readonly item: Json;
}

/** Reads what the stream tells. @param id of it in the list */
export function readTapped(told: Readonly<Record<string, unknown>>, id: string): Tapped {
  return {
    id,
    at: told['at'] as string,
    signal: told['signal'] as Tapped['signal'],
    batchItems: told['batch_items'] as number,
    durationMs: told['duration_ms'] as number,
    outcome: told['outcome'] as Tapped['outcome'],
    reason: told['reason'] as string | null,
    isTruncated: told['is_truncated'] as boolean,
    item: parseJson(JSON.stringify(told['item'])),
  };
}

/** What an item is called in a list, in one line. */
export function tappedTitle({ signal, item }: Pick<Tapped, 'signal' | 'item'>): string {
  if (signal === 'traces') return textOf(member(item, 'trace'), 'agent') ?? 'A trace';
  if (signal === 'metrics') return textOf(item, 'name') ?? 'A point';
  if (signal === 'events') return textOf(item, 'type') ?? 'An event';
  const service = textOf(item, 'service_name') ?? '';
  const body = textOf(item, 'body') ?? textOf(item, 'event_name') ?? textOf(item, 'severity') ?? '';
  return [service, body].filter((part) => part !== '').join(': ') || 'A log record';
}

/** The id of the run that an item belongs to; undefined for none. */
export function runOf({ signal, item }: Pick<Tapped, 'signal' | 'item'>): string | undefined {
  return textOf(signal === 'traces' ? member(item, 'trace') : item, 'trace_id');
}
