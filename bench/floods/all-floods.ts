import { droppedReads } from './dropped-reads.js';
import type { Flood } from './flood.js';
import { jsonBombs } from './json-bombs.js';
import { longTrace } from './long-trace.js';
import { newAgents } from './new-agents.js';
import { parkedCalls } from './parked-calls.js';
import { slowSockets } from './slow-sockets.js';

/** By the name that `--floods` takes, in the order in which they come. */
export const FLOODS = {
  agents: newAgents,
  trace: longTrace,
  reads: droppedReads,
  sockets: slowSockets,
  grpc: parkedCalls,
  json: jsonBombs,
} as const satisfies Readonly<Record<string, Flood>>;

export type FloodName = keyof typeof FLOODS;

export const FLOOD_NAMES = Object.keys(FLOODS) as readonly FloodName[];
