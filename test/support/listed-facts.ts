import { randomUUID } from 'node:crypto';
import { envelope } from '../../src/signal/event.js';
import type {
  EventPageLimit,
  IntakeListener,
  FactPage,
  OutboxSource,
  NumberedFact,
} from '../../src/storage/contracts/events.js';
import { readWhenThere } from '../../src/storage/shared/read-when-there.js';

/** A fact source over a list, whose mark is the number of earlier facts. */
export class ListedFacts implements OutboxSource {
  readonly name = 'list/one';
  readonly facts: NumberedFact[] = [];
  readonly asked: (string | null)[] = [];
  /** Thrown by the next reads, one each. */
  readonly faults: Error[] = [];
  /** Page size. */
  most = 1000;
  /** Number of pending reads. */
  waiting = 0;
  readonly #listeners = new Set<() => void>();

  add(tenant: number, count = 1): void {
    for (let i = 0; i < count; i++) {
      const head = { id: randomUUID(), type: 'trace.failed', timestamp: 1 } as const;
      const body = envelope(head, {});
      this.facts.push({ tenant, event: { ...head, organization_id: null, endpoint_id: null, body } });
    }
    for (const listener of this.#listeners) listener();
  }

  get ids(): readonly string[] {
    return this.facts.map(({ event }) => event.id);
  }

  async readFacts(mark: string | null, limit: EventPageLimit, wait?: AbortSignal): Promise<FactPage> {
    this.asked.push(mark);
    this.waiting++;
    try {
      return await readWhenThere(
        {
          read: async () => this.#read(Number(mark ?? 0), limit),
          isEmpty: ({ facts }) => facts.length === 0,
          watch: (listener) => {
            this.#listeners.add(listener);
            return () => this.#listeners.delete(listener);
          },
        },
        wait,
      );
    } finally {
      this.waiting--;
    }
  }

  #read(from: number, { events }: EventPageLimit): FactPage {
    const fault = this.faults.shift();
    if (fault !== undefined) throw fault;
    const facts = this.facts.slice(from, from + Math.min(events, this.most));
    return { facts, mark: String(from + facts.length) };
  }
}

/** Records what it receives. */
export class RecordedIntake implements IntakeListener {
  /** The failure, or null after recovery. */
  readonly states: (string | null)[] = [];
  passed = 0;

  failing(error: Error | null): void {
    this.states.push(error && error.message);
  }

  passedOver(facts: number): void {
    this.passed += facts;
  }
}
