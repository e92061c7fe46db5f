import { randomUUID } from 'node:crypto';
import type { Flood } from './flood.js';
import { postAll } from './posting.js';

const AGENTS = 300_000;
const RUNS_PER_REQUEST = 100;
const CONNECTIONS = 16;

/** Every run names an agent of its own: a program that puts an order's number into the name. */
export const newAgents: Flood = {
  title: `${AGENTS} agent names`,
  async run(target, tally, stop) {
    let agents = 0;
    const started = new Date().toISOString();
    const next = () => {
      if (agents >= AGENTS) return null;
      const traces = Array.from({ length: RUNS_PER_REQUEST }, () => ({
        trace: { trace_id: randomUUID(), agent: `order-${agents++}`, started_at: started, ended_at: started },
        spans: [],
      }));
      return { path: '/api/v1/traces/batch', body: Buffer.from(JSON.stringify({ traces })) };
    };
    await postAll(target, CONNECTIONS, next, { tally, stop });
    tally.add('names sent', agents);
  },
};
