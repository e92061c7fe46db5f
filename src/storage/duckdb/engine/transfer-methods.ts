import type { ExportProgress, TransferBase, WrittenTables } from '../../telemetry-transfer.js';
import type { StoreEngine } from './store-engine.js';

/** What the store thread does for an export, and for an import. `client/transfer-client.ts` calls it. */
export function transferMethods(engine: Promise<StoreEngine>) {
  return {
    beginExport: async (): Promise<boolean> => await (await engine).export.begin(),
    exportLacksFacts: async (mark: string | null): Promise<boolean> =>
      await (await engine).export.lacksFacts(mark),
    writeExport: async (
      directory: string,
      skipsDamaged: boolean,
      abort?: AbortSignal,
    ): Promise<WrittenTables> => await (await engine).export.write(directory, { skipsDamaged, abort }),
    exportProgress: async (): Promise<ExportProgress> => (await engine).export.progress,
    endExport: async (): Promise<void> => {
      await (await engine).export.end();
    },
    isEmpty: async (): Promise<boolean> => (await engine).isEmpty(),
    restoreBase: async (base: TransferBase): Promise<void> => {
      await (await engine).restoreBase(base);
    },
    lastCommit: async (): Promise<number> => (await engine).lastCommit,
  };
}
