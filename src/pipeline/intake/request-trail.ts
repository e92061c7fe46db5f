import type { Refusal, Trail } from '../../component/consumer.js';
import { serializeError, type SerializedError } from '../../worker/thread-protocol.js';

/** What the main thread needs to respond to a request whose thread has ended. It is cloned when the turn ends, and changed until then. */
export interface OpenAnswer {
  readonly task: number;
  /** Null while the receiver has more to pass on. */
  draft: object | null;
  /** Refused on the way to the exporters, by positions in the batch of the request. */
  readonly refused: Refusal[];
  /** Why a component did not take its batch. */
  error: SerializedError | null;
}

/** A {@link Trail} that is sent to the main thread with each batch; its methods are not. */
export class RequestTrail implements Trail {
  readonly answer: OpenAnswer;
  /** Positions of the items in the batch of the request; null for all. */
  readonly positions: readonly number[] | null;

  constructor(answer: OpenAnswer, positions: readonly number[] | null = null) {
    this.answer = answer;
    this.positions = positions;
  }

  leaveOut(refused: readonly Refusal[], kept: readonly number[]): Trail {
    this.answer.refused.push(...originally(this, refused));
    const { positions } = this;
    return new RequestTrail(
      this.answer,
      positions === null ? kept : kept.map((index) => positions[index] ?? index),
    );
  }

  fail(error: unknown): void {
    this.answer.error ??= serializeError(error);
  }
}

/** Refusals by positions in the batch of the request. */
export function originally(
  { positions }: Pick<RequestTrail, 'positions'>,
  refused: readonly Refusal[],
): readonly Refusal[] {
  if (positions === null) return refused;
  return refused.map((refusal) => ({ ...refusal, index: positions[refusal.index] ?? refusal.index }));
}
