import { createServer } from 'node:net';
import t from 'tap';
import { Type } from 'typebox';
import type { Consumer } from '../../src/component/consumer.js';
import type {
  CreateProcessor,
  Exporter,
  ExporterFactory,
  ExtensionFactory,
  Factory,
  ProcessorFactory,
  ReceiverFactory,
} from '../../src/component/factory.js';
import { section } from '../../src/config/schema.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import { conformance, sampleBatch, type Subject } from '../../src/testing/index.js';

// @alone: the conformance kit looks at everything that its process has open.

/** The kit finds errors: components that break one rule each, and the check that must fail. */

const about = {
  description: 'Breaks a rule.',
  stability: 'development',
  type: 'broken',
  configSchema: section({}),
} as const;

type Create = CreateProcessor<Record<string, unknown>, 'traces'>;

function processor(traces: Create, more: Partial<ProcessorFactory> = {}): Factory {
  return { ...about, kind: 'processor', mutatesBatch: false, create: { traces }, ...more };
}

const passing: Create = ({ next }) => ({ consume: (batch, context) => next.consume(batch, context) });

function exporter(create: () => Exporter, more: Partial<ExporterFactory> = {}): Factory {
  return { ...about, kind: 'exporter', signals: ['traces'], delivery: 'direct', create, ...more };
}

const extension = (create: ExtensionFactory['create']): Factory => ({ ...about, kind: 'extension', create });

const receiver = (create: ReceiverFactory['create']): Factory => ({
  ...about,
  kind: 'receiver',
  signals: ['traces'],
  create,
});

/** @param which checks. @returns the names of failed checks */
async function failing(factory: Factory, which: RegExp, subject: Subject = {}): Promise<readonly string[]> {
  const failed: string[] = [];
  const checks = conformance(factory, { patienceMs: 300, ...subject }).filter(({ name }) => which.test(name));
  for (const { name, run } of checks)
    await run().catch(() => {
      failed.push(name);
    });
  return failed;
}

void t.test('correct components pass', async (t) => {
  t.strictSame(await failing(processor(passing), /./, { patienceMs: 20_000 }), []);
  const taking: Consumer<TracesBatch> = {
    consume: async ({ items }) => Promise.resolve({ accepted: items.length, refused: [] }),
  };
  t.strictSame(
    await failing(
      exporter(() => ({ inputs: { traces: taking } })),
      /./,
      { patienceMs: 20_000 },
    ),
    [],
  );
  t.strictSame(
    await failing(
      extension(() => ({})),
      /./,
    ),
    [],
  );
});

const held: unknown[] = [];
const openServers: (() => void)[] = [];
t.teardown(() => {
  for (const close of openServers) close();
});

const FAULTS: readonly (readonly [string, Factory, RegExp, Subject?])[] = [
  ['a description that is no sentence', processor(passing, { description: 'x' }), /^factory/],
  ['an open section', processor(passing, { configSchema: Type.Object({}) }), /^factory/],
  [
    'a key without description',
    processor(passing, { configSchema: section({ a: Type.Optional(Type.String()) }) }),
    /^factory/,
  ],
  [
    'a timer when it is created',
    extension(({ clock }) => {
      clock.after(1, () => undefined);
      return {};
    }),
    /^creation/,
  ],
  [
    'a shutdown that needs a start',
    extension(() => {
      let server: { close(): void } | undefined;
      return {
        start: async () => {
          server = await Promise.resolve({ close: () => undefined });
        },
        shutdown: async () => {
          if (server === undefined) throw new Error('not started');
          await Promise.resolve();
        },
      };
    }),
    /^life: stops without a start/,
  ],
  [
    'a second shutdown that throws',
    extension(() => {
      let isOver = false;
      return {
        shutdown: async () => {
          if (isOver) throw new Error('twice');
          isOver = true;
          await Promise.resolve();
        },
      };
    }),
    /^life: starts, stops, and stops again/,
  ],
  [
    'a server that stays open',
    extension(() => ({
      start: async () => {
        const server = createServer();
        openServers.push(() => server.close());
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      },
    })),
    /^leaks/,
  ],
  [
    'a timer of the clock that stays',
    extension(({ clock }) => ({
      start: async () => {
        clock.after(1e9, () => undefined);
        await Promise.resolve();
      },
    })),
    /^life: starts, stops/,
  ],
  [
    'a start that leaves something when it fails',
    extension(() => ({
      start: async (host) => {
        const server = createServer();
        openServers.push(() => server.close());
        await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
        host.extension('x', (one): one is object => one instanceof Object);
      },
      shutdown: async () => Promise.resolve(),
    })),
    /a start that fails/,
    { unstartable: { error: /no extension "x"/ }, extensions: { x: {} } },
  ],
  [
    'no receipt',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        await next.consume(batch, context);
        return undefined as never;
      },
    })),
    /takes a batch/,
  ],
  [
    'a receipt that does not add up',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        await next.consume(batch, context);
        return { accepted: 1, refused: [] };
      },
    })),
    /takes a batch/,
  ],
  [
    'an empty batch that it cannot take',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        if (batch.items[0] === undefined) throw new Error('nothing there');
        return next.consume(batch, context);
      },
    })),
    /takes an empty batch/,
  ],
  [
    'recursion over items',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        const deep = (left: number): number => (left === 0 ? 0 : 1 + deep(left - 1));
        deep(batch.items.length * 10);
        return next.consume(batch, context);
      },
    })),
    /takes a batch of 10000 items/,
  ],
  [
    'one receipt for all',
    processor(({ next }) => {
      let last: ReturnType<typeof next.consume> | undefined;
      return {
        consume: async (batch, context) => {
          const mine = (last ??= next.consume(batch, context).finally(() => (last = undefined)));
          return mine;
        },
      };
    }),
    /at once/,
  ],
  [
    'a change without mutatesBatch',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        for (const { trace } of batch.items) trace.agent = 'somebody';
        return next.consume(batch, context);
      },
    })),
    /changes no item/,
  ],
  [
    'a list of items that is changed',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        const receipt = await next.consume({ ...batch, items: [...batch.items] }, context);
        batch.items.length = 0;
        return receipt;
      },
    })),
    /does not change the list of items/,
  ],
  [
    'a cache without bound',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        held.push(...batch.items);
        return next.consume(batch, context);
      },
    })),
    /leaves no memory behind/,
  ],
  [
    'items that are lost at the stop',
    processor(({ next, clock }) => ({
      consume: async (batch, context) => {
        clock.after(1000, () => void next.consume(batch, context));
        return Promise.resolve({ accepted: batch.items.length, refused: [] });
      },
    })),
    /a stop during consume/,
  ],
  [
    'an error that becomes another',
    processor(({ next }) => ({
      consume: async (batch, context) =>
        next.consume(batch, context).catch((cause: unknown) => {
          throw new Error('something went wrong', { cause });
        }),
    })),
    /an error of the next consumer/,
  ],
  [
    'refusals of what it passed on, and not of what it was given',
    processor(({ next }) => ({
      consume: async (batch, context) => {
        const [, ...rest] = batch.items;
        const receipt = await next.consume({ ...batch, items: rest }, context);
        return { ...receipt, accepted: receipt.accepted + Math.min(1, batch.items.length) };
      },
    })),
    /refusals of what is behind/,
  ],
  ['an exporter without the input that it promises', exporter(() => ({ inputs: {} })), /takes a batch/],
  [
    'a refusal that does not come',
    processor(passing),
    /refuses single items/,
    { refusals: [{ signal: 'traces', batch: () => sampleBatch('traces', 2), refused: [1] }] },
  ],
  [
    'an error with another code',
    processor(() => ({ consume: async () => Promise.reject(new Error('no')) })),
    /does not take a batch: rate_limited/,
    {
      errors: [
        { signal: 'traces', batch: () => sampleBatch('traces', 1), code: 'rate_limited', retryable: true },
      ],
    },
  ],
  [
    'records without all their fields',
    receiver(({ outputs }) => ({
      start: async (host) => {
        host.listener('x').route({
          method: 'POST',
          path: '/x',
          handle: async () => {
            await outputs.traces?.consume(
              { tenant: 'a', items: [{ trace: {}, spans: [] }] as never },
              { receivedAt: 1 },
            );
            return { status: 204 };
          },
        });
        await Promise.resolve();
      },
    })),
    /receives: passes on batches of valid records/,
    { send: ({ host }) => host.request('POST', '/x') },
  ],
  [
    'a receiver that goes on after its stop',
    receiver(({ outputs, clock }) => ({
      start: async () => {
        const again = (): void => {
          void outputs.traces?.consume(sampleBatch('traces', 1), { receivedAt: clock.now() });
          clock.after(60_000, again);
        };
        again();
        await Promise.resolve();
      },
    })),
    /receives: nothing more/,
    { send: async () => Promise.resolve() },
  ],
];

for (const [what, factory, check, subject] of FAULTS)
  void t.test(`finds ${what}`, async (t) => {
    t.not((await failing(factory, check, subject)).length, 0);
  });
