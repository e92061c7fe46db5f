import type { FloodCommand, FloodReport } from './flood-process.js';
import { FLOODS, Tally } from './floods.js';

// Main file of FloodProcess (flood-process.ts).
const stop = new AbortController();

process.on('message', (message) => {
  const command = message as FloodCommand;
  if (command.kind === 'stop') stop.abort();
  else void run(command);
});
process.on('SIGINT', () => undefined);
process.on('disconnect', () => process.exit());

async function run({ name, target }: Extract<FloodCommand, { kind: 'run' }>): Promise<void> {
  const tally = new Tally();
  await FLOODS[name].run(target, tally, stop.signal);
  process.send?.({ kind: 'done', activity: tally.text() } satisfies FloodReport);
}
