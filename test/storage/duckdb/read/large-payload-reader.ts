import { DuckDBStore } from '../../../../src/storage/duckdb/client/store.js';
import { componentSettings } from '../../../support/component-settings.js';
import { controlPathOf, controlStoreAt } from '../../../support/control-store.js';
import { piecesOf } from '../../../support/read-pieces.js';
import { hostThatKeeps, STORE_OPTIONS } from '../test-store.js';

/** Opens the store of the first argument, reads the trace of the third for the user of the second, and prints its size and memory use. */

export interface Taken {
  /** Bytes of the spans. */
  readonly bytes: number;
  /** Growth of the peak memory of the process. */
  readonly memoryBytes: number;
}

const [path = '', tenant = '', traceId = ''] = process.argv.slice(2);
const store = new DuckDBStore({ ...componentSettings('duckdb'), config: {} }, { ...STORE_OPTIONS, path });
const control = await controlStoreAt(controlPathOf(path));
await store.start(hostThatKeeps([], control));
await store.runs.read(tenant, '00000000-0000-0000-0000-000000000000');
const before = process.resourceUsage().maxRSS;
let bytes = 0;
const found = await store.runs.read(tenant, traceId);
for await (const piece of piecesOf(found?.spans)) bytes += piece.length;
const taken: Taken = { bytes, memoryBytes: (process.resourceUsage().maxRSS - before) * 1024 };
await store.shutdown(AbortSignal.timeout(20_000));
await control.close();
process.stdout.write(JSON.stringify(taken));
