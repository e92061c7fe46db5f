import { setImmediate as turn } from 'node:timers/promises';
import type { Test } from 'tap';
import { generateSecret } from '../../src/delivery/senders/webhook/signature.js';
import { limitsOf } from '../../src/exporters/webhook/delivery-loop.js';
import { Sending } from '../../src/exporters/webhook/sending.js';
import type { DeliveryDetail } from '../../src/storage/contracts/deliveries.js';
import { anOwner, some } from '../conformance/delivery-records.js';
import { anEndpoint } from '../storage/duckdb/meta-records.js';
import { openControlStore } from './control-store.js';
import { FaultyQueue } from './faulty-queue.js';
import { HandClock } from './hand-clock.js';
import { RecordingLogger } from './recording-logger.js';
import { until } from './until.js';
import { AUTHORITY } from './webhook-certificates.js';
import { answerText, startReceiver } from './webhook-receiver.js';

const HOUR_MS = 3_600_000;
const SLUG = 'acme';

interface SendingPlaceOptions {
  readonly endpoints?: number;
  readonly maxConcurrency?: number;
  readonly perEndpoint?: number;
  readonly breakerThreshold?: number;
}

/** Senders on a real queue and a receiver controlled by the test. */
export async function openSendingPlace(t: Test, options: SendingPlaceOptions = {}) {
  const { endpoints = 1, maxConcurrency = 10, perEndpoint = 4, breakerThreshold = 20 } = options;
  const clock = new HandClock();
  const store = await openControlStore(t, { clock });
  const { userId } = await anOwner(store, SLUG, 0);
  const open: ((status?: string) => void)[] = [];
  const receiver = await startReceiver(t, (socket) => {
    open.push((status = '200 OK') => socket.end(answerText(status)));
  });
  const ids: string[] = [];
  for (let number = 0; number < endpoints; number++) {
    const endpoint = anEndpoint({ url: `${receiver.url}/${number}`, created_at: clock.now() });
    await store.endpoints.create(SLUG, endpoint);
    ids.push(endpoint.id);
  }
  const logger = new RecordingLogger();

  const start = () => {
    const queue = new FaultyQueue(store.deliveries);
    const statuses: boolean[] = [];
    const pauses: (readonly string[])[] = [];
    const counts: number[] = [];
    const sending = new Sending(
      {
        limits: limitsOf(maxConcurrency, perEndpoint),
        breakerThreshold,
        trusted: [AUTHORITY],
        // Attempts must be able to outlast a lease.
        timeoutMs: HOUR_MS,
        connectTimeoutMs: HOUR_MS,
        allowCidrs: ['127.0.0.1/32'],
        scheduleMs: [30_000],
        version: '0.0.0',
      },
      {
        queue,
        watch: store.watch,
        secrets: { open: async () => generateSecret() },
        clock,
        random: () => 0.5,
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
        logger,
        events: {
          attempted: () => undefined,
          paused: (paused) => pauses.push(paused),
          storeFailing: (isFailing) => statuses.push(isFailing),
          underWay: (count) => counts.push(count),
        },
      },
    );
    t.teardown(async () => {
      await sending.stop(AbortSignal.abort());
      await sending.close();
    });
    return { sending, queue, statuses, pauses, counts };
  };

  const deliveries = async (endpoint = ids[0] ?? ''): Promise<readonly DeliveryDetail[]> => {
    const page = await store.deliveries.list(SLUG, endpoint, { offset: 0, limit: 100 });
    const found = (page?.items ?? []).map(({ id }) => store.deliveries.read(SLUG, id));
    return (await Promise.all(found)).flatMap((delivery) => delivery ?? []);
  };
  return {
    ...{ clock, store, receiver, endpointIds: ids, logger, start, deliveries },
    put: (count = 1) => store.deliveries.enqueue(some(count, userId), clock.now()),
    /** Unanswered requests. */
    open,
    /** Resolves after that many requests. */
    arrived: (count: number) => until(`${count} requests`, () => open.length === count),
    /** Resolves after that many successful deliveries. Results are batched by the clock, which advances for that. */
    succeeded: (count: number) =>
      until(`${count} deliveries have succeeded`, async () => {
        clock.advance(1);
        const found = await Promise.all(ids.map(deliveries));
        return found.flat().filter(({ status }) => status === 'success').length === count;
      }),
    /** Advances the clock in steps and runs due timers. */
    pass: async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 1000) {
        clock.advance(Math.min(1000, ms - passed));
        await settle();
      }
    },
  };
}

/** Lets all immediate work run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}
