import type { DaemonView } from '../../../component/daemon-view.js';
import type { EdgePlace } from '../../../component/edge-listener.js';
import { HttpProblem } from '../../../component/http.js';
import type { Clock } from '../../../component/telemetry.js';
import { validationProblem } from '../../../http/field-errors.js';
import { EdgeTap } from './edge-tap.js';
import type { Inbox } from './inbox.js';

/** Maximum number of streams on edges, for each user. */
export const MOST_OF_USER = 4;
const MOST_OF_ALL = 32;

const END = /^(receiver|processor|exporter):(.{1,330})$/;

/** The parameters that name an edge. */
export interface EdgeQuery {
  readonly pipeline?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Limits and counts the taps on edges. */
export class EdgeTaps {
  readonly #daemon: DaemonView;
  readonly #clock: Clock;
  /** Tap counts by user; entries are removed at 0. */
  readonly #users = new Map<string | null, number>();
  #all = 0;

  constructor(daemon: DaemonView, clock: Clock) {
    this.#daemon = daemon;
    this.#clock = clock;
  }

  /**
   * Validates a tap request.
   *
   * @param userId null for somebody who may see the items of all users, with a limit of {@link MOST_OF_ALL} alone
   * @returns a function that opens the inbox, which receives only items of the user
   * @throws HttpProblem 422 if the edge does not exist, 429 if too many taps are open
   */
  inbox(userId: string | null, query: EdgeQuery): (wake: () => void) => Inbox {
    const place = placeOf(query);
    const isEdge = ({ pipeline, from, to }: EdgePlace): boolean =>
      pipeline === place.pipeline && isSame(from, place.from) && isSame(to, place.to);
    if (!this.#daemon.edges().some(isEdge))
      throw validationProblem('query', [
        { field: 'pipeline', message: 'has no edge from `from` to `to`: GET /api/v1/daemon lists them' },
      ]);
    const ofUser = userId === null ? 0 : (this.#users.get(userId) ?? 0);
    if (ofUser >= MOST_OF_USER || this.#all >= MOST_OF_ALL)
      throw new HttpProblem(
        429,
        'too_many_taps',
        ofUser >= MOST_OF_USER
          ? `A user can tap ${MOST_OF_USER} edges at once: close another one.`
          : `${MOST_OF_ALL} streams already tap edges: try again when others have closed.`,
        { headers: { 'retry-after': '5' } },
      );
    return (wake) => {
      const tap = new EdgeTap(userId, wake, this.#clock);
      const leave = this.#daemon.listen(place, tap);
      this.#count(userId, 1);
      let isOpen = true;
      return {
        take: () => tap.take(),
        close: () => {
          if (!isOpen) return;
          isOpen = false;
          leave?.();
          this.#count(userId, -1);
        },
      };
    };
  }

  #count(userId: string | null, change: number): void {
    this.#all += change;
    const left = (this.#users.get(userId) ?? 0) + change;
    if (left === 0) this.#users.delete(userId);
    else this.#users.set(userId, left);
  }
}

function isSame(a: EdgePlace['from'], b: EdgePlace['from']): boolean {
  return a.kind === b.kind && a.id === b.id;
}

function placeOf({ pipeline, from, to }: EdgeQuery): EdgePlace {
  if (pipeline === undefined)
    throw validationProblem('query', [
      { field: 'pipeline', message: 'is required with topic tap, as are from and to' },
    ]);
  return { pipeline, from: endOf('from', from), to: endOf('to', to) };
}

function endOf(field: 'from' | 'to', text = ''): EdgePlace['from'] {
  const [, kind, id] = END.exec(text) ?? [];
  if (id === undefined || (kind !== 'receiver' && kind !== 'processor' && kind !== 'exporter'))
    throw validationProblem('query', [
      { field, message: 'must be a component with its kind, such as receiver:otlp' },
    ]);
  return { kind, id };
}
