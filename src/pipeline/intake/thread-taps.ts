import { EdgeTap } from '../../api/resources/stream/edge-tap.js';
import type { EdgePlace, EdgeSample } from '../../component/edge-listener.js';
import { systemClock } from '../../telemetry/system-clock.js';
import type { Edges } from '../edges.js';

/** In an intake thread: samples edges for listeners on the main thread. */
export class ThreadTaps {
  readonly #edges: Edges;
  readonly #send: (number: number, sample: EdgeSample) => Promise<void>;
  /** By number of the listener. */
  readonly #open = new Map<number, () => void>();

  /** @param send gives a sample to a listener; resolves when it was read */
  constructor(edges: Edges, send: (number: number, sample: EdgeSample) => Promise<void>) {
    this.#edges = edges;
    this.#send = send;
  }

  /** Does nothing for an edge of a pipeline on the main thread. */
  open(number: number, place: EdgePlace, userId: string | null): void {
    let isSending = false;
    const send = async (): Promise<void> => {
      if (isSending) return;
      isSending = true;
      // One sample at a time: meanwhile the tap keeps some items and counts the others.
      for (let sample = tap.takeSample(); isFilled(sample); sample = tap.takeSample())
        await this.#send(number, sample);
      isSending = false;
    };
    const wake = (): void => {
      // Fails only if the main thread is about to end this one.
      send().catch(() => undefined);
    };
    const tap = new EdgeTap(userId, wake, systemClock);
    const leave = this.#edges.listen(place, tap);
    if (leave !== null) this.#open.set(number, leave);
  }

  close(number: number): void {
    this.#open.get(number)?.();
    this.#open.delete(number);
  }
}

function isFilled({ items, lost }: EdgeSample): boolean {
  return items.length > 0 || lost > 0;
}
