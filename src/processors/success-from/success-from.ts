import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { LogsBatch, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import { loggedScore, scoreId, scoreRecord, truthOf, type ScoreRecord } from '../../signal/score.js';

/** Which score decides, and the range of values that means success. */
export interface SuccessFrom {
  readonly score?: string;
  readonly at_least?: number;
  readonly at_most?: number;
}

const USUAL_LEAST = 0.5;

/** Processor `success_from` for the scores of spans: see README.md. */
export function createTraceSuccess(
  config: SuccessFrom,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  return {
    async consume(batch, context) {
      for (const { spans } of batch.items) {
        for (const span of spans) {
          const derived = span.scores?.flatMap((score) => successOf(score, config) ?? []) ?? [];
          if (derived.length > 0) span.scores = [...(span.scores ?? []), ...derived];
        }
      }
      return next.consume(batch, context);
    },
  };
}

/** Processor `success_from` for scores in log records: a derived score is one more record at the end of the batch. */
export function createLogSuccess(
  config: SuccessFrom,
  next: Consumer<LogsBatch>,
): Component & Consumer<LogsBatch> {
  return {
    async consume(batch, context) {
      const { items } = batch;
      const { receivedAt, trail } = context;
      const added: LogRecord[] = [];
      /** The positions of the scores from which the added ones are derived. */
      const origins: number[] = [];
      items.forEach((record, index) => {
        const score = loggedScore(record, receivedAt);
        const success = score && successOf(score, config);
        if (success === null) return;
        added.push(scoreRecord(success, items.length + added.length, receivedAt));
        origins.push(index);
      });
      if (added.length === 0) return next.consume(batch, context);
      const later =
        trail === undefined
          ? context
          : { ...context, trail: trail.leaveOut([], [...items.keys(), ...origins]) };
      // Not awaited here: this call would hold the batch until the answer.
      return next.consume({ ...batch, items: [...items, ...added] }, later).then((receipt) => {
        // The sender does not know of added records.
        const refused = receipt.refused.filter(({ index }) => index < items.length);
        return { ...receipt, accepted: items.length - refused.length, refused };
      });
    },
  };
}

function isInRange(value: number, { at_least, at_most = Infinity }: SuccessFrom): boolean {
  const least = at_least ?? (at_most === Infinity ? USUAL_LEAST : -Infinity);
  return least <= value && value <= at_most;
}

/** The score named `success` that follows from a score; null for none. Its id is derived, so that a repeat adds nothing. */
function successOf(score: ScoreRecord, config: SuccessFrom): ScoreRecord | null {
  const { id, name, value, label, trace_id } = score;
  if (name !== config.score || trace_id === null) return null;
  const success = value === null ? truthOf(label ?? undefined) : isInRange(value, config);
  if (success === null) return null;
  return {
    ...score,
    id: scoreId(['success', id]),
    name: 'success',
    value: success ? 1 : 0,
    comment: `${name}: ${value ?? label ?? ''}`,
    metadata: null,
  };
}
