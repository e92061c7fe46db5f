import { createInterface } from 'node:readline';
import type { Status } from '../../../src/component/status.js';
import type { User } from '../../../src/storage/contracts/accounts.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { DuckDBStore, type DuckDBStoreOptions } from '../../../src/storage/duckdb/client/store.js';
import { componentSettings } from '../../support/component-settings.js';
import { controlStoreAt } from '../../support/control-store.js';
import { hostThatKeeps, STORE_OPTIONS } from './test-store.js';

/**
 * A store in its own process: opens the store of its first argument, reports the result, and then handles each
 * line of its input: `{ id, method, args }` is answered by `{ id, value }` or `{ id, error }`.
 */

export interface Call {
  readonly id: number;
  readonly method: StoreCall;
  readonly args: readonly unknown[];
}

/** A contract method, a store method or a test command. */
export type StoreCall = StoreMethod | 'createUser' | 'log' | 'statuses';
type StoreMethod = 'writer.traces' | 'runs.list' | 'runs.setOutcome' | 'agents.list' | 'settled';

export interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: {
    readonly name: string;
    readonly message: string;
    readonly code?: string;
    readonly retryable?: boolean;
  };
}

// Node ignores the signal for a file that grows too large; tap, loaded into every process, exits on it
// unless there is another listener.
process.on('SIGXFSZ', () => undefined);

const path = process.argv[2] ?? '';
const settings = componentSettings('duckdb');
let control: SqlControlStore | null = null;
const statuses: Status[] = [];
const store = new DuckDBStore(
  { ...settings, config: {} },
  {
    ...STORE_OPTIONS,
    path,
    maxQueueBytes: 1e9,
    segmentSize: { rows: Number(process.argv[3]), bytes: 1e9 },
    ...(JSON.parse(process.argv[4] ?? '{}') as Partial<DuckDBStoreOptions>),
  },
);

await answer(0, async () => {
  control = await controlStoreAt(process.argv[5] ?? '', settings.clock);
  await store.start(hostThatKeeps(statuses, control));
});
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line) as Call;
  void answer(id, async () => {
    if (method === 'log') return settings.logger.lines;
    if (method === 'statuses') return statuses;
    if (method === 'createUser') return await control?.accounts.createUser(args[0] as User);
    return await callStore(method, args);
  });
}
await store.shutdown(AbortSignal.timeout(20_000));
await (control as SqlControlStore | null)?.close();

async function callStore(name: StoreMethod, args: readonly unknown[]): Promise<unknown> {
  const [method = '', part] = name.split('.').reverse();
  const target: object = part === undefined ? store : (Reflect.get(store, part) as object);
  const call = Reflect.get(target, method) as (...values: readonly unknown[]) => Promise<unknown>;
  return await Reflect.apply(call, target, args);
}

async function answer(id: number, work: () => Promise<unknown>): Promise<void> {
  try {
    print({ id, value: (await work()) ?? null });
  } catch (error) {
    const { name, message } = error as Error;
    print({ id, error: { ...(error as object), name, message } });
  }
}

function print(line: Answer): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
