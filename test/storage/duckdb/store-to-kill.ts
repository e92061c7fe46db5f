import { DuckDBStore } from '../../../src/storage/duckdb/client/store.js';
import { componentSettings } from '../../support/component-settings.js';
import { controlPathOf, controlStoreAt } from '../../support/control-store.js';
import { hostThatKeeps, STORE_OPTIONS } from './test-store.js';

/** A store with small segments, so that its writer is killed at any step of their lives. */
export async function storeToKill(path: string): Promise<DuckDBStore> {
  const store = new DuckDBStore(
    { ...componentSettings('duckdb'), config: {} },
    { ...STORE_OPTIONS, path, maxQueueBytes: 1e9, segmentSize: { rows: 80, bytes: 1e9 } },
  );
  await store.start(hostThatKeeps([], await controlStoreAt(controlPathOf(path))));
  return store;
}
